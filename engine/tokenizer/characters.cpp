#include "engine/tokenizer/characters.h"

#include <utf8proc.h>

#include <array>

#include "engine/base/text.h"

namespace tg {
namespace {

// The White_Space property of Unicode; categories alone would miss the controls and take in U+200B.
bool is_white_space(std::uint32_t c) {
  if (c == ' ' || (c >= 0x09 && c <= 0x0D)) return true;
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
         c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_han(std::uint32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) ||
         (c >= 0x2A700 && c <= 0x2EBEF) || (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

CharClass class_of_category(utf8proc_category_t category) {
  switch (category) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LT:
      return CharClass::upper;
    case UTF8PROC_CATEGORY_LL:
      return CharClass::lower;
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return CharClass::letter;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
      return CharClass::mark;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return CharClass::number;
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO:
      return CharClass::punctuation;
    case UTF8PROC_CATEGORY_SM:
    case UTF8PROC_CATEGORY_SC:
    case UTF8PROC_CATEGORY_SK:
    case UTF8PROC_CATEGORY_SO:
      return CharClass::symbol;
    default:
      return CharClass::other;
  }
}

CharClass classify(std::uint32_t c) {
  if (is_white_space(c)) return CharClass::space;
  const CharClass by_category = class_of_category(utf8proc_category(static_cast<utf8proc_int32_t>(c)));
  return is_letter(by_category) && is_han(c) ? CharClass::han : by_category;
}

std::array<CharClass, 128> ascii_classes() {
  std::array<CharClass, 128> classes{};
  for (std::uint32_t c = 0; c < classes.size(); ++c) classes[c] = classify(c);
  return classes;
}

}  // namespace

Characters characters_of(std::string_view text) {
  static const std::array<CharClass, 128> ascii = ascii_classes();
  Characters out;
  out.code_points.reserve(text.size());
  out.classes.reserve(text.size());
  out.offsets.reserve(text.size() + 1);
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_utf8(text, at);
    out.offsets.push_back(static_cast<std::uint32_t>(at));
    out.code_points.push_back(c.value);
    out.classes.push_back(c.value < ascii.size() ? ascii[c.value] : classify(c.value));
    at += c.length;
  }
  out.offsets.push_back(static_cast<std::uint32_t>(text.size()));
  return out;
}

}  // namespace tg
