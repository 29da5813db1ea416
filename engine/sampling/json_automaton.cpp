#include "engine/sampling/json_automaton.h"

#include <algorithm>
#include <bit>

#include "engine/sampling/json_steps.h"

namespace tg {
namespace {

constexpr int kMaxNesting = 100;
constexpr std::size_t kMaxSpaces = 32;     // in a row: a model must not be able to idle
constexpr std::size_t kMaxStacks = 64;
constexpr std::size_t kMaxNameBytes = 4096;  // compared with declared names
constexpr int kAnyNode = 1;

// What an object or array expects.
enum ContainerStep { kFirst, kColon, kAfterValue, kNext };

bool is_space(unsigned char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

using Frame = JsonAutomaton::Frame;
using Stack = JsonAutomaton::Stack;

Stack with(Frame frame) { return std::make_shared<const Frame>(std::move(frame)); }

// White space while a container or a value waits; its text counts how much.
bool skip_space(const Frame& f, unsigned char byte, JsonAutomaton::State& out) {
  if (!is_space(byte)) return false;
  if (f.text.size() < kMaxSpaces) {
    Frame next = f;
    next.text.push_back(' ');
    out.push_back(with(std::move(next)));
  }
  return true;
}

}  // namespace

JsonAutomaton::State JsonAutomaton::start() const { return {with(Frame{})}; }

bool JsonAutomaton::plain_text(const Stack& stack) const {
  return stack != nullptr && stack->part == Part::string && stack->step == kPlain && node(stack->node).max_items < 0;
}

JsonAutomaton::State JsonAutomaton::step(const State& state, unsigned char byte) const {
  State out;
  for (const Stack& stack : state) {
    if (out.size() < kMaxStacks) step_stack(stack, byte, out);
  }
  if (out.size() > kMaxStacks) out.resize(kMaxStacks);
  return out;
}

bool JsonAutomaton::can_end(const Frame& f) const {
  if (f.part == Part::number) {
    if (limited(f.node) && (f.step == kMinus || !may_become(f.value, f.negative, true, node(f.node)))) return false;
    return f.step == kZero || f.step == kDigits || f.step == kFraction || f.step == kExponentDigits;
  }
  if (f.part != Part::literal) return false;
  const auto& literals = node(f.node).literals;
  return std::find(literals.begin(), literals.end(), f.text) != literals.end();
}

bool JsonAutomaton::complete(const State& state) const {
  return std::any_of(state.begin(), state.end(), [this](const Stack& stack) {
    return stack == nullptr || (stack->up == nullptr && can_end(*stack));
  });
}

void JsonAutomaton::step_stack(const Stack& stack, unsigned char byte, State& out) const {
  if (stack == nullptr) return;  // complete: no byte follows
  switch (stack->part) {
    case Part::value: return step_value(*stack, byte, out);
    case Part::string: return step_string(*stack, byte, out);
    case Part::number: step_number(*stack, byte, out); break;
    case Part::literal: step_literal(*stack, byte, out); break;
    case Part::object: return step_object(*stack, byte, out);
    case Part::key: return step_key(*stack, byte, out);
    case Part::array: return step_array(*stack, byte, out);
  }
  if (can_end(*stack)) step_stack(stack->up, byte, out);  // the byte belongs to what is around it
}

void JsonAutomaton::step_value(const Frame& f, unsigned char byte, State& out) const {
  if (skip_space(f, byte, out)) return;
  start_value(f.node, f.up, byte, out);
}

void JsonAutomaton::open(Part part, int index, const Stack& up, State& out) const {
  const int depth = up == nullptr ? 1 : up->depth + 1;
  if (depth > kMaxNesting) return;
  Frame frame;
  frame.part = part;
  frame.node = index;
  frame.up = up;
  frame.depth = depth;
  out.push_back(with(std::move(frame)));
}

void JsonAutomaton::start_value(int index, const Stack& up, unsigned char byte, State& out) const {
  switch (node(index).kind) {
    case SchemaNode::Kind::any: return start_any(up, byte, out);
    case SchemaNode::Kind::object: return byte == '{' ? open(Part::object, index, up, out) : void();
    case SchemaNode::Kind::array: return byte == '[' ? open(Part::array, index, up, out) : void();
    case SchemaNode::Kind::string: return byte == '"' ? open(Part::string, index, up, out) : void();
    case SchemaNode::Kind::number:
    case SchemaNode::Kind::integer: return start_number(index, up, byte, out);
    case SchemaNode::Kind::literal: return start_literals(index, up, byte, out);
    case SchemaNode::Kind::choice:
      for (const int choice : node(index).choices) start_value(choice, up, byte, out);
      return;
  }
}

void JsonAutomaton::start_any(const Stack& up, unsigned char byte, State& out) const {
  if (byte == '{') return open(Part::object, kAnyNode, up, out);
  if (byte == '[') return open(Part::array, kAnyNode, up, out);
  if (byte == '"') return open(Part::string, kAnyNode, up, out);
  start_number(kAnyNode, up, byte, out);
  start_literals(kAnyNode, up, byte, out);
}

void JsonAutomaton::start_number(int index, const Stack& up, unsigned char byte, State& out) const {
  Frame frame;
  frame.part = Part::number;
  frame.node = index;
  frame.up = up;
  frame.count = 1;
  frame.step = byte == '-' ? kMinus : (byte == '0' ? kZero : kDigits);
  frame.negative = byte == '-';
  frame.value = is_digit(byte) ? byte - '0' : 0;
  if (frame.negative ? limited(index) && node(index).minimum.value_or(-1) >= 0 : !is_digit(byte) || out_of_reach(frame)) return;
  out.push_back(with(std::move(frame)));
}

void JsonAutomaton::start_literals(int index, const Stack& up, unsigned char byte, State& out) const {
  Frame frame;
  frame.part = Part::literal;
  frame.node = index;
  frame.up = up;
  step_literal(frame, byte, out);
}

void JsonAutomaton::step_string(const Frame& f, unsigned char byte, State& out) const {
  // The free name of an object that declares others: it may not be one of those.
  const bool named = f.up != nullptr && f.up->part == Part::object && !node(f.up->node).properties.empty();
  if (f.step == kPlain && byte == '"') {
    const auto& declared = node(named ? f.up->node : kAnyNode).properties;
    if (f.count < node(f.node).min_items) return;
    if (std::none_of(declared.begin(), declared.end(), [&f](const auto& p) { return p.key == f.text; })) out.push_back(f.up);
    return;
  }
  const int longest = node(f.node).max_items;
  if (f.step == kPlain && longest >= 0 && f.count >= longest) return;
  const int step = string_step(f.step, byte);
  if (step < 0) return;
  Frame next = f;
  if (step == kPlain && (longest >= 0 || f.count < node(f.node).min_items)) ++next.count;
  next.step = step;
  if (named && next.text.size() < kMaxNameBytes) next.text.push_back(static_cast<char>(byte));
  out.push_back(with(std::move(next)));
}

void JsonAutomaton::step_number(const Frame& f, unsigned char byte, State& out) const {
  const int step = number_step(f.step, byte, node(f.node).kind == SchemaNode::Kind::integer);
  if (step < 0) return;
  Frame next = f;
  next.count = step == f.step ? f.count + 1 : 1;
  if (next.count > max_digits(step)) return;
  next.step = step;
  if (limited(f.node)) {
    next.value = f.value * 10 + (byte - '0');
    if (out_of_reach(next)) return;
  }
  out.push_back(with(std::move(next)));
}

bool JsonAutomaton::limited(int index) const { return node(index).minimum || node(index).maximum; }

bool JsonAutomaton::out_of_reach(const Frame& f) const { return limited(f.node) && !may_become(f.value, f.negative, false, node(f.node)); }

void JsonAutomaton::step_literal(const Frame& f, unsigned char byte, State& out) const {
  std::string text = f.text;
  text.push_back(static_cast<char>(byte));
  const auto& literals = node(f.node).literals;
  if (std::none_of(literals.begin(), literals.end(), [&](const std::string& l) { return l.starts_with(text); })) return;
  Frame next = f;
  next.text = std::move(text);
  // A text that cannot go on is over at once; a number such as 1 beside 12 waits for what follows.
  const bool may_go_on = std::any_of(literals.begin(), literals.end(), [&](const std::string& l) {
    return l.size() > next.text.size() && l.starts_with(next.text);
  });
  if (!may_go_on) {
    out.push_back(f.up);
  } else {
    out.push_back(with(std::move(next)));
  }
}

void JsonAutomaton::step_object(const Frame& f, unsigned char byte, State& out) const {
  if (skip_space(f, byte, out)) return;
  Frame next = f;
  next.text.clear();
  const SchemaNode& schema = node(f.node);
  if (f.step == kColon) {
    if (byte != ':') return;
    next.step = kAfterValue;
    return open(Part::value, f.count, with(std::move(next)), out);
  }
  if (byte == '}' && (f.step == kFirst || f.step == kAfterValue)) {
    for (std::size_t i = 0; i < schema.properties.size(); ++i) {
      if (schema.properties[i].required && (f.seen >> i & 1U) == 0) return;
    }
    out.push_back(f.up);
  } else if (byte == ',' && f.step == kAfterValue) {
    const bool names_left = f.node == kAnyNode || schema.others >= 0 ||
                            static_cast<std::size_t>(std::popcount(f.seen)) < schema.properties.size();
    if (!names_left) return;
    next.step = kNext;
    out.push_back(with(std::move(next)));
  } else if (byte == '"' && (f.step == kFirst || f.step == kNext)) {
    next.step = kColon;
    if (!schema.properties.empty()) open(Part::key, f.node, with(next), out);
    const int others = f.node == kAnyNode ? kAnyNode : schema.others;
    if (others < 0) return;
    next.count = others;
    open(Part::string, kAnyNode, with(std::move(next)), out);
  }
}

// The name of a declared property that has not been read yet.
void JsonAutomaton::step_key(const Frame& f, unsigned char byte, State& out) const {
  const auto& properties = node(f.node).properties;
  std::string text = f.text;
  text.push_back(static_cast<char>(byte));
  bool goes_on = false;
  for (std::size_t i = 0; i < properties.size(); ++i) {
    if ((f.up->seen >> i & 1U) != 0) continue;
    if (byte == '"' && f.text == properties[i].key) {
      Frame object = *f.up;
      object.seen |= std::uint64_t{1} << i;
      object.count = properties[i].node;
      out.push_back(with(std::move(object)));
      return;
    }
    goes_on |= properties[i].key.starts_with(text);
  }
  if (!goes_on) return;
  Frame next = f;
  next.text = std::move(text);
  out.push_back(with(std::move(next)));
}

void JsonAutomaton::step_array(const Frame& f, unsigned char byte, State& out) const {
  if (skip_space(f, byte, out)) return;
  const SchemaNode& schema = node(f.node);
  Frame next = f;
  next.text.clear();
  if (byte == ']' && f.step != kNext && f.count >= schema.min_items) {
    out.push_back(f.up);
    return;
  }
  const bool full = schema.max_items >= 0 && f.count >= schema.max_items;
  if (full) return;
  if (f.step == kAfterValue) {
    if (byte != ',') return;
    next.step = kNext;
    out.push_back(with(std::move(next)));
    return;
  }
  next.step = kAfterValue;
  ++next.count;
  const int depth = f.depth + 1;
  if (depth > kMaxNesting) return;
  start_value(f.node == kAnyNode ? kAnyNode : schema.others, with(std::move(next)), byte, out);
}

}  // namespace tg
