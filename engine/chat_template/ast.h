// The parsed template. Immutable after parsing; its depth is bounded, so that walking it needs a bounded stack.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "engine/chat_template/value.h"

namespace tg::jinja {

struct Expression;
using ExpressionPtr = std::unique_ptr<Expression>;

enum class ExpressionKind : std::uint8_t {
  constant,     // value
  name,         // text
  attribute,    // operands[0].text
  item,         // operands[0][operands[1]]
  slice,        // operands[0][operands[1]:operands[2]:operands[3]], the last three may be null
  call,         // operands[0](arguments)
  filter,       // operands[0] | text(arguments); operands[0] null: the text of a filter or set block
  test,         // operands[0] is text(arguments)
  negative, positive, logical_not,
  logical_and, logical_or,
  add, subtract, multiply, divide, floor_divide, modulo, power,
  compare,      // operands[0] comparisons[0] operands[1] comparisons[1] ...
  concat,       // all operands as text
  conditional,  // operands[0] if operands[1] else operands[2]; the last may be null
  list, tuple,
  dict,         // operands: key, value, key, value
};

enum class Comparison : std::uint8_t { equal, not_equal, less, less_equal, greater, greater_equal, in, not_in };

struct ArgumentNode {
  enum class Kind : std::uint8_t { positional, named, list, dict } kind = Kind::positional;  // x, name=x, *x, **x
  std::string name;
  ExpressionPtr value;
};

struct Expression {
  ExpressionKind kind{};
  int line = 0;
  int depth = 1;
  std::string text;
  Value value;
  std::vector<ExpressionPtr> operands;
  std::vector<Comparison> comparisons;
  std::vector<ArgumentNode> arguments;
};

// Where a value goes: a name, an attribute of a namespace, or a list of targets to unpack into.
struct Target {
  std::string name;
  std::string attribute;      // not empty: name.attribute
  std::vector<Target> parts;  // not empty: unpack
};

struct Statement;
using Body = std::vector<std::unique_ptr<Statement>>;

enum class StatementKind : std::uint8_t {
  data,         // text
  output,       // expressions[0]
  if_,          // expressions[i] guards branches[i]; a further branch is the else
  for_,         // target in expressions[0] if expressions[1]; branches: body, else; recursive
  set,          // target = expressions[0]
  set_block,    // target = text of branches[0], through expressions[0] where not null
  macro,        // macro
  call_block,   // expressions[0] is the call, macro its caller
  filter_block, // expressions[0] applied to the text of branches[0]
  with,         // targets = expressions; branches[0]
  scope,        // block, generation: branches[0]
  do_,          // expressions[0], for its own sake
  break_, continue_,
};

struct Macro {
  struct Parameter {
    std::string name;
    ExpressionPtr fallback;  // null: undefined when not given
  };
  std::string name;
  std::vector<Parameter> parameters;
  Body body;
  bool uses_caller = false, uses_varargs = false, uses_kwargs = false;
};

struct Statement {
  StatementKind kind{};
  int line = 0;
  Value text;  // of data
  Target target;
  std::vector<Target> targets;
  std::vector<ExpressionPtr> expressions;
  std::vector<Body> branches;
  std::unique_ptr<Macro> macro;
  bool recursive = false;
};

}  // namespace tg::jinja
