// Formats whose nibbles index a fixed table of values: E2M1 floats (MXFP4, NVFP4) and the IQ4 table. Included by
// traits.h.
#pragma once
#include "engine/formats/traits.h"

namespace tg {

// Twice the E2M1 values (OCP microscaling specification 1.0), so that they are integers; scales are halved to match.
inline constexpr std::int8_t kE2m1Doubled[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
inline constexpr std::int8_t kIq4Values[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                               1,    13,   25,  38,  53,  69,  89,  113};

// COUNT bytes: low nibbles are the first COUNT elements, high nibbles the next.
TG_FORMAT_INLINE void unpack_by_table(const std::byte* packed, int count, const std::int8_t* table, std::int8_t* q) {
  for (int i = 0; i < count; ++i) {
    q[i] = table[low_nibble(packed, i)];
    q[i + count] = table[high_nibble(packed, i)];
  }
}

// Half of 2^(e - 127), exact also where the result is subnormal.
TG_FORMAT_INLINE float half_e8m0(int e) {
  const auto exponent = static_cast<std::uint32_t>(e);
  return std::bit_cast<float>(e < 2 ? 0x00200000U << exponent : (exponent - 1) << 23);
}

// Half of an unsigned E4M3 float (bias 7); 0x7F, its NaN, counts as zero.
TG_FORMAT_INLINE float half_ue4m3(int bits) {
  const int exponent = bits >> 3 & 15;
  const auto mantissa = static_cast<float>(bits & 7);
  if (bits == 0x7F) return 0;
  if (exponent == 0) return mantissa * 0x1p-10F;
  const float power = std::bit_cast<float>(static_cast<std::uint32_t>(exponent - 8 + 127) << 23);
  return (1 + mantissa / 8) * power;
}

template <>
struct Traits<Format::MXFP4> : BlockTraits<32, 17, 32, false, -12, 12> {
  TG_FORMAT_INLINE void unpack(const std::byte* block, std::int8_t* q, float* scale, float*) {
    scale[0] = half_e8m0(byte_at(block, 0));
    unpack_by_table(block + 1, 16, kE2m1Doubled, q);
  }
};

template <>
struct Traits<Format::NVFP4> : BlockTraits<64, 36, 16, false, -12, 12> {
  TG_FORMAT_INLINE void unpack(const std::byte* block, std::int8_t* q, float* scale, float*) {
    for (int g = 0; g < groups; ++g) {
      scale[g] = half_ue4m3(byte_at(block, g));
      unpack_by_table(block + 4 + g * 8, 8, kE2m1Doubled, q + g * 16);
    }
  }
};

template <>
struct Traits<Format::IQ4_NL> : BlockTraits<32, 18, 32, false, -127, 113> {
  TG_FORMAT_INLINE void unpack(const std::byte* block, std::int8_t* q, float* scale, float*) {
    scale[0] = load_f16(block);
    unpack_by_table(block + 2, 16, kIq4Values, q);
  }
};

template <>
struct Traits<Format::IQ4_XS> : BlockTraits<256, 136, 32, false, -127, 113> {
  TG_FORMAT_INLINE void unpack(const std::byte* block, std::int8_t* q, float* scale, float*) {
    const float d = load_f16(block);
    const int high = load<std::uint16_t>(block + 2);
    for (int g = 0; g < groups; ++g) {
      const int s = (nibble_at(block + 4, g) | (high >> 2 * g & 3) << 4) - 32;
      scale[g] = d * static_cast<float>(s);
      unpack_by_table(block + 8 + g * 16, 16, kIq4Values, q + g * 32);
    }
  }
};

}  // namespace tg
