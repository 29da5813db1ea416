#include "engine/tokenizer/byte_alphabet.h"

#include "engine/base/text.h"

namespace tg {
namespace {

bool stands_for_itself(std::uint32_t byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || (byte >= 0xAE && byte <= 0xFF);
}

// The other 68 bytes take U+0100 upwards, in order.
struct Alphabet {
  std::array<std::uint32_t, 256> character{};
  std::array<std::int16_t, 0x144> byte{};  // -1: no byte
  constexpr Alphabet() = default;
};

Alphabet make_alphabet() {
  Alphabet a;
  a.byte.fill(-1);
  std::uint32_t next = 0x100;
  for (std::uint32_t b = 0; b < 256; ++b) {
    a.character[b] = stands_for_itself(b) ? b : next++;
    a.byte[a.character[b]] = static_cast<std::int16_t>(b);
  }
  return a;
}

const Alphabet& alphabet() {
  static const Alphabet a = make_alphabet();
  return a;
}

}  // namespace

std::uint32_t byte_to_character(unsigned char byte) {
  return alphabet().character[byte];
}

std::string decode_byte_alphabet(std::string_view text) {
  const Alphabet& a = alphabet();
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_utf8(text, at);
    const int byte = c.valid && c.value < a.byte.size() ? a.byte[c.value] : -1;
    if (byte >= 0) {
      out += static_cast<char>(static_cast<unsigned char>(byte));
    } else {
      out += text.substr(at, c.length);
    }
    at += c.length;
  }
  return out;
}

std::string encode_byte_alphabet(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const char c : bytes) append_utf8(out, byte_to_character(static_cast<unsigned char>(c)));
  return out;
}

}  // namespace tg
