#include "engine/chat_template/string_helpers.h"

#include <algorithm>
#include <charconv>
#include <cctype>
#include <cmath>

#include "engine/base/text.h"

namespace tg::jinja {
namespace {

bool is_line_break(std::uint32_t c) {
  return (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

std::string without_underscores(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool between = i > 0 && i + 1 < text.size() && std::isalnum(static_cast<unsigned char>(text[i - 1])) != 0 &&
                         std::isalnum(static_cast<unsigned char>(text[i + 1])) != 0;
    if (text[i] != '_' || !between) result.push_back(text[i]);
  }
  return result;
}

std::string cleaned(std::string_view text) {
  return without_underscores(trimmed(Text(std::string(text)), is_space, true, true).bytes());
}

}  // namespace

std::vector<Text> split_lines(const Text& text, bool keep_ends) {
  std::vector<Text> lines;
  const std::string_view bytes = text.bytes();
  std::size_t begin = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    const CodePoint c = decode_utf8(bytes, at);
    std::size_t next = at + c.length;
    if (is_line_break(c.value)) {
      if (c.value == '\r' && next < bytes.size() && bytes[next] == '\n') ++next;
      lines.push_back(text.slice(begin, keep_ends ? next : at));
      begin = next;
    }
    at = next;
  }
  if (begin < bytes.size()) lines.push_back(text.slice(begin, bytes.size()));
  return lines;
}

std::vector<Text> split_at(const Text& text, std::string_view separator, std::int64_t limit) {
  if (separator.empty()) fail("empty separator");
  std::vector<Text> parts;
  std::size_t begin = 0;
  for (; limit != 0; --limit) {
    const std::size_t hit = text.bytes().find(separator, begin);
    if (hit == std::string::npos) break;
    parts.push_back(text.slice(begin, hit));
    begin = hit + separator.size();
  }
  parts.push_back(text.slice(begin, text.size()));
  return parts;
}

std::vector<Text> split_at_right(const Text& text, std::string_view separator, std::int64_t limit) {
  if (separator.empty()) fail("empty separator");
  std::vector<Text> parts;
  std::size_t end = text.size();
  for (; limit != 0 && end >= separator.size(); --limit) {
    const std::size_t hit = text.bytes().rfind(separator, end - separator.size());
    if (hit == std::string::npos) break;
    parts.push_back(text.slice(hit + separator.size(), end));
    end = hit;
  }
  parts.push_back(text.slice(0, end));
  std::reverse(parts.begin(), parts.end());
  return parts;
}

std::vector<Text> split_words(const Text& text, std::int64_t limit) {
  std::vector<Text> words;
  const std::string_view bytes = text.bytes();
  std::size_t at = 0;
  while (true) {
    while (at < bytes.size() && is_space(decode_utf8(bytes, at).value)) at += decode_utf8(bytes, at).length;
    if (at >= bytes.size()) return words;
    if (limit-- == 0) {
      words.push_back(text.slice(at, bytes.size()));  // with the white space at its end, as Python
      return words;
    }
    const std::size_t begin = at;
    while (at < bytes.size() && !is_space(decode_utf8(bytes, at).value)) at += decode_utf8(bytes, at).length;
    words.push_back(text.slice(begin, at));
  }
}

std::vector<Text> split_words_right(const Text& text, std::int64_t limit) {
  std::vector<Text> words;
  const std::vector<std::size_t> offsets = character_offsets(text.bytes());
  const auto blank = [&](std::size_t i) { return is_space(decode_utf8(text.bytes(), offsets[i]).value); };
  std::size_t end = offsets.size() - 1;  // in characters
  while (true) {
    while (end > 0 && blank(end - 1)) --end;
    if (end == 0) break;
    if (limit-- == 0) {
      words.push_back(text.slice(0, offsets[end]));
      break;
    }
    const std::size_t last = end;
    while (end > 0 && !blank(end - 1)) --end;
    words.push_back(text.slice(offsets[end], offsets[last]));
  }
  std::reverse(words.begin(), words.end());
  return words;
}

Value list_of_texts(Runtime& runtime, std::vector<Text> parts, ListKind kind) {
  std::vector<Value> items;
  items.reserve(parts.size());
  for (Text& part : parts) items.push_back(runtime.string(std::move(part)));
  return runtime.list(std::move(items), kind);
}

Text spaces(Runtime& runtime, std::int64_t count, std::string_view fill) {
  if (count <= 0) return Text();
  if (static_cast<std::uint64_t>(count) > kMaxTextBytes / std::max<std::size_t>(fill.size(), 1)) {
    fail("The chat template makes too long a text.");
  }
  runtime.charge_text(static_cast<std::size_t>(count) * fill.size());
  std::string bytes;
  for (std::int64_t i = 0; i < count; ++i) bytes.append(fill);
  return Text(std::move(bytes));
}

Text stripped(const Text& text, const Value* chars, bool left, bool right) {
  if (chars == nullptr || chars->is(Kind::none)) return trimmed(text, is_space, left, right);
  std::vector<std::uint32_t> set;
  const std::string_view bytes = to_string(*chars, "strip arg").bytes();
  for (std::size_t at = 0; at < bytes.size();) {
    const CodePoint c = decode_utf8(bytes, at);
    set.push_back(c.value);
    at += c.length;
  }
  std::sort(set.begin(), set.end());
  return trimmed(text, [&set](std::uint32_t c) { return std::binary_search(set.begin(), set.end(), c); }, left, right);
}

Text centred(Runtime& runtime, const Text& text, std::int64_t width, std::string_view fill) {
  const std::int64_t room = width - static_cast<std::int64_t>(count_characters(text.bytes()));
  if (room <= 0) return text;
  const std::int64_t left = room / 2 + (room & width & 1);  // where Python puts the odd one
  Text result = spaces(runtime, left, fill);
  result.append(text);
  result.append(spaces(runtime, room - left, fill));
  result.set_markup(text.is_markup());
  return result;
}

std::optional<std::int64_t> parse_integer(std::string_view text, int base) {
  const std::string clean = cleaned(text);
  std::string_view digits = clean;
  bool negative = false;
  if (!digits.empty() && (digits[0] == '+' || digits[0] == '-')) {
    negative = digits[0] == '-';
    digits.remove_prefix(1);
  }
  if (digits.size() > 2 && digits[0] == '0') {
    const char mark = static_cast<char>(digits[1] | 0x20);
    const int marked = mark == 'x' ? 16 : (mark == 'o' ? 8 : (mark == 'b' ? 2 : 0));
    if (marked != 0 && (base == marked || base == 0)) {
      base = marked;
      digits.remove_prefix(2);
    }
  }
  if (base == 0) base = 10;
  if (digits.empty() || base < 2 || base > 36 || digits[0] == '-') return std::nullopt;
  std::int64_t value = 0;
  const std::string with_sign = (negative ? "-" : "") + std::string(digits);
  const auto result = std::from_chars(with_sign.data(), with_sign.data() + with_sign.size(), value, base);
  if (result.ec != std::errc{} || result.ptr != with_sign.data() + with_sign.size()) return std::nullopt;
  return value;
}

std::optional<double> parse_real(std::string_view text) {
  const std::string clean = cleaned(text);
  std::string_view digits = clean;
  if (!digits.empty() && digits[0] == '+') digits.remove_prefix(1);
  if (digits.empty() || digits.substr(0, 2) == "+-") return std::nullopt;
  double value = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (result.ptr != digits.data() + digits.size()) return std::nullopt;
  if (result.ec == std::errc::result_out_of_range) {
    const bool tiny = digits.find("e-") != std::string_view::npos || digits.find("E-") != std::string_view::npos;
    return tiny ? 0.0 : (digits[0] == '-' ? -HUGE_VAL : HUGE_VAL);
  }
  return result.ec == std::errc{} ? std::optional<double>(value) : std::nullopt;
}

}  // namespace tg::jinja
