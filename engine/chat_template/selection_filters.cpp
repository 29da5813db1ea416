// Filters that choose and change items one by one: map, select, reject, default, attr; and the lookup of filters and tests.
#include "engine/chat_template/runtime.h"

namespace tg::jinja {
namespace {

Value default_value(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const bool also_false = truthy(arguments.get(1, "boolean", Value(false)));
  if (!self.is(Kind::undefined) && (!also_false || truthy(self))) return self;
  return arguments.get(0, "default_value", runtime.string(std::string()));
}

Value attr(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Text name = to_text(runtime, arguments.require(0, "name", "attr"));
  if (self.is(Kind::dict) && find_method(self, name.bytes()) == nullptr) {
    return Value::undefined("'dict object' has no attribute '" + name.bytes() + "'");
  }
  return attribute_of(runtime, self, name.bytes());
}

const Value* named(const Arguments& arguments, std::string_view name) { return arguments.find(SIZE_MAX, name); }

Arguments without_first(const Arguments& arguments, std::size_t count) {
  Arguments rest = arguments;
  rest.positional.erase(rest.positional.begin(), rest.positional.begin() + static_cast<std::ptrdiff_t>(count));
  return rest;
}

// As Jinja: nothing at all is an empty sequence here.
std::vector<Value> items_or_none(Runtime& runtime, const Value& value) {
  return truthy(value) ? runtime.items_of(value) : std::vector<Value>();
}

Value map(Runtime& runtime, const Value& self, const Arguments& arguments) {
  std::vector<Value> items = items_or_none(runtime, self);
  const Value* attribute = named(arguments, "attribute");
  if (arguments.positional.empty() && attribute != nullptr) {
    const Value* fallback = named(arguments, "default");
    for (Value& item : items) {
      item = attribute_path(runtime, item, *attribute);
      if (item.is(Kind::undefined) && fallback != nullptr) item = *fallback;
    }
    return runtime.list(std::move(items));
  }
  if (arguments.positional.empty()) fail("map requires a filter argument");
  const std::string name = to_string(arguments.positional[0], "filter name").bytes();
  const Arguments rest = without_first(arguments, 1);
  for (Value& item : items) item = runtime.call_filter(name, item, rest);
  return runtime.list(std::move(items));
}

// select, reject and their forms for an attribute: the test decides, or truth where none is named.
template <bool keep, bool by_attribute>
Value choose(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::size_t skip = by_attribute ? 1 : 0;
  if (arguments.positional.size() < skip) fail("Missing parameter for attribute name");
  const bool tested = arguments.positional.size() > skip;
  const std::string test = tested ? to_string(arguments.positional[skip], "test name").bytes() : std::string();
  const Arguments rest = tested ? without_first(arguments, skip + 1) : Arguments{};
  std::vector<Value> result;
  for (const Value& item : items_or_none(runtime, self)) {
    const Value subject = by_attribute ? attribute_path(runtime, item, arguments.positional[0]) : item;
    const bool passes = tested ? runtime.call_test(test, subject, rest) : truthy(subject);
    if (passes == keep) result.push_back(item);
  }
  return runtime.list(std::move(result));
}

}  // namespace

const FunctionTable& selection_filters() {
  static const FunctionTable table{{"default", default_value}, {"d", default_value}, {"attr", attr}, {"map", map},
                                   {"select", choose<true, false>}, {"reject", choose<false, false>},
                                   {"selectattr", choose<true, true>}, {"rejectattr", choose<false, true>}};
  return table;
}

Function find_filter(std::string_view name) {
  for (const auto* table : {&text_filters(), &number_filters(), &sequence_filters(), &selection_filters()}) {
    const auto found = table->find(name);
    if (found != table->end()) return found->second;
  }
  return nullptr;
}

Function find_test(std::string_view name) {
  const auto found = tests().find(name);
  return found == tests().end() ? nullptr : found->second;
}

}  // namespace tg::jinja
