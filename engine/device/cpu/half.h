// IEEE half and bfloat16 against float, in integer arithmetic: the same bits on every machine.
#pragma once
#include <bit>
#include <cstdint>

namespace tg::cpu {

[[gnu::always_inline]] inline float half_to_float(std::uint16_t h) {
  const std::uint32_t sign = (h & 0x8000U) << 16, exponent = (h >> 10) & 31U, mantissa = h & 0x3ffU;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000U | (mantissa << 13));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;  // subnormal or zero
  return sign != 0 ? -magnitude : magnitude;
}

// Round to nearest, ties to even; overflow gives infinity, NaN stays NaN.
[[gnu::always_inline]] inline std::uint16_t float_to_half(float f) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(f), sign = (bits >> 16) & 0x8000U, magnitude = bits & 0x7fffffffU;
  if (magnitude > 0x7f800000U) return static_cast<std::uint16_t>(sign | 0x7e00U | ((magnitude >> 13) & 0x3ffU));
  if (magnitude >= 0x47800000U) return static_cast<std::uint16_t>(sign | 0x7c00U);
  if (magnitude < 0x38800000U) {  // subnormal half: adding 0.5 lets the float unit round at 2^-24
    const float rounded = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(rounded) - 0x3f000000U));
  }
  const std::uint32_t odd = (magnitude >> 13) & 1U;
  return static_cast<std::uint16_t>(sign | ((magnitude + 0xc8000fffU + odd) >> 13));
}

[[gnu::always_inline]] inline float bf16_to_float(std::uint16_t h) { return std::bit_cast<float>(static_cast<std::uint32_t>(h) << 16); }

[[gnu::always_inline]] inline std::uint16_t float_to_bf16(float f) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(f);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return static_cast<std::uint16_t>((bits >> 16) | 0x40U);
  return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

}  // namespace tg::cpu
