#include "engine/chat_template/parser.h"

#include <utility>

namespace tg::jinja {

std::unique_ptr<Statement> Parser::parse_if() {
  auto statement = make(StatementKind::if_);
  while (true) {  // at "if" or "elif"
    next();
    statement->expressions.push_back(parse_tuple(false));
    expect_block_end();
    statement->branches.push_back(parse_body({"elif", "else", "endif"}));
    if (at_name("elif")) continue;
    if (skip_name("else")) {
      expect_block_end();
      statement->branches.push_back(parse_body({"endif"}));
    }
    expect_name("endif");
    expect_block_end();
    return statement;
  }
}

std::unique_ptr<Statement> Parser::parse_for() {
  auto statement = make(StatementKind::for_);
  next();
  statement->target = parse_targets(false);
  expect_name("in");
  statement->expressions.push_back(parse_tuple(false));
  if (skip_name("if")) statement->expressions.push_back(parse_expression());
  statement->recursive = skip_name("recursive");
  expect_block_end();
  ++loops_;
  statement->branches.push_back(parse_body({"else", "endfor"}));
  --loops_;
  if (skip_name("else")) {
    expect_block_end();
    statement->branches.push_back(parse_body({"endfor"}));
  }
  expect_name("endfor");
  expect_block_end();
  return statement;
}

Target Parser::parse_target(bool allow_attribute) {
  if (skip_op("(")) {
    Target inner = parse_targets(allow_attribute);
    expect_op(")");
    return inner;
  }
  Target target;
  target.name = expect_identifier();
  if (allow_attribute && skip_op(".")) target.attribute = expect_identifier();
  return target;
}

Target Parser::parse_targets(bool allow_attribute) {
  const Nesting nesting(*this);
  Target first = parse_target(allow_attribute);
  if (!at_op(",")) return first;
  Target all;
  all.parts.push_back(std::move(first));
  while (skip_op(",")) {
    if (current().type != TokenType::name && !at_op("(")) break;  // a comma at the end
    if (at_name("in")) break;
    all.parts.push_back(parse_target(allow_attribute));
  }
  return all;
}

std::unique_ptr<Statement> Parser::parse_set() {
  auto statement = make(StatementKind::set);
  next();
  statement->target = parse_targets(true);
  if (skip_op("=")) {
    statement->expressions.push_back(parse_tuple());
    expect_block_end();
    return statement;
  }
  statement->kind = StatementKind::set_block;
  ExpressionPtr filters;
  while (at_op("|")) filters = parse_filter(std::move(filters));
  statement->expressions.push_back(std::move(filters));
  expect_block_end();
  statement->branches.push_back(parse_body({"endset"}));
  expect_name("endset");
  expect_block_end();
  return statement;
}

void Parser::parse_parameters(Macro& macro) {
  expect_op("(");
  while (!at_op(")")) {
    if (!macro.parameters.empty()) expect_op(",");
    if (at_op(")")) break;
    Macro::Parameter parameter;
    parameter.name = expect_identifier();
    if (skip_op("=")) {
      parameter.fallback = parse_expression();
    } else if (!macro.parameters.empty() && macro.parameters.back().fallback != nullptr) {
      fail_at(current().line, "non-default argument follows default argument");
    }
    macro.parameters.push_back(std::move(parameter));
  }
  expect_op(")");
}

std::unique_ptr<Statement> Parser::parse_macro() {
  auto statement = make(StatementKind::macro);
  next();
  statement->macro = std::make_unique<Macro>();
  Macro& macro = *statement->macro;
  macro.name = expect_identifier();
  parse_parameters(macro);
  expect_block_end();
  const std::size_t begin = at_;
  const int loops_outside = std::exchange(loops_, 0);
  macro.body = parse_body({"endmacro"});
  loops_ = loops_outside;
  for (std::size_t i = begin; i < at_; ++i) {
    if (tokens_[i].type != TokenType::name) continue;
    macro.uses_caller |= tokens_[i].text == "caller";
    macro.uses_varargs |= tokens_[i].text == "varargs";
    macro.uses_kwargs |= tokens_[i].text == "kwargs";
  }
  expect_name("endmacro");
  if (current().type == TokenType::name) next();
  expect_block_end();
  return statement;
}

std::unique_ptr<Statement> Parser::parse_call_block() {
  auto statement = make(StatementKind::call_block);
  next();
  statement->macro = std::make_unique<Macro>();
  statement->macro->name = "caller";
  if (at_op("(")) parse_parameters(*statement->macro);
  ExpressionPtr call = parse_expression();
  if (call->kind != ExpressionKind::call) fail_at(statement->line, "expected call");
  statement->expressions.push_back(std::move(call));
  expect_block_end();
  const int loops_outside = std::exchange(loops_, 0);
  statement->macro->body = parse_body({"endcall"});
  loops_ = loops_outside;
  expect_name("endcall");
  expect_block_end();
  return statement;
}

std::unique_ptr<Statement> Parser::parse_filter_block() {
  auto statement = make(StatementKind::filter_block);
  next();
  ExpressionPtr filters = parse_filter(nullptr, true);
  while (at_op("|")) filters = parse_filter(std::move(filters));
  statement->expressions.push_back(std::move(filters));
  expect_block_end();
  statement->branches.push_back(parse_body({"endfilter"}));
  expect_name("endfilter");
  expect_block_end();
  return statement;
}

std::unique_ptr<Statement> Parser::parse_with() {
  auto statement = make(StatementKind::with);
  next();
  while (current().type != TokenType::block_end) {
    if (!statement->targets.empty()) expect_op(",");
    statement->targets.push_back(parse_target(false));
    expect_op("=");
    statement->expressions.push_back(parse_expression());
  }
  next();
  statement->branches.push_back(parse_body({"endwith"}));
  expect_name("endwith");
  expect_block_end();
  return statement;
}

// Blocks that only group: their arguments (a name, a flag) change nothing here.
std::unique_ptr<Statement> Parser::parse_scope(std::string_view end) {
  auto statement = make(StatementKind::scope);
  next();
  while (current().type == TokenType::name) next();
  expect_block_end();
  statement->branches.push_back(parse_body({end}));
  expect_name(end);
  if (current().type == TokenType::name) next();
  expect_block_end();
  return statement;
}

}  // namespace tg::jinja
