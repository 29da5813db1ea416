#include <algorithm>
#include <array>

#include "engine/chat_template/parser.h"

namespace tg::jinja {

ExpressionPtr Parser::node(ExpressionKind kind, int line) const {
  auto expression = std::make_unique<Expression>();
  expression->kind = kind;
  expression->line = line;
  return expression;
}

ExpressionPtr Parser::finish(ExpressionPtr expression) const {
  for (const ExpressionPtr& operand : expression->operands) {
    if (operand != nullptr) expression->depth = std::max(expression->depth, operand->depth + 1);
  }
  for (const ArgumentNode& argument : expression->arguments) {
    expression->depth = std::max(expression->depth, argument.value->depth + 1);
  }
  if (expression->depth > kMaxTreeDepth) fail_at(expression->line, "an expression is nested too deeply");
  return expression;
}

ExpressionPtr Parser::binary(ExpressionKind kind, ExpressionPtr left, ExpressionPtr right) const {
  ExpressionPtr result = node(kind, left->line);
  result->operands.push_back(std::move(left));
  result->operands.push_back(std::move(right));
  return finish(std::move(result));
}

ExpressionPtr Parser::parse_expression(bool with_condition) {
  const Nesting nesting(*this);
  return with_condition ? parse_conditional() : parse_or();
}

// One expression, or several with commas between: a tuple.
ExpressionPtr Parser::parse_tuple(bool with_condition, bool explicit_brackets) {
  const int line = current().line;
  std::vector<ExpressionPtr> items;
  bool comma = false;
  const auto at_end = [this] {
    return current().type == TokenType::variable_end || current().type == TokenType::block_end || at_op(")") ||
           at_name("in");
  };
  while (!at_end()) {
    items.push_back(parse_expression(with_condition));
    if (!skip_op(",")) break;
    comma = true;
  }
  if (!comma && items.size() == 1) return std::move(items.front());
  if (items.empty() && !explicit_brackets) unexpected("an expression");
  ExpressionPtr tuple = node(ExpressionKind::tuple, line);
  tuple->operands = std::move(items);
  return finish(std::move(tuple));
}

ExpressionPtr Parser::parse_conditional() {
  ExpressionPtr result = parse_or();
  while (at_name("if")) {
    ExpressionPtr choice = node(ExpressionKind::conditional, next().line);
    choice->operands.push_back(std::move(result));
    choice->operands.push_back(parse_or());
    if (skip_name("else")) {
      const Nesting nesting(*this);
      choice->operands.push_back(parse_conditional());
    } else {
      choice->operands.push_back(nullptr);
    }
    result = finish(std::move(choice));
  }
  return result;
}

ExpressionPtr Parser::parse_or() {
  ExpressionPtr left = parse_and();
  while (skip_name("or")) left = binary(ExpressionKind::logical_or, std::move(left), parse_and());
  return left;
}

ExpressionPtr Parser::parse_and() {
  ExpressionPtr left = parse_not();
  while (skip_name("and")) left = binary(ExpressionKind::logical_and, std::move(left), parse_not());
  return left;
}

ExpressionPtr Parser::parse_not() {
  if (!at_name("not")) return parse_compare();
  const Nesting nesting(*this);
  ExpressionPtr result = node(ExpressionKind::logical_not, next().line);
  result->operands.push_back(parse_not());
  return finish(std::move(result));
}

bool Parser::parse_comparison(Comparison& out) {
  static constexpr std::array<std::pair<std::string_view, Comparison>, 6> kSigns{{
      {"==", Comparison::equal}, {"!=", Comparison::not_equal}, {"<", Comparison::less},
      {"<=", Comparison::less_equal}, {">", Comparison::greater}, {">=", Comparison::greater_equal}}};
  if (current().type == TokenType::op) {
    for (const auto& [sign, comparison] : kSigns) {
      if (!skip_op(sign)) continue;
      out = comparison;
      return true;
    }
    return false;
  }
  if (skip_name("in")) {
    out = Comparison::in;
    return true;
  }
  if (at_name("not") && look().type == TokenType::name && look().text == "in") {
    next();
    next();
    out = Comparison::not_in;
    return true;
  }
  return false;
}

ExpressionPtr Parser::parse_compare() {
  ExpressionPtr left = parse_sum();
  Comparison comparison{};
  if (!parse_comparison(comparison)) return left;
  ExpressionPtr result = node(ExpressionKind::compare, left->line);
  result->operands.push_back(std::move(left));
  do {
    result->comparisons.push_back(comparison);
    result->operands.push_back(parse_sum());
  } while (parse_comparison(comparison));
  return finish(std::move(result));
}

ExpressionPtr Parser::parse_sum() {
  ExpressionPtr left = parse_concat();
  while (true) {
    if (skip_op("+")) {
      left = binary(ExpressionKind::add, std::move(left), parse_concat());
    } else if (skip_op("-")) {
      left = binary(ExpressionKind::subtract, std::move(left), parse_concat());
    } else {
      return left;
    }
  }
}

ExpressionPtr Parser::parse_concat() {
  ExpressionPtr first = parse_product();
  if (!at_op("~")) return first;
  ExpressionPtr result = node(ExpressionKind::concat, first->line);
  result->operands.push_back(std::move(first));
  while (skip_op("~")) result->operands.push_back(parse_product());
  return finish(std::move(result));
}

ExpressionPtr Parser::parse_product() {
  ExpressionPtr left = parse_power();
  while (true) {
    ExpressionKind kind{};
    if (skip_op("*")) {
      kind = ExpressionKind::multiply;
    } else if (skip_op("/")) {
      kind = ExpressionKind::divide;
    } else if (skip_op("//")) {
      kind = ExpressionKind::floor_divide;
    } else if (skip_op("%")) {
      kind = ExpressionKind::modulo;
    } else {
      return left;
    }
    left = binary(kind, std::move(left), parse_power());
  }
}

ExpressionPtr Parser::parse_power() {
  ExpressionPtr left = parse_unary();
  while (skip_op("**")) left = binary(ExpressionKind::power, std::move(left), parse_unary());
  return left;
}

ExpressionPtr Parser::parse_unary(bool with_filter) {
  const Nesting nesting(*this);
  ExpressionPtr result;
  if (at_op("-") || at_op("+")) {
    result = node(at_op("-") ? ExpressionKind::negative : ExpressionKind::positive, current().line);
    next();
    result->operands.push_back(parse_unary(false));
    result = finish(std::move(result));
  } else {
    result = parse_primary();
  }
  result = parse_postfix(std::move(result));
  return with_filter ? parse_filters_and_tests(std::move(result)) : std::move(result);
}

ExpressionPtr Parser::parse_name() {
  ExpressionPtr result = node(ExpressionKind::constant, current().line);
  const std::string name = next().text;
  if (name == "true" || name == "True" || name == "false" || name == "False") {
    result->value = Value(name == "true" || name == "True");
  } else if (name == "none" || name == "None") {
    result->value = None{};
  } else {
    result->kind = ExpressionKind::name;
    result->text = name;
    names_.insert(name);
  }
  return result;
}

ExpressionPtr Parser::parse_primary() {
  const int line = current().line;
  switch (current().type) {
    case TokenType::name: return parse_name();
    case TokenType::string: {
      std::string text = next().text;
      while (current().type == TokenType::string) text += next().text;
      ExpressionPtr result = node(ExpressionKind::constant, line);
      result->value = Value::string(std::move(text));
      return result;
    }
    case TokenType::integer:
    case TokenType::real: {
      ExpressionPtr result = node(ExpressionKind::constant, line);
      const Token token = next();
      result->value = token.type == TokenType::integer ? Value(token.integer) : Value(token.real);
      return result;
    }
    default: break;
  }
  if (skip_op("(")) {
    ExpressionPtr result = parse_tuple(true, true);
    expect_op(")");
    return result;
  }
  if (at_op("[")) return parse_list();
  if (at_op("{")) return parse_dict();
  unexpected();
}

ExpressionPtr Parser::parse_list() {
  ExpressionPtr list = node(ExpressionKind::list, next().line);
  while (!at_op("]")) {
    if (!list->operands.empty()) expect_op(",");
    if (at_op("]")) break;
    list->operands.push_back(parse_expression());
  }
  expect_op("]");
  return finish(std::move(list));
}

ExpressionPtr Parser::parse_dict() {
  ExpressionPtr dict = node(ExpressionKind::dict, next().line);
  while (!at_op("}")) {
    if (!dict->operands.empty()) expect_op(",");
    if (at_op("}")) break;
    dict->operands.push_back(parse_expression());
    expect_op(":");
    dict->operands.push_back(parse_expression());
  }
  expect_op("}");
  return finish(std::move(dict));
}

}  // namespace tg::jinja
