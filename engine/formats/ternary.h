// Ternary formats: values -1, 0, 1 (TQ2_0 can hold 2) with one scale per 256. Included by traits.h.
#pragma once
#include "engine/formats/traits.h"

namespace tg {

template <>
struct Traits<Format::TQ1_0> : BlockTraits<256, 54, 32, false, -1, 1> {
  // A byte holds five ternary digits as a fraction of 3^5, rounded up; multiplying by 3 brings the next digit to the
  // top.
  TG_FORMAT_INLINE int digit(int byte, int n) {
    constexpr int powers[5] = {1, 3, 9, 27, 81};
    return ((byte * powers[n] & 0xFF) * 3 >> 8) - 1;
  }
  // COUNT bytes of DIGITS digits each: digit n of byte i is element n * COUNT + i.
  TG_FORMAT_INLINE void unpack_digits(const std::byte* packed, int count, int digits, std::int8_t* q) {
    for (int n = 0; n < digits; ++n) {
      for (int i = 0; i < count; ++i) q[n * count + i] = as_q(digit(byte_at(packed, i), n));
    }
  }
  TG_FORMAT_INLINE void unpack(const std::byte* block, std::int8_t* q, float* scale, float*) {
    for (int g = 0; g < groups; ++g) scale[g] = load_f16(block + 52);
    unpack_digits(block, 32, 5, q);
    unpack_digits(block + 32, 16, 5, q + 160);
    unpack_digits(block + 48, 4, 4, q + 240);
  }
};

template <>
struct Traits<Format::TQ2_0> : BlockTraits<256, 66, 32, false, -1, 2> {
  TG_FORMAT_INLINE void unpack(const std::byte* block, std::int8_t* q, float* scale, float*) {
    for (int g = 0; g < groups; ++g) scale[g] = load_f16(block + 64);
    for (int i = 0; i < elements; ++i) {
      q[i] = as_q((byte_at(block, i / 128 * 32 + i % 32) >> 2 * (i % 128 / 32) & 3) - 1);
    }
  }
};

}  // namespace tg
