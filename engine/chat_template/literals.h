// Numbers and strings as a template writes them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace tg::jinja {

struct NumberLiteral {
  bool valid = true, is_real = false;
  std::int64_t integer = 0;
  double real = 0;
  std::size_t end = 0;  // first byte behind it
};

// SOURCE[at] is a digit. Knows 0x, 0o, 0b, underscores, fractions (where allowed) and exponents.
NumberLiteral read_number_literal(std::string_view source, std::size_t at, bool allow_fraction);
// Content of a string between its quotes, escapes as in Python.
std::string unescape(std::string_view text, int line);
// Bytes of the white-space character at AT, 0: none.
std::size_t space_length(std::string_view text, std::size_t at);

}  // namespace tg::jinja
