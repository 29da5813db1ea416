// UTF-8 helpers for bytes that come from untrusted files.
// Thread: pure functions. Invalid UTF-8 is never an error here: it has a defined outcome.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace tg {

struct CodePoint {
  std::uint32_t value = 0xFFFD;  // U+FFFD where the bytes are not UTF-8
  std::uint32_t length = 1;      // bytes consumed; 1 for an invalid byte
  bool valid = false;
};

// Decodes the character that starts at text[at]; at < text.size(). Overlong forms, surrogates and values above U+10FFFF
// are invalid.
CodePoint decode_utf8(std::string_view text, std::size_t at);
void append_utf8(std::string& out, std::uint32_t code_point);

// BYTES as one printable line for a message: controls, invisible characters and invalid bytes become \xHH, and
// what is longer than MAX_CHARACTERS ends in "...".
std::string printable(std::string_view bytes, std::size_t max_characters = 80);

}  // namespace tg
