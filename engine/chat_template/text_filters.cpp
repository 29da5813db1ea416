// Filters that make text.
#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "engine/base/text.h"
#include "engine/chat_template/string_helpers.h"

namespace tg::jinja {
namespace {

template <CaseChange change>
Value change_case(Runtime& runtime, const Value& self, const Arguments&) {
  const Text text = to_text(runtime, self);
  Text result = with_case(text, change);
  result.set_markup(text.is_markup());
  return runtime.string(std::move(result));
}

// Jinja's own rule: a word begins at the start and behind white space and - ( { [ <.
Value title(Runtime& runtime, const Value& self, const Arguments&) {
  bool start = true;
  const Text text = to_text(runtime, self);
  Text result;
  const std::string_view bytes = text.bytes();
  for (std::size_t at = 0; at < bytes.size();) {
    const CodePoint c = decode_utf8(bytes, at);
    result.append(with_case(text.slice(at, at + c.length), start ? CaseChange::upper : CaseChange::lower));
    start = is_space(c.value) || (c.value < 0x80 && std::string_view("-({[<").find(static_cast<char>(c.value)) != std::string_view::npos);
    at += c.length;
  }
  runtime.charge(bytes.size());
  return runtime.string(std::move(result));
}

Value trim(Runtime& runtime, const Value& self, const Arguments& arguments) {
  return runtime.string(stripped(to_text(runtime, self), arguments.find(0, "chars"), true, true));
}

Value replace(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Text from = to_text(runtime, arguments.require(0, "old", "replace"));
  const Text to = to_text(runtime, arguments.require(1, "new", "replace"));
  const Value* count = arguments.find(2, "count");
  const std::int64_t limit = count == nullptr || count->is(Kind::none) ? -1 : to_integer(*count, "count");
  const Text text = to_text(runtime, self);
  return runtime.string(replaced(text, from.bytes(), to, limit));
}

Value center(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::int64_t width = to_integer(arguments.get(0, "width", Value(std::int64_t{80})), "width");
  return runtime.string(centred(runtime, to_text(runtime, self), width, " "));
}

Value indent(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Value width = arguments.get(0, "width", Value(std::int64_t{4}));
  const Text pad = width.is(Kind::string) ? width.text() : spaces(runtime, to_integer(width, "width"));
  const bool first = truthy(arguments.get(1, "first", Value(false)));
  const bool blank = truthy(arguments.get(2, "blank", Value(false)));
  Text text = to_text(runtime, self);
  text.append("\n");
  const std::vector<Text> lines = split_lines(text, false);
  Text result;
  result.set_markup(text.is_markup());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) result.append("\n");
    if ((i == 0 && first) || (i > 0 && (blank || !lines[i].empty()))) result.append(pad);
    result.append(lines[i]);
    runtime.charge_text(pad.size());
    if (result.size() > kMaxTextBytes) fail("The chat template makes too long a text.");
  }
  return runtime.string(std::move(result));
}

Value truncate(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::int64_t length = to_integer(arguments.get(0, "length", Value(std::int64_t{255})), "length");
  const bool kill = truthy(arguments.get(1, "killwords", Value(false)));
  const Text end = to_text(runtime, arguments.get(2, "end", Value::string("...")));
  const std::int64_t leeway = to_integer(arguments.get(3, "leeway", Value(std::int64_t{5})), "leeway");
  const Text text = to_text(runtime, self);
  const auto end_size = static_cast<std::int64_t>(count_characters(end.bytes()));
  if (length < end_size) fail("expected length >= " + std::to_string(end_size) + ", got " + std::to_string(length));
  if (leeway < 0) fail("expected leeway >= 0, got " + std::to_string(leeway));
  const auto size = static_cast<std::int64_t>(count_characters(text.bytes()));
  if (size - leeway <= length) return runtime.string(text);
  Text result = text.slice(0, offset_of_character(text.bytes(), static_cast<std::size_t>(length - end_size)));
  if (!kill) result = split_at_right(result, " ", 1).front();
  result.append(end);
  return runtime.string(std::move(result));
}

Value as_string(Runtime& runtime, const Value& self, const Arguments&) {
  return self.is(Kind::string) ? self : runtime.string(to_text(runtime, self));
}

Value safe(Runtime& runtime, const Value& self, const Arguments&) {
  Text text = to_text(runtime, self);
  text.set_markup(true);
  return runtime.string(std::move(text));
}

Value escape(Runtime& runtime, const Value& self, const Arguments&) {
  if (self.is(Kind::string) && self.text().is_markup()) return self;
  return runtime.string(escaped(to_text(runtime, self)));
}

Value force_escape(Runtime& runtime, const Value& self, const Arguments&) {
  return runtime.string(escaped(to_text(runtime, self)));
}

Value striptags(Runtime& runtime, const Value& self, const Arguments&) {
  const Text text = to_text(runtime, self);
  Text plain;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t open = text.bytes().find('<', at);
    const std::size_t close = open == std::string::npos ? open : text.bytes().find('>', open);
    if (close == std::string::npos) break;
    plain.append(text, at, open);
    at = close + 1;
  }
  plain.append(text, at, text.size());
  Text result;
  for (const Text& word : split_words(plain, -1)) {
    if (!result.empty()) result.append(" ");
    result.append(word);
  }
  return runtime.string(std::move(result));
}

Value wordcount(Runtime& runtime, const Value& self, const Arguments&) {
  const Text text = to_text(runtime, self);
  runtime.charge(text.size());
  std::int64_t count = 0;
  bool inside = false;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_utf8(text.bytes(), at);
    const bool word = is_letter(c.value) || is_digit(c.value) || c.value == '_';
    count += word && !inside ? 1 : 0;
    inside = word;
    at += c.length;
  }
  return Value(count);
}

Value urlencode(Runtime& runtime, const Value& self, const Arguments&) {
  return runtime.string(mapped(to_text(runtime, self), [](std::uint32_t, std::string_view bytes, std::string& out) {
    static constexpr char kDigits[] = "0123456789ABCDEF";
    for (const char c : bytes) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte < 0x80 && (std::isalnum(byte) != 0 || std::string_view("_.-~/").find(c) != std::string_view::npos)) {
        out.push_back(c);
      } else {
        out.append({'%', kDigits[byte >> 4U], kDigits[byte & 15U]});
      }
    }
  }));
}

Value format(Runtime& runtime, const Value& self, const Arguments& arguments) {
  if (!arguments.named.empty()) {
    Dict dict;
    for (const auto& [name, value] : arguments.named) dict.set(runtime.string(name), value);
    return percent_format(runtime, to_text(runtime, self), runtime.dict(std::move(dict)));
  }
  return percent_format(runtime, to_text(runtime, self), runtime.list(arguments.positional, ListKind::tuple));
}

Value pprint(Runtime& runtime, const Value& self, const Arguments&) { return runtime.string(to_repr(runtime, self)); }

void read_indent(const Value& value, JsonStyle& style) {
  if (value.is(Kind::none)) return;
  style.item_separator = ",";
  if (value.is(Kind::string)) {
    style.indent = 1;
    style.indent_text = value.text().bytes();
    if (style.indent_text.empty()) style.indent = 0;
  } else {
    style.indent = static_cast<int>(std::clamp<std::int64_t>(to_integer(value, "indent"), 0, 100));
  }
}

Value tojson(Runtime& runtime, const Value& self, const Arguments& arguments) {
  JsonStyle style;
  style.ensure_ascii = truthy(arguments.get(0, "ensure_ascii", Value(false)));
  read_indent(arguments.get(1, "indent", None{}), style);
  const Value separators = arguments.get(2, "separators", None{});
  if (separators.is(Kind::list)) {
    if (separators.list().items.size() != 2) fail("separators must be a pair");
    style.item_separator = to_string(separators.list().items[0], "separator").bytes();
    style.key_separator = to_string(separators.list().items[1], "separator").bytes();
  }
  style.sort_keys = truthy(arguments.get(3, "sort_keys", Value(false)));
  return runtime.string(to_json(runtime, self, style));
}

Value from_json_filter(Runtime& runtime, const Value& self, const Arguments&) {
  const Text& text = to_string(self, "the JSON object");
  runtime.charge(text.size());
  const auto json = nlohmann::ordered_json::parse(text.bytes(), nullptr, false);
  if (json.is_discarded()) fail("from_json: the text is not JSON");
  return from_json(json, text.origin_at(0));
}

}  // namespace

const FunctionTable& text_filters() {
  static const FunctionTable table{
      {"upper", change_case<CaseChange::upper>}, {"lower", change_case<CaseChange::lower>},
      {"capitalize", change_case<CaseChange::capitalize>}, {"title", title}, {"trim", trim}, {"replace", replace},
      {"center", center}, {"indent", indent}, {"truncate", truncate}, {"string", as_string}, {"safe", safe},
      {"escape", escape}, {"e", escape}, {"forceescape", force_escape}, {"striptags", striptags}, {"wordcount", wordcount},
      {"urlencode", urlencode}, {"format", format}, {"pprint", pprint}, {"tojson", tojson},
      {"from_json", from_json_filter}};
  return table;
}

}  // namespace tg::jinja
