#include "engine/chat_template/format_spec.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>

#include "engine/base/text.h"
#include "engine/chat_template/string_helpers.h"

namespace tg::jinja {
namespace {

std::string in_base(std::uint64_t value, unsigned base) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string digits;
  do {
    digits.insert(digits.begin(), kDigits[value % base]);
    value /= base;
  } while (value != 0);
  return digits;
}

std::string with_commas(std::string digits) {
  const std::size_t whole = std::min(digits.find_first_not_of("0123456789"), digits.size());
  for (std::size_t at = whole; at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

// Digits without sign, and a prefix such as 0x.
std::string integer_digits(std::int64_t value, const FormatSpec& spec, std::string& prefix) {
  const std::uint64_t size = value < 0 ? ~static_cast<std::uint64_t>(value) + 1 : static_cast<std::uint64_t>(value);
  const char kind = static_cast<char>(std::tolower(static_cast<unsigned char>(spec.type)));
  const unsigned base = kind == 'x' ? 16 : (kind == 'o' ? 8 : (kind == 'b' ? 2 : 10));
  std::string digits = in_base(size, base);
  if (spec.alternate && base != 10) prefix = std::string("0") + spec.type;
  if (spec.type == 'X') std::transform(digits.begin(), digits.end(), digits.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return spec.commas ? with_commas(std::move(digits)) : digits;
}

std::string real_digits(double value, const FormatSpec& spec) {
  const double size = std::fabs(value);
  if (!std::isfinite(size)) return std::isnan(size) ? "nan" : "inf";
  const bool percent = spec.type == '%';
  const int precision = std::min(spec.precision < 0 ? 6 : spec.precision, 300);
  char buffer[700];
  if (spec.type == '\0' && spec.precision < 0) return spec.commas ? with_commas(real_text(size)) : real_text(size);
  const char type = percent ? 'f' : (spec.type == '\0' || spec.type == 'n' ? 'g' : spec.type);
  const char form[] = {'%', '.', '*', type, '\0'};
  std::snprintf(buffer, sizeof buffer, form, precision, percent ? size * 100 : size);
  std::string digits = buffer;
  if (spec.commas) digits = with_commas(std::move(digits));
  return percent ? digits + "%" : digits;
}

Text padded(Runtime& runtime, const Text& body, const FormatSpec& spec, char align) {
  const std::int64_t room = spec.width - static_cast<std::int64_t>(count_characters(body.bytes()));
  if (room <= 0) return body;
  const std::int64_t left = align == '<' ? 0 : (align == '^' ? room / 2 : room);
  Text result = spaces(runtime, left, spec.fill);
  result.append(body);
  result.append(spaces(runtime, room - left, spec.fill));
  return result;
}

Text number(Runtime& runtime, const Value& value, const FormatSpec& spec) {
  static constexpr std::string_view kRealTypes = "eEfFgG%n";
  const bool real = value.is(Kind::real) || (spec.type != '\0' && kRealTypes.find(spec.type) != std::string_view::npos);
  static constexpr std::string_view kIntegerTypes = "dxXobi";
  const bool known = spec.type == '\0' || real || kIntegerTypes.find(spec.type) != std::string_view::npos;
  if (!known || (value.is(Kind::real) && spec.type != '\0' && kRealTypes.find(spec.type) == std::string_view::npos)) {
    fail("Unknown format code '" + printable({&spec.type, 1}) + "' for object of type '" + (value.is(Kind::real) ? "float'" : "int'"));
  }
  std::string prefix;
  const bool negative = value.is(Kind::real) ? std::signbit(value.real()) && !std::isnan(value.real()) : value.integer() < 0;
  std::string digits = real ? real_digits(value.real(), spec) : integer_digits(value.integer(), spec, prefix);
  if (!real && spec.precision > static_cast<int>(digits.size())) {  // "%.3d"
    digits.insert(0, static_cast<std::size_t>(spec.precision) - digits.size(), '0');
  }
  const std::string sign = negative ? "-" : (spec.sign == '-' ? "" : std::string(1, spec.sign));
  const std::string head = sign + prefix;
  const bool inner = spec.align == '=' || (spec.zero && spec.align == '\0');
  if (!inner) return padded(runtime, Text(head + digits), spec, spec.align == '\0' ? '>' : spec.align);
  const std::int64_t room = spec.width - static_cast<std::int64_t>(head.size() + digits.size());
  Text result(head);
  result.append(spaces(runtime, room, spec.zero ? "0" : spec.fill));
  result.append(digits);
  return result;
}

}  // namespace

FormatSpec parse_format_spec(std::string_view spec) {
  FormatSpec result;
  std::size_t at = 0;
  const auto peek = [&](std::size_t ahead = 0) { return at + ahead < spec.size() ? spec[at + ahead] : '\0'; };
  const auto is_align = [](char c) { return c == '<' || c == '>' || c == '^' || c == '='; };
  const auto read_int = [&](int& out) {
    out = 0;
    for (; std::isdigit(static_cast<unsigned char>(peek())) != 0; ++at) {
      out = out * 10 + (peek() - '0');
      if (out > kMaxFieldWidth) fail("Too many decimal digits in format string");
    }
  };
  if (!spec.empty()) {
    const std::size_t first = decode_utf8(spec, 0).length;
    if (is_align(peek(first))) {
      result.fill = spec.substr(0, first);
      result.align = peek(first);
      at = first + 1;
    } else if (is_align(peek())) {
      result.align = spec[at++];
    }
  }
  if (peek() == '+' || peek() == '-' || peek() == ' ') result.sign = spec[at++];
  if (peek() == '#') result.alternate = ++at > 0;
  if (peek() == '0') result.zero = ++at > 0;
  read_int(result.width);
  if (peek() == ',' || peek() == '_') result.commas = ++at > 0;
  if (peek() == '.') {
    ++at;
    read_int(result.precision);
  }
  if (at < spec.size()) result.type = spec[at++];
  if (at < spec.size()) fail("Invalid format specifier");
  return result;
}

Text formatted(Runtime& runtime, const Value& value, const FormatSpec& spec) {
  const bool word = value.is(Kind::boolean) && spec.type == '\0' && spec.width == 0;  // True; with a width Python prints 1
  if (value.is_number() && !word && spec.type != 's') return number(runtime, value, spec);
  if (spec.type != '\0' && spec.type != 's') {
    fail(std::string("Unknown format code '") + spec.type + "' for object of type '" + std::string(type_name(value)) + "'");
  }
  Text text = to_text(runtime, value);
  if (spec.precision >= 0) text = text.slice(0, offset_of_character(text.bytes(), static_cast<std::size_t>(spec.precision)));
  return padded(runtime, text, spec, spec.align == '\0' ? '<' : spec.align);
}

}  // namespace tg::jinja
