#include "engine/chat_template/evaluator.h"

#include <algorithm>

namespace tg::jinja {

int message_of(const Value& value) {
  if (value.is(Kind::dict)) return value.dict().origin.message;
  return value.is(Kind::list) ? value.list().origin.message : -1;
}

// A scope for one block. One that a macro was defined in is kept until the render ends.
class Evaluator::ScopeGuard {
 public:
  ScopeGuard(Evaluator& owner, Scope* parent) : owner_(owner), before_(owner.scope_), scope_(std::make_unique<Scope>()) {
    scope_->parent = parent;
    owner_.scope_ = scope_.get();
  }
  ~ScopeGuard() {
    owner_.scope_ = before_;
    if (scope_->captured) owner_.kept_.push_back(std::move(scope_));
  }
  ScopeGuard(const ScopeGuard&) = delete;
  ScopeGuard& operator=(const ScopeGuard&) = delete;

 private:
  Evaluator& owner_;
  Scope* before_;
  std::unique_ptr<Scope> scope_;
};

// Text written meanwhile goes here.
class Evaluator::Capture {
 public:
  explicit Capture(Evaluator& owner) : owner_(owner), before_(owner.out_) { owner.out_ = &text; }
  ~Capture() { owner_.out_ = before_; }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  Text text;

 private:
  Evaluator& owner_;
  Text* before_;
};

Text Evaluator::render(const Body& body) {
  Capture result(*this);
  execute(body);
  return std::move(result.text);
}

void Evaluator::write(const Text& text) {
  charge_text(text.size());
  if (out_->size() + text.size() > kMaxTextBytes) fail("The chat template makes too long a text.");
  std::size_t begin = 0;
  for (const Run& run : text.runs()) {
    const Origin origin = run.origin.plain() ? Origin{message_, false, false} : run.origin;
    out_->append(std::string_view(text.bytes()).substr(begin, run.end - begin), origin);
    begin = run.end;
  }
}

Evaluator::Flow Evaluator::execute(const Body& body) {
  for (const auto& statement : body) {
    const Flow flow = execute(*statement);
    if (flow != Flow::on) return flow;
  }
  return Flow::on;
}

Evaluator::Flow Evaluator::execute(const Statement& s) {
  const DepthGuard guard(*this);
  charge();
  using enum StatementKind;
  switch (s.kind) {
    case data: write(s.text.text()); return Flow::on;
    case output: write(to_text(*this, evaluate(*s.expressions[0]))); return Flow::on;
    case if_: return execute_if(s);
    case for_: return execute_for(s);
    case set: assign(s.target, evaluate(*s.expressions[0])); return Flow::on;
    case set_block: execute_set(s); return Flow::on;
    case macro: scope_->set(s.macro->name, make_macro(*s.macro)); return Flow::on;
    case call_block: execute_call_block(s); return Flow::on;
    case filter_block: execute_filter_block(s); return Flow::on;
    case with: return execute_with(s);
    case scope: return execute_in_scope(s.branches[0]);
    case do_: evaluate(*s.expressions[0]); return Flow::on;
    case break_: return Flow::break_;
    case continue_: return Flow::continue_;
  }
  return Flow::on;
}

Evaluator::Flow Evaluator::execute_if(const Statement& s) {
  for (std::size_t i = 0; i < s.expressions.size(); ++i) {
    if (truthy(evaluate(*s.expressions[i]))) return execute(s.branches[i]);
  }
  return s.branches.size() > s.expressions.size() ? execute(s.branches.back()) : Flow::on;
}

Evaluator::Flow Evaluator::execute_in_scope(const Body& body) {
  const ScopeGuard guard(*this, scope_);
  return execute(body);
}

std::vector<Value> Evaluator::filtered(const Statement& s, std::vector<Value> items) {
  if (s.expressions.size() < 2) return items;
  std::vector<Value> kept;
  for (Value& item : items) {
    const ScopeGuard guard(*this, scope_);
    assign(s.target, item);
    if (truthy(evaluate(*s.expressions[1]))) kept.push_back(std::move(item));
  }
  return kept;
}

Evaluator::Flow Evaluator::execute_for(const Statement& s) {
  std::vector<Value> items = filtered(s, items_of(evaluate(*s.expressions[0])));
  return iterate(s, std::move(items), scope_, 1);
}

// As in Jinja `else` stands for "no item ran to its end", so it also follows a loop whose first item breaks.
Evaluator::Flow Evaluator::iterate(const Statement& s, std::vector<Value> items, Scope* around, int depth) {
  const bool otherwise = s.branches.size() > 1;
  if (items.empty()) return otherwise ? execute_in_scope(s.branches[1]) : Flow::on;
  bool completed = false;
  auto loop = std::make_shared<LoopState>();
  loop->items = make_list(std::move(items)).list_pointer();
  loop->depth = depth;
  loop->recursive = s.recursive ? &s : nullptr;
  loop->scope = around;
  const int message_before = message_;
  const std::size_t count = loop->items->items.size();
  const auto end = [&] {
    message_ = message_before;
    loop->index = std::min(loop->index, count - 1);  // where it is left for whoever kept it
    loop->recursive = nullptr;
    loop->changed.clear();
  };
  try {
    for (; loop->index < count; ++loop->index) {
      charge();
      const ScopeGuard guard(*this, around);
      const Value& item = loop->items->items[loop->index];
      const int message = message_of(item);
      message_ = message >= 0 ? message : message_before;
      scope_->set("loop", Value(loop));
      assign(s.target, item);
      const Flow flow = execute(s.branches[0]);
      completed |= flow == Flow::on;
      if (flow == Flow::break_) break;
    }
  } catch (...) {
    end();
    throw;
  }
  end();
  return otherwise && !completed ? execute_in_scope(s.branches[1]) : Flow::on;
}

Value Evaluator::call_loop(const Value& value, const Arguments& arguments) {
  LoopState& loop = value.loop();
  if (loop.recursive == nullptr) fail("The loop must have the 'recursive' marker to be called recursively.");
  const Statement& s = *loop.recursive;
  Capture result(*this);
  std::vector<Value> items = items_of(arguments.require(0, "iterable", "loop"));
  Scope* const before = std::exchange(scope_, loop.scope);
  try {
    iterate(s, filtered(s, std::move(items)), loop.scope, loop.depth + 1);
  } catch (...) {
    scope_ = before;
    throw;
  }
  scope_ = before;
  return string(std::move(result.text));
}

void Evaluator::assign(const Target& target, const Value& value) {
  if (!target.parts.empty()) {
    std::vector<Value> items = items_of(value);
    if (items.size() != target.parts.size()) {
      fail(items.size() > target.parts.size()
               ? "too many values to unpack (expected " + std::to_string(target.parts.size()) + ")"
               : "not enough values to unpack (expected " + std::to_string(target.parts.size()) + ", got " +
                     std::to_string(items.size()) + ")");
    }
    for (std::size_t i = 0; i < items.size(); ++i) assign(target.parts[i], items[i]);
    return;
  }
  if (!target.attribute.empty()) return assign_attribute(target, value);
  // In a loop over numbers the message is often fetched by hand: {% set message = messages[i] %}.
  if (message_ < 0 && scope_ != root_.get() && value.is(Kind::dict) && value.dict().is_message) message_ = message_of(value);
  scope_->set(target.name, value);
}

void Evaluator::assign_attribute(const Target& target, const Value& value) {
  const Value* space = scope_->find(target.name);
  if (space == nullptr) fail("'" + target.name + "' is undefined");
  if (!space->is(Kind::name_space)) fail("cannot assign attribute on non-namespace object");
  space->name_space().set(target.attribute, value);
}

Value Evaluator::capture(const Body& body) {
  Capture result(*this);
  execute_in_scope(body);
  return string(std::move(result.text));
}

void Evaluator::execute_set(const Statement& s) {
  Value text = capture(s.branches[0]);
  if (s.expressions[0] != nullptr) {
    const Value* const before = std::exchange(filter_input_, &text);
    const Value result = evaluate(*s.expressions[0]);
    filter_input_ = before;
    return assign(s.target, result);
  }
  assign(s.target, text);
}

void Evaluator::execute_filter_block(const Statement& s) {
  const Value text = capture(s.branches[0]);
  const Value* const before = std::exchange(filter_input_, &text);
  const Value result = evaluate(*s.expressions[0]);
  filter_input_ = before;
  write(to_text(*this, result));
}

Evaluator::Flow Evaluator::execute_with(const Statement& s) {
  std::vector<Value> values;
  for (const ExpressionPtr& expression : s.expressions) values.push_back(evaluate(*expression));
  const ScopeGuard guard(*this, scope_);
  for (std::size_t i = 0; i < values.size(); ++i) assign(s.targets[i], values[i]);
  return execute(s.branches[0]);
}

Value Evaluator::make_macro(const Macro& macro) {
  for (Scope* scope = scope_; scope != nullptr && !scope->captured; scope = const_cast<Scope*>(scope->parent)) {
    scope->captured = true;
  }
  auto callable = std::make_shared<Callable>();
  callable->name = macro.name;
  callable->macro = &macro;
  callable->scope = scope_;
  return Value(CallablePtr(std::move(callable)));
}

void Evaluator::execute_call_block(const Statement& s) {
  const Value caller = make_macro(*s.macro);
  write(to_text(*this, evaluate_call(*s.expressions[0], &caller)));
}

Value Evaluator::call_macro(const Callable& callable, const Arguments& arguments) {
  const Macro& macro = *callable.macro;
  const ScopeGuard guard(*this, callable.scope);
  bind_parameters(macro, arguments);
  Capture result(*this);
  execute(macro.body);
  return string(std::move(result.text));
}

void Evaluator::bind_parameters(const Macro& macro, const Arguments& arguments) {
  const std::size_t given = std::min(arguments.positional.size(), macro.parameters.size());
  for (std::size_t i = 0; i < given; ++i) scope_->set(macro.parameters[i].name, arguments.positional[i]);
  Dict rest;
  Value caller = Value::undefined("No caller defined");
  std::vector<bool> named(macro.parameters.size(), false);
  for (const auto& [name, value] : arguments.named) {
    const auto parameter = std::find_if(macro.parameters.begin(), macro.parameters.end(),
                                        [&key = name](const Macro::Parameter& p) { return p.name == key; });
    const auto index = static_cast<std::size_t>(parameter - macro.parameters.begin());
    if (parameter != macro.parameters.end()) {
      if (index < given) fail("macro '" + macro.name + "' got multiple values for argument '" + name + "'");
      scope_->set(name, value);
      named[index] = true;
    } else if (name == "caller" && macro.uses_caller) {
      caller = value;
    } else if (macro.uses_kwargs) {
      rest.set(string(name), value);
    } else {
      fail("macro '" + macro.name + "' takes no keyword argument '" + name + "'");
    }
  }
  for (std::size_t i = given; i < macro.parameters.size(); ++i) {
    const Macro::Parameter& parameter = macro.parameters[i];
    if (named[i]) continue;
    scope_->set(parameter.name, parameter.fallback != nullptr
                                    ? evaluate(*parameter.fallback)
                                    : Value::undefined("parameter '" + parameter.name + "' was not provided"));
  }
  if (arguments.positional.size() > given && !macro.uses_varargs) {
    fail("macro '" + macro.name + "' takes not more than " + std::to_string(macro.parameters.size()) + " argument(s)");
  }
  if (macro.uses_caller && scope_->names.end() == std::find_if(scope_->names.begin(), scope_->names.end(),
                                                               [](const auto& n) { return n.first == "caller"; })) {
    scope_->set("caller", caller);
  }
  if (macro.uses_kwargs) scope_->set("kwargs", Runtime::dict(std::move(rest)));
  if (macro.uses_varargs) {
    scope_->set("varargs", Runtime::list({arguments.positional.begin() + static_cast<std::ptrdiff_t>(given),
                                          arguments.positional.end()}, ListKind::tuple));
  }
}

}  // namespace tg::jinja
