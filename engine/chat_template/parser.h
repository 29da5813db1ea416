// Tokens to a tree: Jinja's grammar of expressions and statements.
// Thread: pure. Throws Failure with the line.
#pragma once
#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/chat_template/ast.h"
#include "engine/chat_template/lexer.h"

namespace tg::jinja {

inline constexpr int kMaxParseDepth = 300;   // brackets in brackets, blocks in blocks
inline constexpr int kMaxTreeDepth = 400;    // a + b + c ... nests to the left

class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}
  Body parse();
  std::set<std::string, std::less<>> take_names() { return std::move(names_); }

 private:
  // ---- tokens (parser.cpp)
  const Token& current() const { return tokens_[at_]; }
  const Token& look(std::size_t ahead = 1) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  Token next() { return at_ + 1 < tokens_.size() ? tokens_[at_++] : tokens_[at_]; }
  bool at_op(std::string_view op) const { return current().type == TokenType::op && current().text == op; }
  bool at_name(std::string_view name) const { return current().type == TokenType::name && current().text == name; }
  bool skip_op(std::string_view op);
  bool skip_name(std::string_view name);
  void expect_op(std::string_view op);
  void expect_name(std::string_view name);
  std::string expect_identifier();
  void expect_block_end();
  [[noreturn]] void unexpected(std::string_view expected = {}) const;

  // ---- statements (parser.cpp, parser_statements.cpp)
  Body parse_body(const std::vector<std::string_view>& ends);
  std::unique_ptr<Statement> parse_statement();
  std::unique_ptr<Statement> parse_if();
  std::unique_ptr<Statement> parse_for();
  std::unique_ptr<Statement> parse_set();
  std::unique_ptr<Statement> parse_macro();
  std::unique_ptr<Statement> parse_call_block();
  std::unique_ptr<Statement> parse_filter_block();
  std::unique_ptr<Statement> parse_with();
  std::unique_ptr<Statement> parse_scope(std::string_view end);
  void parse_parameters(Macro& macro);
  Target parse_target(bool allow_attribute);
  Target parse_targets(bool allow_attribute);
  std::unique_ptr<Statement> make(StatementKind kind) const;

  // ---- expressions (parser_expressions.cpp)
  ExpressionPtr parse_expression(bool with_condition = true);
  ExpressionPtr parse_tuple(bool with_condition = true, bool explicit_brackets = false);
  ExpressionPtr parse_conditional();
  ExpressionPtr parse_or();
  ExpressionPtr parse_and();
  ExpressionPtr parse_not();
  ExpressionPtr parse_compare();
  ExpressionPtr parse_sum();
  ExpressionPtr parse_concat();
  ExpressionPtr parse_product();
  ExpressionPtr parse_power();
  ExpressionPtr parse_unary(bool with_filter = true);
  ExpressionPtr parse_primary();
  ExpressionPtr parse_name();
  ExpressionPtr parse_list();
  ExpressionPtr parse_dict();
  ExpressionPtr parse_postfix(ExpressionPtr node);
  ExpressionPtr parse_filters_and_tests(ExpressionPtr node);
  ExpressionPtr parse_attribute(ExpressionPtr node);
  ExpressionPtr parse_subscript(ExpressionPtr node);
  ExpressionPtr parse_subscript_part(ExpressionPtr object);
  ExpressionPtr parse_filter(ExpressionPtr node, bool start_inline = false);
  ExpressionPtr parse_test(ExpressionPtr node);
  void parse_arguments(Expression& call);
  bool parse_comparison(Comparison& out);
  ExpressionPtr node(ExpressionKind kind, int line) const;
  ExpressionPtr finish(ExpressionPtr node) const;  // sets the depth, refuses too deep a tree
  ExpressionPtr binary(ExpressionKind kind, ExpressionPtr left, ExpressionPtr right) const;

  class Nesting {
   public:
    explicit Nesting(Parser& parser);
    ~Nesting() { --parser_.depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    Parser& parser_;
  };

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
  int loops_ = 0;
  std::set<std::string, std::less<>> names_;
};

}  // namespace tg::jinja
