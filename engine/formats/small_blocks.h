// Formats with one scale per block of 32 (Q1_0: 128, Q2_0: 64). Included by traits.h.
#pragma once
#include "engine/formats/traits.h"

namespace tg {

// 16 bytes: low nibbles are elements 0-15, high nibbles 16-31.
TG_FORMAT_INLINE void unpack_nibbles(const std::byte* packed, int offset, std::int8_t* q) {
  for (int i = 0; i < 16; ++i) {
    q[i] = as_q(low_nibble(packed, i) - offset);
    q[i + 16] = as_q(high_nibble(packed, i) - offset);
  }
}

// The same with a fifth bit per element in HIGH_BITS.
TG_FORMAT_INLINE void unpack_nibbles5(const std::byte* packed, std::uint32_t high_bits, int offset, std::int8_t* q) {
  for (int i = 0; i < 16; ++i) {
    const int low = static_cast<int>(high_bits >> i & 1) << 4;
    const int high = static_cast<int>(high_bits >> (i + 16) & 1) << 4;
    q[i] = as_q((low_nibble(packed, i) | low) - offset);
    q[i + 16] = as_q((high_nibble(packed, i) | high) - offset);
  }
}

template <>
struct Traits<Format::Q4_0> : BlockTraits<32, 18, 32, false, -8, 7> {
  TG_FORMAT_INLINE void unpack(const std::byte* block, std::int8_t* q, float* scale, float*) {
    scale[0] = load_f16(block);
    unpack_nibbles(block + 2, 8, q);
  }
};

template <>
struct Traits<Format::Q4_1> : BlockTraits<32, 20, 32, true, 0, 15> {
  TG_FORMAT_INLINE void unpack(const std::byte* block, std::int8_t* q, float* scale, float* min) {
    scale[0] = load_f16(block);
    min[0] = load_f16(block + 2);
    unpack_nibbles(block + 4, 0, q);
  }
};

template <>
struct Traits<Format::Q5_0> : BlockTraits<32, 22, 32, false, -16, 15> {
  TG_FORMAT_INLINE void unpack(const std::byte* block, std::int8_t* q, float* scale, float*) {
    scale[0] = load_f16(block);
    unpack_nibbles5(block + 6, load<std::uint32_t>(block + 2), 16, q);
  }
};

template <>
struct Traits<Format::Q5_1> : BlockTraits<32, 24, 32, true, 0, 31> {
  TG_FORMAT_INLINE void unpack(const std::byte* block, std::int8_t* q, float* scale, float* min) {
    scale[0] = load_f16(block);
    min[0] = load_f16(block + 2);
    unpack_nibbles5(block + 8, load<std::uint32_t>(block + 4), 0, q);
  }
};

template <>
struct Traits<Format::Q8_0> : BlockTraits<32, 34, 32, false, -128, 127> {
  TG_FORMAT_INLINE void unpack(const std::byte* block, std::int8_t* q, float* scale, float*) {
    scale[0] = load_f16(block);
    std::memcpy(q, block + 2, 32);
  }
};

template <>
struct Traits<Format::Q1_0> : BlockTraits<128, 18, 32, false, -1, 1> {
  TG_FORMAT_INLINE void unpack(const std::byte* block, std::int8_t* q, float* scale, float*) {
    for (int g = 0; g < groups; ++g) scale[g] = load_f16(block);
    for (int i = 0; i < elements; ++i) q[i] = as_q((byte_at(block + 2, i / 8) >> i % 8 & 1) * 2 - 1);
  }
};

template <>
struct Traits<Format::Q2_0> : BlockTraits<64, 18, 32, false, -1, 2> {
  TG_FORMAT_INLINE void unpack(const std::byte* block, std::int8_t* q, float* scale, float*) {
    for (int g = 0; g < groups; ++g) scale[g] = load_f16(block);
    for (int i = 0; i < elements; ++i) q[i] = as_q((byte_at(block + 2, i / 4) >> 2 * (i % 4) & 3) - 1);
  }
};

}  // namespace tg
