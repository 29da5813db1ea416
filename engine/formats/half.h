// 16-bit floats and unaligned reads. Everything is always inlined: kernel files compile it with other instruction sets,
// and an out-of-line copy of theirs must never be the one the linker keeps for all.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#define TG_FORMAT_INLINE [[gnu::always_inline]] static inline

namespace tg {

template <class T>
TG_FORMAT_INLINE T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

TG_FORMAT_INLINE float bf16_to_f32(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

// Exact for every bit pattern; NaN keeps its payload.
TG_FORMAT_INLINE float f16_to_f32(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000) << 16;
  const std::uint32_t exponent = bits >> 10 & 0x1F;
  const std::uint32_t mantissa = bits & 0x3FF;
  if (exponent == 0) {  // zero and subnormals: mantissa * 2^-24 is exact
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
  }
  const std::uint32_t wide = exponent == 31 ? 0xFFU : exponent + (127 - 15);
  return std::bit_cast<float>(sign | wide << 23 | mantissa << 13);
}

TG_FORMAT_INLINE float load_f16(const std::byte* at) {
  return f16_to_f32(load<std::uint16_t>(at));
}

}  // namespace tg
