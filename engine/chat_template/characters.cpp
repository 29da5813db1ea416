// Classes and case of characters, from the Unicode tables of utf8proc.
#include <utf8proc.h>

#include "engine/base/text.h"
#include "engine/chat_template/text.h"

namespace tg::jinja {
namespace {

utf8proc_category_t category(std::uint32_t c) { return utf8proc_category(static_cast<utf8proc_int32_t>(c)); }

// Characters whose capital form is more than one character (Unicode SpecialCasing, the unconditional common ones).
std::string_view special_upper(std::uint32_t c) {
  switch (c) {
    case 0x00DF: return "SS";
    case 0x0149: return "\xCA\xBCN";
    case 0x01F0: return "J\xCC\x8C";
    case 0xFB00: return "FF";
    case 0xFB01: return "FI";
    case 0xFB02: return "FL";
    case 0xFB03: return "FFI";
    case 0xFB04: return "FFL";
    case 0xFB05:
    case 0xFB06: return "ST";
    default: return {};
  }
}

std::string_view special_title(std::uint32_t c) {
  switch (c) {
    case 0x00DF: return "Ss";
    case 0xFB00: return "Ff";
    case 0xFB01: return "Fi";
    case 0xFB02: return "Fl";
    case 0xFB03: return "Ffi";
    case 0xFB04: return "Ffl";
    case 0xFB05:
    case 0xFB06: return "St";
    default: return special_upper(c);
  }
}

enum class Form : std::uint8_t { upper, lower, title };

void append_form(std::string& out, std::uint32_t c, std::string_view bytes, Form form) {
  if (c < 0x80) {
    const bool small = c >= 'a' && c <= 'z';
    const bool capital = c >= 'A' && c <= 'Z';
    if (small && form != Form::lower) c -= 32;
    if (capital && form == Form::lower) c += 32;
    out.push_back(static_cast<char>(c));
    return;
  }
  if (!decode_utf8(bytes, 0).valid) {
    out.append(bytes);
    return;
  }
  const auto code = static_cast<utf8proc_int32_t>(c);
  if (form == Form::lower) {
    if (c == 0x0130) {
      out.append("i\xCC\x87");
    } else {
      append_utf8(out, static_cast<std::uint32_t>(utf8proc_tolower(code)));
    }
    return;
  }
  const std::string_view special = form == Form::upper ? special_upper(c) : special_title(c);
  if (!special.empty()) {
    out.append(special);
  } else {
    append_utf8(out, static_cast<std::uint32_t>(form == Form::upper ? utf8proc_toupper(code) : utf8proc_totitle(code)));
  }
}

}  // namespace

bool is_space(std::uint32_t c) {
  if (c < 0x80) return c == ' ' || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
         c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_printable(std::uint32_t c) {
  if (c < 0x80) return c >= 0x20 && c < 0x7F;
  switch (category(c)) {
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_ZS: return false;
    default: return true;
  }
}

bool is_letter(std::uint32_t c) {
  const utf8proc_category_t k = category(c);
  return k == UTF8PROC_CATEGORY_LU || k == UTF8PROC_CATEGORY_LL || k == UTF8PROC_CATEGORY_LT ||
         k == UTF8PROC_CATEGORY_LM || k == UTF8PROC_CATEGORY_LO;
}

bool is_digit(std::uint32_t c) { return category(c) == UTF8PROC_CATEGORY_ND; }
bool is_upper(std::uint32_t c) { return utf8proc_isupper(static_cast<utf8proc_int32_t>(c)) != 0; }
bool is_lower(std::uint32_t c) { return utf8proc_islower(static_cast<utf8proc_int32_t>(c)) != 0; }
bool is_cased(std::uint32_t c) { return is_upper(c) || is_lower(c) || category(c) == UTF8PROC_CATEGORY_LT; }

Text with_case(const Text& text, CaseChange change) {
  bool start = true;  // title: of a word; capitalize: of the text
  return mapped(text, [&start, change](std::uint32_t c, std::string_view bytes, std::string& out) {
    Form form = Form::lower;
    switch (change) {
      case CaseChange::upper: form = Form::upper; break;
      case CaseChange::lower: break;
      case CaseChange::swap: form = is_lower(c) ? Form::upper : Form::lower; break;
      case CaseChange::title:
        if (start) form = Form::title;
        start = !is_cased(c);
        break;
      case CaseChange::capitalize:
        if (start) form = Form::title;
        start = false;
        break;
    }
    append_form(out, c, bytes, form);
  });
}

}  // namespace tg::jinja
