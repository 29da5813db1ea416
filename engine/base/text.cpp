#include "engine/base/text.h"

#include <utf8proc.h>

namespace tg {
namespace {

std::uint32_t byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

// Length of the sequence a lead byte announces; 0: no lead byte.
std::uint32_t announced_length(std::uint32_t lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0) return 2;
  if (lead >= 0xE0 && lead < 0xF0) return 3;
  if (lead >= 0xF0 && lead < 0xF5) return 4;
  return 0;
}

bool is_printable(std::uint32_t code_point) {
  if (code_point == ' ') return true;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(code_point))) {
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return false;
    default:
      return true;
  }
}

void append_escaped(std::string& out, std::string_view bytes) {
  static constexpr char digits[] = "0123456789ABCDEF";
  for (const char c : bytes) {
    const auto b = static_cast<unsigned char>(c);
    out += "\\x";
    out += digits[b >> 4];
    out += digits[b & 15];
  }
}

}  // namespace

CodePoint decode_utf8(std::string_view text, std::size_t at) {
  const std::uint32_t lead = byte_at(text, at);
  const std::uint32_t length = announced_length(lead);
  if (length == 1) return {lead, 1, true};
  if (length == 0 || text.size() - at < length) return {};
  std::uint32_t value = lead & (0x7FU >> length);
  for (std::uint32_t i = 1; i < length; ++i) {
    const std::uint32_t b = byte_at(text, at + i);
    if ((b & 0xC0) != 0x80) return {};
    value = value << 6 | (b & 0x3F);
  }
  const bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
  if (overlong || (value >= 0xD800 && value < 0xE000) || value > 0x10FFFF) return {};
  return {value, length, true};
}

void append_utf8(std::string& out, std::uint32_t code_point) {
  const auto push = [&out](std::uint32_t b) { out += static_cast<char>(static_cast<unsigned char>(b)); };
  if (code_point < 0x80) {
    push(code_point);
  } else if (code_point < 0x800) {
    push(0xC0 | code_point >> 6);
    push(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    push(0xE0 | code_point >> 12);
    push(0x80 | (code_point >> 6 & 0x3F));
    push(0x80 | (code_point & 0x3F));
  } else {
    push(0xF0 | code_point >> 18);
    push(0x80 | (code_point >> 12 & 0x3F));
    push(0x80 | (code_point >> 6 & 0x3F));
    push(0x80 | (code_point & 0x3F));
  }
}

std::string printable(std::string_view bytes, std::size_t max_characters) {
  std::string out;
  std::size_t characters = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    const CodePoint c = decode_utf8(bytes, at);
    const bool plain = c.valid && is_printable(c.value);
    characters += plain ? 1 : 4 * c.length;
    if (characters > max_characters) return out + "...";
    const std::string_view source = bytes.substr(at, c.length);
    if (plain) {
      out += source;
    } else {
      append_escaped(out, source);
    }
    at += c.length;
  }
  return out;
}

}  // namespace tg
