// Methods that look into a str, a list, a tuple or a dict; and the lookup of methods.
#include <algorithm>

#include "engine/base/text.h"
#include "engine/chat_template/string_helpers.h"

namespace tg::jinja {
namespace {

// The part of a string that start and end (in characters, as Python's slices) leave.
struct Window {
  std::string_view text;
  std::int64_t first_character = 0;
  bool empty_range = false;  // start behind the end: nothing is found, not even ""
};

Window window_of(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::string_view text = self.text().bytes();
  runtime.charge_text(text.size());
  Window window{text, 0, false};
  const Value start = arguments.get(1, "start", None{});
  const Value stop = arguments.get(2, "end", None{});
  if (start.is(Kind::none) && stop.is(Kind::none)) return window;
  const auto size = static_cast<std::int64_t>(count_characters(text));
  const auto place = [size](const Value& value, std::int64_t fallback) {
    if (value.is(Kind::none)) return fallback;
    const std::int64_t index = to_integer(value, "slice indices");
    return index < 0 ? std::max<std::int64_t>(index + size, 0) : index;
  };
  const std::int64_t from = place(start, 0);
  const std::int64_t to = std::min(place(stop, size), size);
  window.first_character = from;
  window.empty_range = from > to;
  if (window.empty_range) return window;
  const std::size_t begin = offset_of_character(text, static_cast<std::size_t>(from));
  const std::size_t end = offset_of_character(text, static_cast<std::size_t>(to));
  window.text = text.substr(begin, end - begin);
  return window;
}

template <bool right>
std::int64_t position(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::string& what = to_string(arguments.require(0, "sub", "find"), "the text to find").bytes();
  const Window window = window_of(runtime, self, arguments);
  const std::size_t hit = window.empty_range ? std::string_view::npos
                                             : (right ? window.text.rfind(what) : window.text.find(what));
  if (hit == std::string_view::npos) return -1;
  return window.first_character + static_cast<std::int64_t>(count_characters(window.text.substr(0, hit)));
}

template <bool right>
Value find(Runtime& runtime, const Value& self, const Arguments& arguments) {
  return Value(position<right>(runtime, self, arguments));
}

template <bool right>
Value index(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::int64_t at = position<right>(runtime, self, arguments);
  if (at < 0) fail("substring not found");
  return Value(at);
}

Value count(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::string& what = to_string(arguments.require(0, "sub", "count"), "the text to count").bytes();
  const Window window = window_of(runtime, self, arguments);
  if (window.empty_range) return Value(std::int64_t{0});
  if (what.empty()) return Value(static_cast<std::int64_t>(count_characters(window.text)) + 1);
  std::int64_t hits = 0;
  for (std::size_t at = window.text.find(what); at != std::string_view::npos; at = window.text.find(what, at + what.size())) ++hits;
  return Value(hits);
}

template <bool start>
bool affix(std::string_view text, const Value& what) {
  const std::string& part = to_string(what, start ? "startswith first arg" : "endswith first arg").bytes();
  return start ? text.starts_with(part) : text.ends_with(part);
}

template <bool start>
Value with_affix(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Value& what = arguments.require(0, "prefix", start ? "startswith" : "endswith");
  const Window window = window_of(runtime, self, arguments);
  if (window.empty_range) return Value(false);
  if (!what.is(Kind::list)) return Value(affix<start>(window.text, what));
  const std::vector<Value>& items = what.list().items;
  runtime.charge(items.size());
  return Value(std::any_of(items.begin(), items.end(), [&](const Value& v) { return affix<start>(window.text, v); }));
}

template <bool (*predicate)(std::uint32_t), bool empty_is>
Value all_are(Runtime& runtime, const Value& self, const Arguments&) {
  const std::string_view text = self.text().bytes();
  runtime.charge_text(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_utf8(text, at);
    if (!predicate(c.value)) return Value(false);
    at += c.length;
  }
  return Value(!text.empty() || empty_is);
}

bool alphanumeric(std::uint32_t c) { return is_letter(c) || is_digit(c); }
bool ascii(std::uint32_t c) { return c < 0x80; }
bool word(std::uint32_t c) { return is_letter(c) || is_digit(c) || c == '_'; }

Value is_identifier(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::string_view text = self.text().bytes();
  if (text.empty() || is_digit(decode_utf8(text, 0).value)) return Value(false);
  return all_are<word, false>(runtime, self, arguments);
}

template <bool upper>
Value is_case(Runtime& runtime, const Value& self, const Arguments& arguments) {
  return (*find_test(upper ? "upper" : "lower"))(runtime, self, arguments);
}

Value is_title(Runtime&, const Value& self, const Arguments&) {
  const Text titled = with_case(self.text(), CaseChange::title);
  const bool cased = with_case(self.text(), CaseChange::upper).bytes() != with_case(self.text(), CaseChange::lower).bytes();
  return Value(cased && titled.bytes() == self.text().bytes());
}

// ---- containers ----------------------------------------------------------------------------------------------------

Value dict_items(Runtime& runtime, const Value& self, const Arguments& arguments) {
  return (*find_filter("items"))(runtime, self, arguments);
}

Value dict_keys(Runtime& runtime, const Value& self, const Arguments&) { return runtime.list(runtime.items_of(self)); }

Value dict_values(Runtime& runtime, const Value& self, const Arguments&) {
  std::vector<Value> values;
  for (const auto& entry : self.dict().entries) values.push_back(entry.second);
  return runtime.list(std::move(values));
}

Value dict_get(Runtime& runtime, const Value& self, const Arguments& arguments) {
  runtime.charge(1 + self.dict().entries.size() / 64);
  const Value* found = self.dict().find(arguments.require(0, "key", "get"));
  return found != nullptr ? *found : arguments.get(1, "default", None{});
}

Value same(Runtime&, const Value& self, const Arguments&) { return self; }

Value list_index(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::vector<Value>& items = self.list().items;
  const Value& wanted = arguments.require(0, "value", "index");
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (equal(runtime, items[i], wanted)) return Value(static_cast<std::int64_t>(i));
  }
  fail(to_repr(runtime, wanted).bytes() + " is not in list");
}

Value list_count(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Value& wanted = arguments.require(0, "value", "count");
  std::int64_t hits = 0;
  for (const Value& item : self.list().items) hits += equal(runtime, item, wanted) ? 1 : 0;
  return Value(hits);
}

const FunctionTable& dict_methods() {
  static const FunctionTable table{{"items", dict_items}, {"keys", dict_keys}, {"values", dict_values}, {"get", dict_get},
                                   {"copy", same}};
  return table;
}

const FunctionTable& list_methods() {
  static const FunctionTable table{{"index", list_index}, {"count", list_count}, {"copy", same}};
  return table;
}

Function look_up(const FunctionTable& table, std::string_view name) {
  const auto found = table.find(name);
  return found == table.end() ? nullptr : found->second;
}

}  // namespace

const FunctionTable& string_search_methods() {
  static const FunctionTable table{
      {"find", find<false>}, {"rfind", find<true>}, {"index", index<false>}, {"rindex", index<true>}, {"count", count},
      {"startswith", with_affix<true>}, {"endswith", with_affix<false>},
      {"isalpha", all_are<is_letter, false>}, {"isdigit", all_are<is_digit, false>},
      {"isdecimal", all_are<is_digit, false>}, {"isnumeric", all_are<is_digit, false>},
      {"isalnum", all_are<alphanumeric, false>}, {"isspace", all_are<is_space, false>},
      {"isascii", all_are<ascii, true>}, {"isprintable", all_are<is_printable, true>},
      {"isidentifier", is_identifier}, {"isupper", is_case<true>}, {"islower", is_case<false>}, {"istitle", is_title}};
  return table;
}

Function find_method(const Value& object, std::string_view name) {
  switch (object.kind()) {
    case Kind::string: {
      const Function method = look_up(string_methods(), name);
      return method != nullptr ? method : look_up(string_search_methods(), name);
    }
    case Kind::dict: return look_up(dict_methods(), name);
    case Kind::list: return look_up(list_methods(), name);
    default: return nullptr;
  }
}

}  // namespace tg::jinja
