// Walks the tree of a template: expressions to values, statements to text.
// Thread: one render, one thread. Throws Failure.
#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "engine/chat_template/ast.h"
#include "engine/chat_template/runtime.h"

namespace tg::jinja {

class Evaluator final : public Runtime {
 public:
  explicit Evaluator(std::vector<std::pair<std::string, Value>> variables);
  Text render(const Body& body);

  Value call(const Value& callee, const Arguments& arguments) override;
  Value call_filter(std::string_view name, const Value& self, const Arguments& arguments) override;
  bool call_test(std::string_view name, const Value& self, const Arguments& arguments) override;

 private:
  enum class Flow : std::uint8_t { on, break_, continue_ };
  class ScopeGuard;
  class Capture;

  // ---- expressions (evaluator.cpp)
  Value evaluate(const Expression& e);
  Value evaluate_name(const Expression& e);
  Value evaluate_logic(const Expression& e);
  Value evaluate_compare(const Expression& e);
  bool compare_once(Comparison comparison, const Value& a, const Value& b);
  Value evaluate_concat(const Expression& e);
  Value evaluate_conditional(const Expression& e);
  Value evaluate_slice(const Expression& e);
  Value evaluate_call(const Expression& e, const Value* caller);
  Value evaluate_filter(const Expression& e);
  Value evaluate_sequence(const Expression& e);
  Value evaluate_dict(const Expression& e);
  Arguments evaluate_arguments(const Expression& e);
  Value operand(const Expression& e, std::size_t index) { return evaluate(*e.operands[index]); }

  // ---- statements (statements.cpp)
  Flow execute(const Body& body);
  Flow execute(const Statement& s);
  Flow execute_if(const Statement& s);
  Flow execute_for(const Statement& s);
  Flow execute_in_scope(const Body& body);
  Flow iterate(const Statement& s, std::vector<Value> items, Scope* around, int depth);
  std::vector<Value> filtered(const Statement& s, std::vector<Value> items);
  void execute_set(const Statement& s);
  void execute_call_block(const Statement& s);
  void execute_filter_block(const Statement& s);
  Flow execute_with(const Statement& s);
  Value capture(const Body& body);
  void assign(const Target& target, const Value& value);
  void assign_attribute(const Target& target, const Value& value);
  void write(const Text& text);
  Value make_macro(const Macro& macro);
  Value call_macro(const Callable& callable, const Arguments& arguments);
  void bind_parameters(const Macro& macro, const Arguments& arguments);
  Value call_loop(const Value& loop, const Arguments& arguments);

  std::vector<std::unique_ptr<Scope>> kept_;  // scopes macros were defined in
  std::unique_ptr<Scope> root_;
  Scope* scope_ = nullptr;
  Text* out_ = nullptr;
  const Value* filter_input_ = nullptr;  // of a filter or set block
  int message_ = -1;                     // the message whose turn it is in a loop over messages
};

// Index of the message VALUE is, or is a part of; -1: none.
int message_of(const Value& value);

}  // namespace tg::jinja
