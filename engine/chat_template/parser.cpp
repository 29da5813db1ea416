#include "engine/chat_template/parser.h"

#include <algorithm>

namespace tg::jinja {

Parser::Nesting::Nesting(Parser& parser) : parser_(parser) {
  if (++parser_.depth_ > kMaxParseDepth) {
    --parser_.depth_;
    fail_at(parser_.current().line, "it is nested too deeply");
  }
}

bool Parser::skip_op(std::string_view op) {
  if (!at_op(op)) return false;
  next();
  return true;
}

bool Parser::skip_name(std::string_view name) {
  if (!at_name(name)) return false;
  next();
  return true;
}

void Parser::expect_op(std::string_view op) {
  if (!skip_op(op)) unexpected("'" + std::string(op) + "'");
}

void Parser::expect_name(std::string_view name) {
  if (!skip_name(name)) unexpected("'" + std::string(name) + "'");
}

std::string Parser::expect_identifier() {
  if (current().type != TokenType::name) unexpected("a name");
  return next().text;
}

void Parser::expect_block_end() {
  if (current().type != TokenType::block_end) unexpected("'end of statement block'");
  next();
}

void Parser::unexpected(std::string_view expected) const {
  const Token& token = current();
  std::string what;
  switch (token.type) {
    case TokenType::end: what = "unexpected end of template"; break;
    case TokenType::variable_end: what = "unexpected 'end of print statement'"; break;
    case TokenType::block_end: what = "unexpected 'end of statement block'"; break;
    default: what = "unexpected '" + token.text.substr(0, 40) + "'"; break;
  }
  fail_at(token.line, expected.empty() ? what : what + ", expected " + std::string(expected));
}

std::unique_ptr<Statement> Parser::make(StatementKind kind) const {
  auto statement = std::make_unique<Statement>();
  statement->kind = kind;
  statement->line = current().line;
  return statement;
}

Body Parser::parse() {
  Body body = parse_body({});
  if (current().type != TokenType::end) unexpected();
  return body;
}

// Up to a block that begins with one of ENDS (which stays to be read), or to the end of the template where there are none.
Body Parser::parse_body(const std::vector<std::string_view>& ends) {
  const Nesting nesting(*this);
  Body body;
  while (true) {
    switch (current().type) {
      case TokenType::end:
        if (ends.empty()) return body;
        fail_at(current().line, "unexpected end of template, expected '" + std::string(ends.back()) + "'");
      case TokenType::data:
        body.push_back(make(StatementKind::data));
        body.back()->text = Value::string(next().text);
        break;
      case TokenType::variable_begin:
        next();
        body.push_back(make(StatementKind::output));
        body.back()->expressions.push_back(parse_tuple());
        if (current().type != TokenType::variable_end) unexpected("'end of print statement'");
        next();
        break;
      default: {
        const Token& word = look();
        if (word.type == TokenType::name && std::find(ends.begin(), ends.end(), word.text) != ends.end()) {
          next();
          return body;
        }
        next();
        body.push_back(parse_statement());
        break;
      }
    }
  }
}

std::unique_ptr<Statement> Parser::parse_statement() {
  if (current().type != TokenType::name) unexpected("tag name");
  const std::string word = current().text;
  if (word == "if") return parse_if();
  if (word == "for") return parse_for();
  if (word == "set") return parse_set();
  if (word == "macro") return parse_macro();
  if (word == "call") return parse_call_block();
  if (word == "filter") return parse_filter_block();
  if (word == "with") return parse_with();
  if (word == "generation") return parse_scope("endgeneration");
  if (word == "block") return parse_scope("endblock");
  if (word == "autoescape") return parse_scope("endautoescape");
  if (word == "break" || word == "continue") {
    if (loops_ == 0) fail_at(current().line, "'" + word + "' outside of a loop");
    auto statement = make(word == "break" ? StatementKind::break_ : StatementKind::continue_);
    next();
    expect_block_end();
    return statement;
  }
  if (word == "do") {
    auto statement = make(StatementKind::do_);
    next();
    statement->expressions.push_back(parse_tuple());
    expect_block_end();
    return statement;
  }
  if (word == "include" || word == "import" || word == "from" || word == "extends") {
    fail_at(current().line, "'" + word + "' is not possible in a chat template, which has no files beside it");
  }
  fail_at(current().line, "Encountered unknown tag '" + word.substr(0, 40) + "'");
}

}  // namespace tg::jinja
