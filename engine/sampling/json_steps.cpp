#include "engine/sampling/json_steps.h"

#include <string_view>

namespace tg {
namespace {

constexpr std::int64_t kLargest = 999'999'999'999'999'999;  // 18 digits

bool is_hex(unsigned char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

int narrow_step(int step, unsigned char byte) {
  switch (step) {
    case kAfterE0: return byte >= 0xA0 && byte < 0xC0 ? kTail + 1 : -1;
    case kAfterED: return byte >= 0x80 && byte < 0xA0 ? kTail + 1 : -1;
    case kAfterF0: return byte >= 0x90 && byte < 0xC0 ? kTail + 2 : -1;
    default: return byte >= 0x80 && byte < 0x90 ? kTail + 2 : -1;
  }
}

// Escaped halves of a pair stand only together, or the text cannot be read.
int pair_step(int step, unsigned char byte) {
  const int lower = byte | 0x20;
  switch (step) {
    case kHexAfterD: return !is_hex(byte) ? -1 : byte < '8' ? kHex + 2 : lower < 'c' ? kFirstHalf1 : -1;
    case kFirstHalf1: return is_hex(byte) ? kFirstHalf2 : -1;
    case kFirstHalf2: return is_hex(byte) ? kPairSlash : -1;
    case kPairSlash: return byte == '\\' ? kPairU : -1;
    case kPairU: return byte == 'u' ? kPairD : -1;
    case kPairD: return lower == 'd' ? kPairLow : -1;
    default: return is_hex(byte) && lower >= 'c' ? kHex + 2 : -1;
  }
}

}  // namespace

bool is_digit(unsigned char c) { return c >= '0' && c <= '9'; }

int string_step(int step, unsigned char byte) {
  if (step == kEscape) {
    if (byte == 'u') return kHex + 4;
    return std::string_view("\"\\/bfnrt").find(static_cast<char>(byte)) != std::string_view::npos ? kPlain : -1;
  }
  if (step >= kHexAfterD) return pair_step(step, byte);
  if (step >= kAfterE0) return narrow_step(step, byte);
  if (step == kHex + 4 && (byte | 0x20) == 'd') return kHexAfterD;
  if (step > kTail) return (byte & 0xC0U) == 0x80U ? (step == kTail + 1 ? kPlain : step - 1) : -1;
  if (step > kHex) return is_hex(byte) ? (step == kHex + 1 ? kPlain : step - 1) : -1;
  if (byte == '\\') return kEscape;
  if (byte < 0x20) return -1;
  if (byte < 0x80) return kPlain;
  if (byte >= 0xC2 && byte < 0xE0) return kTail + 1;
  if (byte >= 0xE0 && byte < 0xF0) return byte == 0xE0 ? kAfterE0 : (byte == 0xED ? kAfterED : kTail + 2);
  if (byte == 0xF0) return kAfterF0;
  return byte == 0xF4 ? kAfterF4 : (byte > 0xF0 && byte < 0xF4 ? kTail + 3 : -1);
}

int number_step(int step, unsigned char byte, bool integer) {
  switch (step) {
    case kMinus: return byte == '0' ? kZero : (is_digit(byte) ? kDigits : -1);
    case kZero:
    case kDigits:
      if (is_digit(byte)) return step == kDigits ? kDigits : -1;
      if (integer) return -1;
      return byte == '.' ? kPoint : (byte == 'e' || byte == 'E' ? kExponent : -1);
    case kPoint: return is_digit(byte) ? kFraction : -1;
    case kFraction: return is_digit(byte) ? kFraction : (byte == 'e' || byte == 'E' ? kExponent : -1);
    case kExponent:
      if (byte == '+' || byte == '-') return kExponentSign;
      return is_digit(byte) ? kExponentDigits : -1;
    default: return is_digit(byte) ? kExponentDigits : -1;
  }
}

bool may_become(std::int64_t number, bool negative, bool final, const SchemaNode& limits) {
  const std::int64_t low = limits.minimum.value_or(-kLargest), high = limits.maximum.value_or(kLargest);
  std::int64_t least = number, most = number;
  while (true) {
    if ((negative ? -least : most) >= low && (negative ? -most : least) <= high) return true;
    if (final || number == 0 || most > kLargest / 10) return false;
    least *= 10;
    most = most * 10 + 9;
  }
}

int max_digits(int step) { return step == kExponentDigits ? 2 : (step == kDigits ? 18 : 20); }

}  // namespace tg
