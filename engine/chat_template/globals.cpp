// The functions every template finds: range, namespace, dict, raise_exception, strftime_now, cycler, joiner.
#include "engine/chat_template/runtime.h"

namespace tg::jinja {
namespace {

inline constexpr std::int64_t kMaxRange = 100'000;  // as Jinja's sandbox

Value range(Runtime& runtime, const Value&, const Arguments& arguments) {
  const std::size_t given = arguments.positional.size();
  if (given < 1 || given > 3) fail("range expected 1 to 3 arguments, got " + std::to_string(given));
  std::int64_t part[3] = {0, 0, 1};
  for (std::size_t i = 0; i < given; ++i) part[given == 1 ? 1 : i] = to_integer(arguments.positional[i], "range() argument");
  const auto [start, stop, step] = part;
  if (step == 0) fail("range() arg 3 must not be zero");
  std::vector<Value> items;
  for (std::int64_t i = start; step > 0 ? i < stop : i > stop;) {
    if (static_cast<std::int64_t>(items.size()) >= kMaxRange) {
      fail("Range too big. The sandbox blocks ranges larger than MAX_RANGE (100000).");
    }
    items.emplace_back(i);
    if (__builtin_add_overflow(i, step, &i)) break;
  }
  return runtime.list(std::move(items));
}

// Pairs of a mapping, or of a list of pairs, and named arguments.
void for_each_pair(Runtime& runtime, const Arguments& arguments, const std::function<void(const Value&, const Value&)>& take) {
  for (const Value& source : arguments.positional) {
    if (source.is(Kind::dict)) {
      for (const auto& [key, value] : source.dict().entries) take(key, value);
      continue;
    }
    for (const Value& pair : runtime.items_of(source)) {
      const std::vector<Value> parts = runtime.items_of(pair);
      if (parts.size() != 2) fail("dictionary update sequence element has length " + std::to_string(parts.size()) + "; 2 is required");
      take(parts[0], parts[1]);
    }
  }
  for (const auto& [name, value] : arguments.named) take(runtime.string(name), value);
}

Value dict(Runtime& runtime, const Value&, const Arguments& arguments) {
  Dict result;
  for_each_pair(runtime, arguments, [&](const Value& key, const Value& value) {
    runtime.charge();
    result.set(key, value);
  });
  return runtime.dict(std::move(result));
}

Value name_space(Runtime& runtime, const Value&, const Arguments& arguments) {
  Namespace* space = runtime.new_namespace();
  for_each_pair(runtime, arguments, [&](const Value& key, const Value& value) {
    runtime.charge(1 + space->entries.size() / 16);
    space->set(to_string(key, "a namespace key").bytes(), value);
  });
  return Value(space);
}

Value raise_exception(Runtime& runtime, const Value&, const Arguments& arguments) {
  fail(to_text(runtime, arguments.require(0, "message", "raise_exception")).bytes());
}

Value strftime_now(Runtime& runtime, const Value&, const Arguments& arguments) {
  const Text& format = to_string(arguments.require(0, "format", "strftime_now"), "format");
  return runtime.string(format_time(format.bytes(), runtime.now));
}

// A joiner gives "" the first time it is called and its separator from then on.
Value call_joiner(Runtime&, const Value& self, const Arguments&) {
  const bool first = (*self.callable().state)++ == 0;
  return first ? Value::string(std::string()) : self.callable().self;
}

Value joiner(Runtime& runtime, const Value&, const Arguments& arguments) {
  auto callable = std::make_shared<Callable>();
  callable->name = "joiner";
  callable->function = call_joiner;
  callable->self = arguments.get(0, "sep", runtime.string(", "));
  callable->state = std::make_shared<std::int64_t>(0);
  callable->depth = depth_of(callable->self) + 1;
  return Value(CallablePtr(std::move(callable)));
}

// A cycler is called through next(); it holds its items as a tuple.
Value cycler_next(Runtime&, const Value& self, const Arguments&) {
  const std::vector<Value>& items = self.callable().self.list().items;
  return items[static_cast<std::size_t>((*self.callable().state)++) % items.size()];
}

Value cycler(Runtime& runtime, const Value&, const Arguments& arguments) {
  if (arguments.positional.empty()) fail("at least one item has to be provided");
  auto callable = std::make_shared<Callable>();
  callable->name = "cycler";
  callable->function = cycler_next;
  callable->self = runtime.list(arguments.positional, ListKind::tuple);
  callable->state = std::make_shared<std::int64_t>(0);
  callable->depth = depth_of(callable->self) + 1;
  return Value(CallablePtr(std::move(callable)));
}

}  // namespace

const FunctionTable& globals() {
  static const FunctionTable table{{"range", range}, {"dict", dict}, {"namespace", name_space},
                                   {"raise_exception", raise_exception}, {"strftime_now", strftime_now},
                                   {"joiner", joiner}, {"cycler", cycler}};
  return table;
}

}  // namespace tg::jinja
