// What may stand behind an expression: .name [item] (call) | filter, is test.
#include <algorithm>
#include <array>

#include "engine/chat_template/parser.h"

namespace tg::jinja {

ExpressionPtr Parser::parse_postfix(ExpressionPtr object) {
  while (true) {
    if (at_op(".")) {
      object = parse_attribute(std::move(object));
    } else if (at_op("[")) {
      object = parse_subscript(std::move(object));
    } else if (at_op("(")) {
      ExpressionPtr call = node(ExpressionKind::call, object->line);
      call->operands.push_back(std::move(object));
      parse_arguments(*call);
      object = finish(std::move(call));
    } else {
      return object;
    }
  }
}

ExpressionPtr Parser::parse_filters_and_tests(ExpressionPtr object) {
  while (true) {
    if (at_op("|")) {
      object = parse_filter(std::move(object));
    } else if (at_name("is")) {
      object = parse_test(std::move(object));
    } else if (at_op("(")) {  // the result of a filter is called
      object = parse_postfix(std::move(object));
    } else {
      return object;
    }
  }
}

ExpressionPtr Parser::parse_attribute(ExpressionPtr object) {
  next();
  const Token token = next();
  ExpressionPtr result = node(ExpressionKind::attribute, token.line);
  result->operands.push_back(std::move(object));
  if (token.type == TokenType::name) {
    result->text = token.text;
  } else if (token.type == TokenType::integer) {
    result->kind = ExpressionKind::item;
    ExpressionPtr index = node(ExpressionKind::constant, token.line);
    index->value = Value(token.integer);
    result->operands.push_back(std::move(index));
  } else {
    fail_at(token.line, "expected name or number");
  }
  return finish(std::move(result));
}

ExpressionPtr Parser::parse_subscript(ExpressionPtr object) {
  next();
  ExpressionPtr result = parse_subscript_part(std::move(object));
  if (at_op(",") && result->kind == ExpressionKind::item) {  // x[1, 2]: the key is a tuple
    ExpressionPtr key = node(ExpressionKind::tuple, result->line);
    key->operands.push_back(std::move(result->operands[1]));
    while (skip_op(",")) key->operands.push_back(parse_expression());
    result->operands[1] = finish(std::move(key));
    result = finish(std::move(result));
  }
  expect_op("]");
  return result;
}

ExpressionPtr Parser::parse_subscript_part(ExpressionPtr object) {
  const int line = current().line;
  ExpressionPtr first;
  if (!at_op(":")) first = parse_expression();
  if (!at_op(":")) return binary(ExpressionKind::item, std::move(object), std::move(first));
  ExpressionPtr slice = node(ExpressionKind::slice, line);
  slice->operands.push_back(std::move(object));
  slice->operands.push_back(std::move(first));
  for (int part = 0; part < 2; ++part) {  // stop, step
    ExpressionPtr value;
    if (skip_op(":") && !at_op(":") && !at_op("]") && !at_op(",")) value = parse_expression();
    slice->operands.push_back(std::move(value));
  }
  return finish(std::move(slice));
}

ExpressionPtr Parser::parse_filter(ExpressionPtr object, bool start_inline) {
  if (!start_inline) expect_op("|");
  ExpressionPtr filter = node(ExpressionKind::filter, current().line);
  filter->text = expect_identifier();
  while (skip_op(".")) filter->text += "." + expect_identifier();
  filter->operands.push_back(std::move(object));
  if (at_op("(")) parse_arguments(*filter);
  return finish(std::move(filter));
}

ExpressionPtr Parser::parse_test(ExpressionPtr object) {
  const int line = next().line;
  const bool negated = skip_name("not");
  ExpressionPtr test = node(ExpressionKind::test, line);
  test->text = current().type == TokenType::op ? next().text : expect_identifier();  // `is == 1` is a test as well
  while (skip_op(".")) test->text += "." + expect_identifier();
  test->operands.push_back(std::move(object));
  static constexpr std::array<std::string_view, 6> kNoArgument{"else", "or", "and", "if", "is", "in"};
  const bool word = current().type == TokenType::name &&
                    std::find(kNoArgument.begin(), kNoArgument.end(), current().text) == kNoArgument.end() &&
                    !(at_name("not") && look().type == TokenType::name && look().text == "in");
  const bool literal = current().type == TokenType::string || current().type == TokenType::integer ||
                       current().type == TokenType::real || at_op("[") || at_op("{");
  if (at_op("(")) {
    parse_arguments(*test);
  } else if (at_name("is")) {
    fail_at(line, "You cannot chain multiple tests with is");
  } else if (word || literal) {
    ArgumentNode argument;
    argument.value = parse_postfix(parse_primary());
    test->arguments.push_back(std::move(argument));
  }
  test = finish(std::move(test));
  if (!negated) return test;
  ExpressionPtr result = node(ExpressionKind::logical_not, line);
  result->operands.push_back(std::move(test));
  return finish(std::move(result));
}

void Parser::parse_arguments(Expression& call) {
  expect_op("(");
  while (!at_op(")")) {
    if (!call.arguments.empty()) expect_op(",");
    if (at_op(")")) break;
    ArgumentNode argument;
    if (skip_op("*")) {
      argument.kind = ArgumentNode::Kind::list;
    } else if (skip_op("**")) {
      argument.kind = ArgumentNode::Kind::dict;
    } else if (current().type == TokenType::name && look().type == TokenType::op && look().text == "=") {
      argument.kind = ArgumentNode::Kind::named;
      argument.name = next().text;
      next();
    } else if (!call.arguments.empty() && call.arguments.back().kind != ArgumentNode::Kind::positional) {
      const auto kind = call.arguments.back().kind;
      if (kind != ArgumentNode::Kind::list) fail_at(current().line, "invalid syntax for function call expression");
    }
    argument.value = parse_expression();
    call.arguments.push_back(std::move(argument));
  }
  expect_op(")");
}

}  // namespace tg::jinja
