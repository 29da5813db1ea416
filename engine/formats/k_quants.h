// K formats: super-blocks of 256 whose groups have small integer scales. Included by traits.h.
#pragma once
#include "engine/formats/traits.h"

namespace tg {

// Q2_K and Q3_K keep four layers of two bits in 32 bytes: layer j of half h are elements 128 h + 32 j + (0..31).
TG_FORMAT_INLINE int two_bits(const std::byte* packed, int i) {
  return byte_at(packed, i / 128 * 32 + i % 32) >> 2 * (i % 128 / 32) & 3;
}

template <>
struct Traits<Format::Q2_K> : BlockTraits<256, 84, 16, true, 0, 3> {
  TG_FORMAT_INLINE void unpack(const std::byte* block, std::int8_t* q, float* scale, float* min) {
    const float d = load_f16(block + 80);
    const float d_min = load_f16(block + 82);
    for (int g = 0; g < groups; ++g) {
      scale[g] = d * static_cast<float>(low_nibble(block, g));
      min[g] = -(d_min * static_cast<float>(high_nibble(block, g)));
    }
    for (int i = 0; i < elements; ++i) q[i] = as_q(two_bits(block + 16, i));
  }
};

template <>
struct Traits<Format::Q3_K> : BlockTraits<256, 110, 16, false, -4, 3> {
  // 16 scales of 6 bits: low four bits in nibbles of bytes 0-7, high two bits in four layers of bytes 8-11.
  TG_FORMAT_INLINE int group_scale(const std::byte* packed, int g) {
    const int low = g < 8 ? low_nibble(packed, g) : high_nibble(packed, g - 8);
    const int high = byte_at(packed, 8 + g % 4) >> 2 * (g / 4) & 3;
    return (low | high << 4) - 32;
  }
  TG_FORMAT_INLINE void unpack(const std::byte* block, std::int8_t* q, float* scale, float*) {
    const float d = load_f16(block + 108);
    for (int g = 0; g < groups; ++g) scale[g] = d * static_cast<float>(group_scale(block + 96, g));
    for (int i = 0; i < elements; ++i) {
      const int high = byte_at(block, i % 32) >> i / 32 & 1;
      q[i] = as_q(two_bits(block + 32, i) - (high ? 0 : 4));
    }
  }
};

// Eight (scale, min) pairs of 6 bits in 12 bytes, as Q4_K and Q5_K have them; d and d_min lie in front.
TG_FORMAT_INLINE void unpack_scale_min(const std::byte* block, float* scale, float* min) {
  const float d = load_f16(block);
  const float d_min = load_f16(block + 2);
  const std::byte* packed = block + 4;
  for (int g = 0; g < 8; ++g) {
    int s = byte_at(packed, g % 4) & 63;
    int m = byte_at(packed, g % 4 + 4) & 63;
    if (g >= 4) {
      s = low_nibble(packed, g + 4) | byte_at(packed, g - 4) >> 6 << 4;
      m = high_nibble(packed, g + 4) | byte_at(packed, g) >> 6 << 4;
    }
    scale[g] = d * static_cast<float>(s);
    min[g] = -(d_min * static_cast<float>(m));
  }
}

template <>
struct Traits<Format::Q4_K> : BlockTraits<256, 144, 32, true, 0, 15> {
  TG_FORMAT_INLINE void unpack(const std::byte* block, std::int8_t* q, float* scale, float* min) {
    unpack_scale_min(block, scale, min);
    const std::byte* packed = block + 16;
    for (int pair = 0; pair < 4; ++pair) {  // 32 bytes: low nibbles are one group, high nibbles the next
      for (int i = 0; i < 32; ++i) {
        q[pair * 64 + i] = as_q(low_nibble(packed, pair * 32 + i));
        q[pair * 64 + 32 + i] = as_q(high_nibble(packed, pair * 32 + i));
      }
    }
  }
};

template <>
struct Traits<Format::Q5_K> : BlockTraits<256, 176, 32, true, 0, 31> {
  TG_FORMAT_INLINE void unpack(const std::byte* block, std::int8_t* q, float* scale, float* min) {
    unpack_scale_min(block, scale, min);
    const std::byte* high = block + 16;  // bit g of byte i: fifth bit of element i of group g
    const std::byte* packed = block + 48;
    for (int pair = 0; pair < 4; ++pair) {
      for (int i = 0; i < 32; ++i) {
        const int bits = byte_at(high, i) >> 2 * pair;
        q[pair * 64 + i] = as_q(low_nibble(packed, pair * 32 + i) | (bits & 1) << 4);
        q[pair * 64 + 32 + i] = as_q(high_nibble(packed, pair * 32 + i) | (bits & 2) << 3);
      }
    }
  }
};

template <>
struct Traits<Format::Q6_K> : BlockTraits<256, 210, 16, false, -32, 31> {
  TG_FORMAT_INLINE void unpack(const std::byte* block, std::int8_t* q, float* scale, float*) {
    const float d = load_f16(block + 208);
    for (int g = 0; g < groups; ++g) scale[g] = d * static_cast<float>(load<std::int8_t>(block + 192 + g));
    for (int half = 0; half < 2; ++half) {
      const std::byte* low = block + half * 64;
      const std::byte* high = block + 128 + half * 32;
      std::int8_t* out = q + half * 128;
      for (int i = 0; i < 32; ++i) {
        const int bits = byte_at(high, i);
        out[i] = as_q((low_nibble(low, i) | (bits & 3) << 4) - 32);
        out[i + 32] = as_q((low_nibble(low, i + 32) | (bits >> 2 & 3) << 4) - 32);
        out[i + 64] = as_q((high_nibble(low, i) | (bits >> 4 & 3) << 4) - 32);
        out[i + 96] = as_q((high_nibble(low, i + 32) | (bits >> 6 & 3) << 4) - 32);
      }
    }
  }
};

}  // namespace tg
