// The alphabet of byte-level BPE (GPT-2): each byte is written as one printable character, so that vocabularies are
// text.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace tg {

// Character that stands for BYTE.
std::uint32_t byte_to_character(unsigned char byte);
// Bytes that TEXT (vocabulary spelling) stands for; characters outside the alphabet stay as they are.
std::string decode_byte_alphabet(std::string_view text);
// Vocabulary spelling of BYTES.
std::string encode_byte_alphabet(std::string_view bytes);

}  // namespace tg
