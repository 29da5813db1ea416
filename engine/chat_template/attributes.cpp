// object.name, object[key], object[a:b:c].
#include <algorithm>
#include <charconv>

#include "engine/base/text.h"
#include "engine/chat_template/runtime.h"

namespace tg::jinja {
namespace {

std::string object_name(const Value& object) {
  return object.is(Kind::none) ? "None" : std::string(type_name(object)) + " object";
}

Value no_attribute(const Value& object, std::string_view name) {
  return Value::undefined("'" + object_name(object) + "' has no attribute '" + std::string(name) + "'");
}

Value no_element(Runtime& runtime, const Value& object, const Value& key) {
  return Value::undefined(object_name(object) + " has no element " + to_repr(runtime, key).bytes());
}

Value bound(std::string_view name, Function function, const Value& self) {
  auto callable = std::make_shared<Callable>();
  callable->name = name;
  callable->function = function;
  callable->self = self;
  callable->depth = depth_of(self) + 1;
  if (callable->depth > kMaxNesting) fail("values are nested too deeply");
  return Value(CallablePtr(std::move(callable)));
}

Value loop_cycle(Runtime&, const Value& self, const Arguments& arguments) {
  if (arguments.positional.empty()) fail("no items for cycling given");
  return arguments.positional[self.loop().index % arguments.positional.size()];
}

Value loop_changed(Runtime& runtime, const Value& self, const Arguments& arguments) {
  std::vector<Value>& last = self.loop().changed;
  const bool same = last.size() == arguments.positional.size() && !last.empty() &&
                    std::equal(last.begin(), last.end(), arguments.positional.begin(),
                               [&runtime](const Value& a, const Value& b) { return equal(runtime, a, b); });
  if (!same) last = arguments.positional;
  return Value(!same);
}

Value loop_attribute(const Value& object, std::string_view name) {
  const LoopState& loop = object.loop();
  const std::vector<Value>& items = loop.items->items;
  const auto number = [](std::size_t n) { return Value(static_cast<std::int64_t>(n)); };
  if (name == "index") return number(loop.index + 1);
  if (name == "index0") return number(loop.index);
  if (name == "revindex") return number(items.size() - loop.index);
  if (name == "revindex0") return number(items.size() - loop.index - 1);
  if (name == "first") return Value(loop.index == 0);
  if (name == "last") return Value(loop.index + 1 >= items.size());
  if (name == "length") return number(items.size());
  if (name == "depth") return Value(std::int64_t{loop.depth});
  if (name == "depth0") return Value(std::int64_t{loop.depth} - 1);
  if (name == "previtem") return loop.index > 0 ? items[loop.index - 1] : Value::undefined("there is no previous item");
  if (name == "nextitem") {
    return loop.index + 1 < items.size() ? items[loop.index + 1] : Value::undefined("there is no next item");
  }
  if (name == "cycle") return bound(name, loop_cycle, object);
  if (name == "changed") return bound(name, loop_changed, object);
  return no_attribute(object, name);
}

// Methods that would change a list or a dict, which templates may not.
bool changes(const Value& object, std::string_view name) {
  static constexpr std::string_view kList[] = {"append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort"};
  static constexpr std::string_view kDict[] = {"clear", "pop", "popitem", "setdefault", "update"};
  if (object.is(Kind::list)) return std::find(std::begin(kList), std::end(kList), name) != std::end(kList);
  return object.is(Kind::dict) && std::find(std::begin(kDict), std::end(kDict), name) != std::end(kDict);
}

Value method_or_undefined(const Value& object, std::string_view name) {
  if (const Function method = find_method(object, name)) return bound(name, method, object);
  if (changes(object, name)) {
    return Value::undefined("access to attribute '" + std::string(name) + "' of '" + std::string(type_name(object)) +
                            "' object is unsafe.");
  }
  return no_attribute(object, name);
}

const Value* group_part(const Value& object, std::string_view name) {
  if (!object.is(Kind::list) || object.list().kind != ListKind::group) return nullptr;
  if (name == "grouper") return &object.list().items[0];
  return name == "list" ? &object.list().items[1] : nullptr;
}

// Index from the end where negative; false: outside.
bool place(std::int64_t index, std::size_t size, std::size_t& out) {
  const auto n = static_cast<std::int64_t>(size);
  if (index < 0) index += n;
  if (index < 0 || index >= n) return false;
  out = static_cast<std::size_t>(index);
  return true;
}

Value string_item(Runtime& runtime, const Value& object, const Value& key) {
  const Text& text = object.text();
  runtime.charge_text(text.size());
  std::size_t at = 0;
  if (!place(key.integer(), count_characters(text.bytes()), at)) return no_element(runtime, object, key);
  const std::size_t begin = offset_of_character(text.bytes(), at);
  return runtime.string(text.slice(begin, begin + decode_utf8(text.bytes(), begin).length));
}

struct SliceRange {
  std::int64_t start = 0, stop = 0, step = 1;
};

std::int64_t slice_part(const Value& value, std::int64_t fallback) {
  if (value.is(Kind::none)) return fallback;
  if (value.is(Kind::undefined)) fail_undefined(value);
  if (!value.is_integral()) fail("slice indices must be integers or None or have an __index__ method");
  return value.integer();
}

// Python's rules for slices.
SliceRange slice_range(const Value& start, const Value& stop, const Value& step, std::size_t size) {
  const auto n = static_cast<std::int64_t>(size);
  SliceRange range;
  range.step = slice_part(step, 1);
  if (range.step == 0) fail("slice step cannot be zero");
  range.step = std::clamp(range.step, std::int64_t{-1} << 40, std::int64_t{1} << 40);
  const bool back = range.step < 0;
  const std::int64_t low = back ? -1 : 0;
  const std::int64_t high = back ? n - 1 : n;
  const auto bounded = [&](const Value& value, std::int64_t fallback) {
    if (value.is(Kind::none)) return fallback;
    std::int64_t index = slice_part(value, 0);
    if (index < 0) index = std::max(index, -(std::int64_t{1} << 40)) + n;
    return std::clamp(index, low, high);
  };
  range.start = bounded(start, back ? n - 1 : 0);
  range.stop = bounded(stop, back ? -1 : n);
  return range;
}

}  // namespace

Value attribute_of(Runtime& runtime, const Value& object, std::string_view name) {
  switch (object.kind()) {
    case Kind::undefined: fail_undefined(object);
    case Kind::loop: return loop_attribute(object, name);
    case Kind::name_space: {
      const Value* found = object.name_space().find(name);
      return found != nullptr ? *found : no_attribute(object, name);
    }
    case Kind::dict: {
      if (const Function method = find_method(object, name)) return bound(name, method, object);
      const Value* found = object.dict().find(name);
      return found != nullptr ? *found : method_or_undefined(object, name);
    }
    case Kind::callable:
      if (const Callable& c = object.callable(); c.state && c.self.is(Kind::list)) {  // a cycler
        if (name == "next") return object;
        const std::vector<Value>& items = c.self.list().items;
        if (name == "current") return items[static_cast<std::size_t>(*c.state) % items.size()];
      }
      if (name == "name") return runtime.string(object.callable().name);
      return no_attribute(object, name);
    default:
      if (const Value* part = group_part(object, name)) return *part;
      return method_or_undefined(object, name);
  }
}

Value item_of(Runtime& runtime, const Value& object, const Value& key) {
  if (object.is(Kind::undefined)) fail_undefined(object);
  if (object.is(Kind::dict)) {
    runtime.charge(1 + object.dict().entries.size() / 64);
    if (const Value* found = object.dict().find(key)) return *found;
  } else if (object.is(Kind::list) && key.is_integral()) {
    std::size_t at = 0;
    return place(key.integer(), object.list().items.size(), at) ? object.list().items[at] : no_element(runtime, object, key);
  } else if (object.is(Kind::string) && key.is_integral()) {
    return string_item(runtime, object, key);
  }
  if (!key.is(Kind::string)) return no_element(runtime, object, key);
  if (object.is(Kind::dict)) return method_or_undefined(object, key.text().bytes());
  return attribute_of(runtime, object, key.text().bytes());
}

Value slice_of(Runtime& runtime, const Value& object, const Value& start, const Value& stop, const Value& step) {
  if (object.is(Kind::undefined)) fail_undefined(object);
  if (object.is(Kind::list)) {
    const std::vector<Value>& items = object.list().items;
    const SliceRange range = slice_range(start, stop, step, items.size());
    std::vector<Value> part;
    for (std::int64_t i = range.start; range.step > 0 ? i < range.stop : i > range.stop; i += range.step) {
      part.push_back(items[static_cast<std::size_t>(i)]);
    }
    return runtime.list(std::move(part), object.list().kind == ListKind::list ? ListKind::list : ListKind::tuple);
  }
  if (!object.is(Kind::string)) fail("'" + std::string(type_name(object)) + "' object is not subscriptable");
  const Text& text = object.text();
  runtime.charge(1 + text.size() / 8);
  const std::vector<std::size_t> offsets = character_offsets(text.bytes());
  const SliceRange range = slice_range(start, stop, step, offsets.size() - 1);
  if (range.step == 1) {
    if (range.start >= range.stop) return runtime.string(Text());
    return runtime.string(text.slice(offsets[static_cast<std::size_t>(range.start)], offsets[static_cast<std::size_t>(range.stop)]));
  }
  Text part;
  for (std::int64_t i = range.start; range.step > 0 ? i < range.stop : i > range.stop; i += range.step) {
    const auto at = static_cast<std::size_t>(i);
    part.append(text, offsets[at], offsets[at + 1]);
  }
  part.set_markup(text.is_markup());
  return runtime.string(std::move(part));
}

Value attribute_path(Runtime& runtime, const Value& object, const Value& path) {
  if (path.is_integral()) return item_of(runtime, object, path);
  const std::string_view text = to_string(path, "attribute").bytes();
  Value value = object;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t dot = std::min(text.find('.', at), text.size());
    const std::string_view part = text.substr(at, dot - at);
    std::int64_t index = 0;
    const auto parsed = std::from_chars(part.data(), part.data() + part.size(), index);
    const bool number = !part.empty() && parsed.ec == std::errc{} && parsed.ptr == part.data() + part.size() && part[0] != '-';
    value = item_of(runtime, value, number ? Value(index) : Value::string(std::string(part)));
    at = dot + 1;
  }
  return value;
}

}  // namespace tg::jinja
