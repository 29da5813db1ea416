// IQ formats below four bits: codes into code books of 4 or 8 magnitudes, signs apart. Included by traits.h.
#pragma once
#include "engine/formats/iq_tables.h"
#include "engine/formats/traits.h"

namespace tg {

// Writes COUNT magnitudes with the signs of a bit mask.
TG_FORMAT_INLINE void apply_signs(const std::int8_t* magnitudes, int count, int signs, std::int8_t* q) {
  for (int i = 0; i < count; ++i) q[i] = as_q(signs >> i & 1 ? -magnitudes[i] : magnitudes[i]);
}

// Seven stored signs; the eighth makes the number of minuses even.
TG_FORMAT_INLINE int even_signs(std::uint32_t seven) {
  const int odd = std::popcount(seven & 127) & 1;
  return static_cast<int>(seven & 127) | odd << 7;
}

template <>
struct Traits<Format::IQ2_XXS> : BlockTraits<256, 66, 32, false, -43, 43> {
  TG_FORMAT_INLINE void unpack(const std::byte* block, std::int8_t* q, float* scale, float*) {
    const float d = load_f16(block);
    for (int g = 0; g < groups; ++g) {
      const std::byte* codes = block + 2 + g * 8;
      const auto rest = load<std::uint32_t>(codes + 4);  // four times seven signs, four bits of scale
      scale[g] = d * (0.5F + static_cast<float>(rest >> 28)) * 0.25F;
      for (int i = 0; i < 4; ++i) {
        apply_signs(iq::kGrid2Xxs[byte_at(codes, i)], 8, even_signs(rest >> 7 * i), q + g * 32 + i * 8);
      }
    }
  }
};

template <>
struct Traits<Format::IQ2_XS> : BlockTraits<256, 74, 16, false, -43, 43> {
  TG_FORMAT_INLINE void unpack(const std::byte* block, std::int8_t* q, float* scale, float*) {
    const float d = load_f16(block);
    for (int g = 0; g < groups; ++g) scale[g] = d * (0.5F + static_cast<float>(nibble_at(block + 66, g))) * 0.25F;
    for (int i = 0; i < 32; ++i) {
      const std::uint32_t code = load<std::uint16_t>(block + 2 + i * 2);  // nine bits of index, seven signs
      apply_signs(iq::kGrid2Xs[code & 511], 8, even_signs(code >> 9), q + i * 8);
    }
  }
};

template <>
struct Traits<Format::IQ2_S> : BlockTraits<256, 82, 16, false, -43, 43> {
  TG_FORMAT_INLINE void unpack(const std::byte* block, std::int8_t* q, float* scale, float*) {
    const float d = load_f16(block);
    for (int g = 0; g < groups; ++g) scale[g] = d * (0.5F + static_cast<float>(nibble_at(block + 74, g))) * 0.25F;
    for (int i = 0; i < 32; ++i) {
      const int high = byte_at(block + 66, i / 4) >> 2 * (i % 4) & 3;
      apply_signs(iq::kGrid2S[byte_at(block + 2, i) | high << 8], 8, byte_at(block + 34, i), q + i * 8);
    }
  }
};

template <>
struct Traits<Format::IQ3_XXS> : BlockTraits<256, 98, 32, false, -62, 62> {
  TG_FORMAT_INLINE void unpack(const std::byte* block, std::int8_t* q, float* scale, float*) {
    const float d = load_f16(block);
    for (int g = 0; g < groups; ++g) {
      const std::byte* codes = block + 2 + g * 8;
      const auto rest = load<std::uint32_t>(block + 66 + g * 4);  // four times seven signs, four bits of scale
      scale[g] = d * (0.5F + static_cast<float>(rest >> 28)) * 0.5F;
      for (int i = 0; i < 8; ++i) {
        const int signs = even_signs(rest >> 7 * (i / 2)) >> 4 * (i % 2);
        apply_signs(iq::kGrid3Xxs[byte_at(codes, i)], 4, signs, q + g * 32 + i * 4);
      }
    }
  }
};

template <>
struct Traits<Format::IQ3_S> : BlockTraits<256, 110, 32, false, -15, 15> {
  TG_FORMAT_INLINE void unpack(const std::byte* block, std::int8_t* q, float* scale, float*) {
    const float d = load_f16(block);
    for (int g = 0; g < groups; ++g) scale[g] = d * static_cast<float>(1 + 2 * nibble_at(block + 106, g));
    for (int i = 0; i < 64; ++i) {
      const int high = byte_at(block + 66, i / 8) >> i % 8 & 1;
      const int signs = nibble_at(block + 74, i);
      apply_signs(iq::kGrid3S[byte_at(block + 2, i) | high << 8], 4, signs, q + i * 4);
    }
  }
};

// IQ1: value = scale * (grid ± 1/8). In eighths this is an integer, and an eighth of the scale is exact.
TG_FORMAT_INLINE void unpack_eighths(int code, bool minus, std::int8_t* q) {
  for (int i = 0; i < 8; ++i) q[i] = as_q(8 * iq::kGrid1[code][i] + (minus ? -1 : 1));
}

template <>
struct Traits<Format::IQ1_S> : BlockTraits<256, 50, 32, false, -9, 9> {
  TG_FORMAT_INLINE void unpack(const std::byte* block, std::int8_t* q, float* scale, float*) {
    const float d = load_f16(block);
    for (int g = 0; g < groups; ++g) {
      const int rest =
          load<std::uint16_t>(block + 34 + g * 2);  // four times three bits of code, scale, sign of the eighth
      scale[g] = d * static_cast<float>(2 * (rest >> 12 & 7) + 1) * 0.125F;
      for (int i = 0; i < 4; ++i) {
        const int code = byte_at(block + 2, g * 4 + i) | (rest >> 3 * i & 7) << 8;
        unpack_eighths(code, (rest & 0x8000) != 0, q + g * 32 + i * 8);
      }
    }
  }
};

template <>
struct Traits<Format::IQ1_M> : BlockTraits<256, 56, 16, false, -9, 9> {
  // The half-precision scale is spread over the top nibbles of the four words of group scales.
  TG_FORMAT_INLINE float block_scale(const std::byte* words) {
    int bits = 0;
    for (int i = 0; i < 4; ++i) bits |= (load<std::uint16_t>(words + i * 2) >> 12) << 4 * i;
    return f16_to_f32(static_cast<std::uint16_t>(bits));
  }
  TG_FORMAT_INLINE void unpack(const std::byte* block, std::int8_t* q, float* scale, float*) {
    const float d = block_scale(block + 48);
    for (int g = 0; g < groups; ++g) {
      const int s = load<std::uint16_t>(block + 48 + g / 4 * 2) >> 3 * (g % 4) & 7;
      scale[g] = d * static_cast<float>(2 * s + 1) * 0.125F;
    }
    for (int i = 0; i < 32; ++i) {
      const int high = nibble_at(block + 32, i);  // three bits of code, sign of the eighth
      unpack_eighths(byte_at(block, i) | (high & 7) << 8, (high & 8) != 0, q + i * 8);
    }
  }
};

}  // namespace tg
