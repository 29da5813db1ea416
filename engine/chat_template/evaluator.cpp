#include "engine/chat_template/evaluator.h"

namespace tg::jinja {

Evaluator::Evaluator(std::vector<std::pair<std::string, Value>> variables) : root_(std::make_unique<Scope>()) {
  root_->names = std::move(variables);
  scope_ = root_.get();
}

Value Evaluator::evaluate(const Expression& e) {
  const DepthGuard guard(*this);
  charge();
  using enum ExpressionKind;
  switch (e.kind) {
    case constant: return e.value;
    case name: return evaluate_name(e);
    case attribute: return attribute_of(*this, operand(e, 0), e.text);
    case item: return item_of(*this, operand(e, 0), operand(e, 1));
    case slice: return evaluate_slice(e);
    case call: return evaluate_call(e, nullptr);
    case filter: return evaluate_filter(e);
    case test: return Value(call_test(e.text, operand(e, 0), evaluate_arguments(e)));
    case negative:
    case positive: return negate(operand(e, 0), e.kind == negative);
    case logical_not:
    case logical_and:
    case logical_or: return evaluate_logic(e);
    case add:
    case subtract:
    case multiply:
    case divide:
    case floor_divide:
    case modulo:
    case power: {
      const auto op = static_cast<BinaryOperator>(static_cast<int>(e.kind) - static_cast<int>(add));
      const Value left = operand(e, 0);
      return binary(*this, op, left, operand(e, 1));
    }
    case compare: return evaluate_compare(e);
    case concat: return evaluate_concat(e);
    case conditional: return evaluate_conditional(e);
    case list:
    case tuple: return evaluate_sequence(e);
    case dict: return evaluate_dict(e);
  }
  return Value();
}

Value Evaluator::evaluate_name(const Expression& e) {
  if (const Value* found = scope_->find(e.text)) return *found;
  const auto global = globals().find(e.text);
  if (global == globals().end()) return Value::undefined("'" + e.text + "' is undefined");
  auto callable = std::make_shared<Callable>();
  callable->name = e.text;
  callable->function = global->second;
  return Value(CallablePtr(std::move(callable)));
}

Value Evaluator::evaluate_logic(const Expression& e) {
  Value left = operand(e, 0);
  if (e.kind == ExpressionKind::logical_not) return Value(!truthy(left));
  if (truthy(left) == (e.kind == ExpressionKind::logical_or)) return left;
  return operand(e, 1);
}

bool Evaluator::compare_once(Comparison comparison, const Value& a, const Value& b) {
  switch (comparison) {
    case Comparison::equal: return equal(*this, a, b);
    case Comparison::not_equal: return !equal(*this, a, b);
    case Comparison::less: return tg::jinja::compare(*this, a, b, "<") < 0;
    case Comparison::less_equal: return tg::jinja::compare(*this, a, b, "<=") <= 0;
    case Comparison::greater: return tg::jinja::compare(*this, a, b, ">") > 0;
    case Comparison::greater_equal: return tg::jinja::compare(*this, a, b, ">=") >= 0;
    case Comparison::in: return contains(*this, b, a);
    case Comparison::not_in: return !contains(*this, b, a);
  }
  return false;
}

Value Evaluator::evaluate_compare(const Expression& e) {
  Value left = operand(e, 0);
  for (std::size_t i = 0; i < e.comparisons.size(); ++i) {
    Value right = operand(e, i + 1);
    if (!compare_once(e.comparisons[i], left, right)) return Value(false);
    left = std::move(right);
  }
  return Value(true);
}

Value Evaluator::evaluate_concat(const Expression& e) {
  Text text;
  for (const ExpressionPtr& part : e.operands) text.append(to_text(*this, evaluate(*part)));
  return string(std::move(text));
}

Value Evaluator::evaluate_conditional(const Expression& e) {
  if (truthy(operand(e, 1))) return operand(e, 0);
  if (e.operands[2] != nullptr) return operand(e, 2);
  return Value::undefined("the inline if-expression on line " + std::to_string(e.line) +
                          " evaluated to false and no else section was defined.");
}

Value Evaluator::evaluate_slice(const Expression& e) {
  const auto part = [this, &e](std::size_t i) { return e.operands[i] != nullptr ? operand(e, i) : Value(None{}); };
  const Value object = operand(e, 0);
  const Value start = part(1);
  const Value stop = part(2);
  return slice_of(*this, object, start, stop, part(3));
}

// A method is called without making a value of it first.
Value Evaluator::evaluate_call(const Expression& e, const Value* caller) {
  const Expression& callee = *e.operands[0];
  Value object;
  Function method = nullptr;
  if (callee.kind == ExpressionKind::attribute) {
    object = operand(callee, 0);
    method = find_method(object, callee.text);
  }
  if (method != nullptr) return method(*this, object, evaluate_arguments(e));
  const Value function =
      callee.kind == ExpressionKind::attribute ? attribute_of(*this, object, callee.text) : evaluate(callee);
  Arguments arguments = evaluate_arguments(e);
  if (caller != nullptr) arguments.named.emplace_back("caller", *caller);
  return call(function, arguments);
}

Value Evaluator::evaluate_filter(const Expression& e) {
  const Value self = e.operands[0] != nullptr ? operand(e, 0) : (filter_input_ != nullptr ? *filter_input_ : Value());
  return call_filter(e.text, self, evaluate_arguments(e));
}

Value Evaluator::evaluate_sequence(const Expression& e) {
  std::vector<Value> items;
  for (const ExpressionPtr& item : e.operands) items.push_back(evaluate(*item));
  return Runtime::list(std::move(items), e.kind == ExpressionKind::list ? ListKind::list : ListKind::tuple);
}

Value Evaluator::evaluate_dict(const Expression& e) {
  Dict dict;
  for (std::size_t i = 0; i + 1 < e.operands.size(); i += 2) {
    Value key = operand(e, i);
    dict.set(std::move(key), operand(e, i + 1));
  }
  return Runtime::dict(std::move(dict));
}

Arguments Evaluator::evaluate_arguments(const Expression& e) {
  Arguments arguments;
  for (const ArgumentNode& node : e.arguments) {
    Value value = evaluate(*node.value);
    switch (node.kind) {
      case ArgumentNode::Kind::positional: arguments.positional.push_back(std::move(value)); break;
      case ArgumentNode::Kind::named: arguments.named.emplace_back(node.name, std::move(value)); break;
      case ArgumentNode::Kind::list:
        for (Value& item : items_of(value)) arguments.positional.push_back(std::move(item));
        break;
      case ArgumentNode::Kind::dict:
        if (!value.is(Kind::dict)) fail("argument after ** must be a mapping, not " + std::string(type_name(value)));
        charge(value.dict().entries.size());
        for (const auto& [key, item] : value.dict().entries) {
          arguments.named.emplace_back(to_string(key, "keywords").bytes(), item);
        }
        break;
    }
  }
  return arguments;
}

Value Evaluator::call(const Value& callee, const Arguments& arguments) {
  const DepthGuard guard(*this);
  charge();
  if (callee.is(Kind::undefined)) fail_undefined(callee);
  if (callee.is(Kind::loop)) return call_loop(callee, arguments);
  if (!callee.is(Kind::callable)) fail("'" + std::string(type_name(callee)) + "' object is not callable");
  const Callable& callable = callee.callable();
  if (callable.macro != nullptr) return call_macro(callable, arguments);
  return callable.function(*this, callable.state ? callee : callable.self, arguments);
}

Value Evaluator::call_filter(std::string_view name, const Value& self, const Arguments& arguments) {
  const Function filter = find_filter(name);
  if (filter == nullptr) fail("No filter named '" + std::string(name) + "' found.");
  return filter(*this, self, arguments);
}

bool Evaluator::call_test(std::string_view name, const Value& self, const Arguments& arguments) {
  const Function test = find_test(name);
  if (test == nullptr) fail("No test named '" + std::string(name) + "' found.");
  return truthy(test(*this, self, arguments));
}

}  // namespace tg::jinja
