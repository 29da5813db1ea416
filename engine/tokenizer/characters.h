// A text as characters with the Unicode classes that pre-tokenizers ask for.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace tg {

enum class CharClass : std::uint8_t { upper, lower, letter, han, mark, number, punctuation, symbol, space, other };

struct Characters {
  std::vector<std::uint32_t> code_points;  // U+FFFD where a byte is no UTF-8
  std::vector<CharClass> classes;
  std::vector<std::uint32_t> offsets;  // first byte of each character; one more entry: the size of the text
  std::size_t size() const { return code_points.size(); }
};

Characters characters_of(std::string_view text);

constexpr bool is_letter(CharClass c) {
  return c <= CharClass::han;
}
constexpr bool is_space(CharClass c) {
  return c == CharClass::space;
}

}  // namespace tg
