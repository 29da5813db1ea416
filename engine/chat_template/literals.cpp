#include "engine/chat_template/literals.h"

#include <charconv>

#include "engine/base/text.h"
#include "engine/chat_template/lexer.h"

namespace tg::jinja {
namespace {

bool digit_of(char c, int base) {
  const int value = c >= '0' && c <= '9' ? c - '0' : (c >= 'a' && c <= 'f' ? c - 'a' + 10 : (c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99));
  return value < base;
}

// Digits with single underscores between; returns the end.
std::size_t read_digits(std::string_view source, std::size_t at, int base, std::string& digits) {
  while (at < source.size()) {
    if (digit_of(source[at], base)) {
      digits.push_back(source[at++]);
    } else if (source[at] == '_' && at + 1 < source.size() && digit_of(source[at + 1], base)) {
      ++at;
    } else {
      break;
    }
  }
  return at;
}

int base_of(std::string_view source, std::size_t at) {
  if (source[at] != '0' || at + 2 >= source.size()) return 10;
  const char c = source[at + 1];
  const int base = c == 'x' || c == 'X' ? 16 : (c == 'o' || c == 'O' ? 8 : (c == 'b' || c == 'B' ? 2 : 10));
  const std::size_t first = at + 2 + (source[at + 2] == '_' ? 1 : 0);
  return base != 10 && first < source.size() && digit_of(source[first], base) ? base : 10;
}

// ".5" and "e+3" behind whole digits.
std::size_t read_fraction(std::string_view source, std::size_t at, std::string& digits, bool& is_real) {
  const auto digit_at = [source](std::size_t i) { return i < source.size() && digit_of(source[i], 10); };
  if (at < source.size() && source[at] == '.' && digit_at(at + 1)) {
    digits.push_back('.');
    at = read_digits(source, at + 1, 10, digits);
    is_real = true;
  }
  if (at < source.size() && (source[at] == 'e' || source[at] == 'E')) {
    std::size_t first = at + 1;
    if (first < source.size() && (source[first] == '+' || source[first] == '-')) ++first;
    if (!digit_at(first)) return at;
    digits.push_back('e');
    if (source[first - 1] == '-') digits.push_back('-');
    at = read_digits(source, first, 10, digits);
    is_real = true;
  }
  return at;
}

std::size_t read_hex(std::string_view text, std::size_t at, std::size_t count, std::uint32_t& value) {
  value = 0;
  std::size_t n = 0;
  for (; n < count && at + n < text.size() && digit_of(text[at + n], 16); ++n) {
    const char c = text[at + n];
    value = value * 16 + static_cast<std::uint32_t>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
  }
  return n;
}

// Simple escapes; 0: not one of them.
char simple_escape(char c) {
  switch (c) {
    case 'n': return '\n';
    case 't': return '\t';
    case 'r': return '\r';
    case 'a': return '\a';
    case 'b': return '\b';
    case 'f': return '\f';
    case 'v': return '\v';
    case '\\':
    case '\'':
    case '"': return c;
    default: return '\0';
  }
}

std::size_t append_octal(std::string_view text, std::size_t at, std::string& out) {
  std::uint32_t value = 0;
  std::size_t n = 0;
  for (; n < 3 && at + n < text.size() && digit_of(text[at + n], 8); ++n) {
    value = value * 8 + static_cast<std::uint32_t>(text[at + n] - '0');
  }
  append_utf8(out, value);
  return n;
}

}  // namespace

NumberLiteral read_number_literal(std::string_view source, std::size_t at, bool allow_fraction) {
  NumberLiteral number;
  std::string digits;
  const int base = base_of(source, at);
  std::size_t end = read_digits(source, base == 10 ? at : at + 2, base, digits);
  if (base == 10 && allow_fraction) end = read_fraction(source, end, digits, number.is_real);
  number.end = end;
  const char* first = digits.data();
  const char* last = first + digits.size();
  const auto result = number.is_real ? std::from_chars(first, last, number.real)
                                     : std::from_chars(first, last, number.integer, base);
  number.valid = result.ec == std::errc{} && result.ptr == last;
  return number;
}

std::string unescape(std::string_view text, int line) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] != '\\' || i + 1 >= text.size()) {
      out.push_back(text[i++]);
      continue;
    }
    const char c = text[i + 1];
    i += 2;
    if (c == '\n') continue;  // a line continued
    if (const char simple = simple_escape(c); simple != '\0') {
      out.push_back(simple);
    } else if (digit_of(c, 8)) {
      i += append_octal(text, i - 1, out) - 1;
    } else if (c == 'x' || c == 'u' || c == 'U') {
      const std::size_t count = c == 'x' ? 2 : (c == 'u' ? 4 : 8);
      std::uint32_t value = 0;
      if (read_hex(text, i, count, value) != count || value > 0x10FFFF) fail_at(line, "a string has a broken escape");
      append_utf8(out, value);
      i += count;
    } else {
      out.push_back('\\');
      out.push_back(c);
    }
  }
  return out;
}

std::size_t space_length(std::string_view text, std::size_t at) {
  const CodePoint c = decode_utf8(text, at);
  return is_space(c.value) ? c.length : 0;
}

}  // namespace tg::jinja
