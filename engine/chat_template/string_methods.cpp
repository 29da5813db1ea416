// Methods of str that make other strings.
#include <algorithm>

#include "engine/base/text.h"
#include "engine/chat_template/string_helpers.h"

namespace tg::jinja {
namespace {

// TEXT made of SELF: markup stays markup.
Value like(Runtime& runtime, const Value& self, Text text) {
  text.set_markup(self.text().is_markup());
  return runtime.string(std::move(text));
}

// What is put into SELF: escaped where that is markup.
Text fitting(const Value& self, const Text& part) {
  return self.text().is_markup() && !part.is_markup() ? escaped(part) : part;
}

template <CaseChange change>
Value change_case(Runtime& runtime, const Value& self, const Arguments&) {
  return like(runtime, self, with_case(self.text(), change));
}

template <bool left, bool right>
Value strip(Runtime& runtime, const Value& self, const Arguments& arguments) {
  return runtime.string(stripped(self.text(), arguments.find(0, "chars"), left, right));
}

std::int64_t limit_of(const Arguments& arguments, std::size_t index, std::string_view name) {
  return to_integer(arguments.get(index, name, Value(std::int64_t{-1})), name);
}

template <bool right>
Value split(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Value separator = arguments.get(0, "sep", None{});
  const std::int64_t limit = limit_of(arguments, 1, "maxsplit");
  runtime.charge_text(self.text().size());
  if (separator.is(Kind::none)) {
    return list_of_texts(runtime, right ? split_words_right(self.text(), limit) : split_words(self.text(), limit));
  }
  const std::string& by = to_string(separator, "sep").bytes();
  return list_of_texts(runtime, right ? split_at_right(self.text(), by, limit) : split_at(self.text(), by, limit));
}

Value splitlines(Runtime& runtime, const Value& self, const Arguments& arguments) {
  return list_of_texts(runtime, split_lines(self.text(), truthy(arguments.get(0, "keepends", Value(false)))));
}

template <bool right>
Value partition(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Text& text = self.text();
  const Text& by = to_string(arguments.require(0, "sep", "partition"), "sep");
  if (by.empty()) fail("empty separator");
  const std::size_t hit = right ? text.bytes().rfind(by.bytes()) : text.bytes().find(by.bytes());
  std::vector<Text> parts;
  if (hit != std::string::npos) {
    parts = {text.slice(0, hit), text.slice(hit, hit + by.size()), text.slice(hit + by.size(), text.size())};
  } else {
    parts = right ? std::vector<Text>{Text(), Text(), text} : std::vector<Text>{text, Text(), Text()};
  }
  return list_of_texts(runtime, std::move(parts), ListKind::tuple);
}

Value replace(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Text& from = to_string(arguments.require(0, "old", "replace"), "replace() argument 1");
  const Text& to = to_string(arguments.require(1, "new", "replace"), "replace() argument 2");
  return like(runtime, self, replaced(self.text(), from.bytes(), fitting(self, to), limit_of(arguments, 2, "count")));
}

Value join(Runtime& runtime, const Value& self, const Arguments& arguments) {
  Text text;
  std::size_t index = 0;
  for (const Value& item : runtime.items_of(arguments.require(0, "iterable", "join"))) {
    if (!item.is(Kind::string)) {
      fail("sequence item " + std::to_string(index) + ": expected str instance, " + std::string(type_name(item)) + " found");
    }
    if (index++ > 0) text.append(self.text());
    text.append(fitting(self, item.text()));
    runtime.charge_text(self.text().size());
    if (text.size() > kMaxTextBytes) break;
  }
  return like(runtime, self, std::move(text));
}

template <bool prefix>
Value remove(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Text& text = self.text();
  const std::string& part = to_string(arguments.require(0, "prefix", "remove"), "the affix").bytes();
  if (prefix) return text.bytes().starts_with(part) ? runtime.string(text.slice(part.size(), text.size())) : self;
  return text.bytes().ends_with(part) ? runtime.string(text.slice(0, text.size() - part.size())) : self;
}

enum class Side : std::uint8_t { left, right, both };

template <Side side>
Value justify(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::int64_t width = to_integer(arguments.require(0, "width", "justify"), "width");
  const Value fill = arguments.get(1, "fillchar", Value::string(" "));
  const std::string& mark = to_string(fill, "the fill character").bytes();
  if (count_characters(mark) != 1) fail("The fill character must be exactly one character long");
  if (side == Side::both) return runtime.string(centred(runtime, self.text(), width, mark));
  const Text pad = spaces(runtime, width - static_cast<std::int64_t>(count_characters(self.text().bytes())), mark);
  Text result = side == Side::right ? pad : Text();
  result.append(self.text());
  if (side == Side::left) result.append(pad);
  return like(runtime, self, std::move(result));
}

Value zfill(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const Text& text = self.text();
  const std::int64_t width = to_integer(arguments.require(0, "width", "zfill"), "width");
  const bool sign = text.bytes().starts_with('+') || text.bytes().starts_with('-');
  Text result = text.slice(0, sign ? 1 : 0);
  result.append(spaces(runtime, width - static_cast<std::int64_t>(count_characters(text.bytes())), "0"));
  result.append(text, sign ? 1 : 0, text.size());
  return like(runtime, self, std::move(result));
}

Value expandtabs(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const std::int64_t size = to_integer(arguments.get(0, "tabsize", Value(std::int64_t{8})), "tabsize");
  const Text& text = self.text();
  Text result;
  std::int64_t column = 0;
  for (std::size_t at = 0; at < text.size() && result.size() <= kMaxTextBytes;) {
    const CodePoint c = decode_utf8(text.bytes(), at);
    if (c.value == '\t') {
      const std::int64_t pad = size > 0 ? size - column % size : 0;
      result.append(spaces(runtime, pad));
      column += pad;
    } else {
      result.append(text, at, at + c.length);
      column = c.value == '\n' || c.value == '\r' ? 0 : column + 1;
    }
    at += c.length;
  }
  return like(runtime, self, std::move(result));
}

Value format(Runtime& runtime, const Value& self, const Arguments& arguments) {
  return brace_format(runtime, self.text(), arguments);
}

}  // namespace

const FunctionTable& string_methods() {
  static const FunctionTable table{
      {"upper", change_case<CaseChange::upper>}, {"lower", change_case<CaseChange::lower>},
      {"casefold", change_case<CaseChange::lower>}, {"title", change_case<CaseChange::title>},
      {"capitalize", change_case<CaseChange::capitalize>}, {"swapcase", change_case<CaseChange::swap>},
      {"strip", strip<true, true>}, {"lstrip", strip<true, false>}, {"rstrip", strip<false, true>},
      {"split", split<false>}, {"rsplit", split<true>}, {"splitlines", splitlines},
      {"partition", partition<false>}, {"rpartition", partition<true>}, {"replace", replace}, {"join", join},
      {"removeprefix", remove<true>}, {"removesuffix", remove<false>}, {"ljust", justify<Side::left>},
      {"rjust", justify<Side::right>}, {"center", justify<Side::both>}, {"zfill", zfill},
      {"expandtabs", expandtabs}, {"format", format}};
  return table;
}

}  // namespace tg::jinja
