// Loaders of the formats whose bits are codes: rows of a code book with signs apart (IQ1, IQ2, IQ3), or five ternary digits a byte (TQ1_0).
// Continues weight_loaders.h; codes, signs and scales of a block are found as in engine/formats/iq_quants.h, word by word instead of byte by
// byte.
#pragma once
#include "engine/device/cpu/simd_codebook.h"
#include "engine/device/cpu/weight_loaders.h"

namespace tg::cpu {
namespace {

// Seven signs a byte, an even number of minuses with the eighth.
TG_INLINE VI with_even_sign(VI sevens) {
  alignas(16) static constexpr std::int8_t kOdd[16] = {0, -128, -128, 0, -128, 0, 0, -128, -128, 0, 0, -128, 0, -128, -128, 0};
  return ior(sevens, lookup16(kOdd, low4(ixor(sevens, ishr(sevens, 4)))));
}
// (d * (1/2 + n)) * unit
TG_INLINE VF half_step_scale(VF d, VI n, float unit) { return vmul(vmul(d, vadd(vset(0.5F), to_float(n))), vset(unit)); }
// d * (2 n + 1)
TG_INLINE VF odd_scale(VF d, VI n) { return vmul(d, to_float(iadd(iadd(n, n), iset(1)))); }
// Byte i of a row of bytes that begins at word `first`.
TG_INLINE VI byte_of(const std::byte* words, int first, int i) { return iand(ishr(word(words, first + i / 4), 8 * (i % 4)), iset(255)); }
TG_INLINE VI low_nibble(VI x) { return iand(x, iset(15)); }

// Groups of 16 with a nibble each; those of one block of 32 share a byte.
TG_INLINE void nibble_scales(VF d, VI byte, Unpacked& u) {
  u.scale[0] = half_step_scale(d, low_nibble(byte), 0.25F);
  u.scale[1] = half_step_scale(d, ishr(byte, 4), 0.25F);
}

template <>
struct Loader<Format::IQ2_XXS> {
  static constexpr int kBlocks = 8, kGroups = 1, kOffset = 43;
  static constexpr bool kMin = false, kWide = false;
  TG_INLINE static void load(const std::byte* t, int b, Unpacked& u) {
    const VI codes = word(t + 32, 2 * b), rest = word(t + 32, 2 * b + 1);
    u.scale[0] = half_step_scale(load_half(t), ishr(rest, 28), 0.25F);
    signed_codes8<Format::IQ2_XXS>(codes, iset(0), with_even_sign(fields_to_bytes<7>(rest)), u.q);
  }
};

template <>
struct Loader<Format::IQ2_XS> {
  static constexpr int kBlocks = 8, kGroups = 2, kOffset = 43;
  static constexpr bool kMin = false, kWide = false;
  TG_INLINE static void load(const std::byte* t, int b, Unpacked& u) {
    const std::byte* w = t + 32;
    nibble_scales(load_half(t), byte_of(w, 16, b), u);
    const VI pair = word(w, 2 * b), next = word(w, 2 * b + 1);  // 16 bits a code: nine of index, seven signs
    const VI low = every_second_byte<0>(pair, next), high = every_second_byte<1>(pair, next);
    signed_codes8<Format::IQ2_XS>(low, iand(high, iset8(1)), with_even_sign(iand(ishr(high, 1), iset8(127))), u.q);
  }
};

template <>
struct Loader<Format::IQ2_S> {
  static constexpr int kBlocks = 8, kGroups = 2, kOffset = 43;
  static constexpr bool kMin = false, kWide = false;
  TG_INLINE static void load(const std::byte* t, int b, Unpacked& u) {
    const std::byte* w = t + 32;
    nibble_scales(load_half(t), byte_of(w, 18, b), u);
    signed_codes8<Format::IQ2_S>(word(w, b), fields_to_bytes<2>(byte_of(w, 16, b)), word(w, 8 + b), u.q);
  }
};

template <>
struct Loader<Format::IQ3_XXS> {
  static constexpr int kBlocks = 8, kGroups = 1, kOffset = 62;
  static constexpr bool kMin = false, kWide = false;
  TG_INLINE static void load(const std::byte* t, int b, Unpacked& u) {
    const std::byte* w = t + 32;
    const VI rest = word(w, 16 + b), signs = with_even_sign(fields_to_bytes<7>(rest));
    u.scale[0] = half_step_scale(load_half(t), ishr(rest, 28), 0.5F);
    signed_codes4<Format::IQ3_XXS, 0>(word(w, 2 * b), iset(0), signs, u.q);
    signed_codes4<Format::IQ3_XXS, 4>(word(w, 2 * b + 1), iset(0), signs, u.q + 4);
  }
};

template <>
struct Loader<Format::IQ3_S> {
  static constexpr int kBlocks = 8, kGroups = 1, kOffset = 15;
  static constexpr bool kMin = false, kWide = false;
  TG_INLINE static void load(const std::byte* t, int b, Unpacked& u) {
    const std::byte* w = t + 32;
    u.scale[0] = odd_scale(load_half(t), low_nibble(ishr(word(w, 26), 4 * b)));
    const VI high = word(w, 16 + b / 4), signs = word(w, 18 + b), zero = iset(0);
    const int quad = 2 * (b % 4);
    signed_codes4<Format::IQ3_S, 0>(word(w, 2 * b), add_where_bit(zero, high, quad, 1), signs, u.q);
    signed_codes4<Format::IQ3_S, 4>(word(w, 2 * b + 1), add_where_bit(zero, high, quad + 1, 1), signs, u.q + 4);
  }
};

template <>
struct Loader<Format::IQ1_S> {
  static constexpr int kBlocks = 8, kGroups = 1, kOffset = 9;
  static constexpr bool kMin = false, kWide = false;
  TG_INLINE static void load(const std::byte* t, int b, Unpacked& u) {
    const std::byte* w = t + 32;
    const VI rest = ishr(word(w, 8 + b / 2), 16 * (b % 2));  // four times three bits of code, scale, sign of the eighth
    u.scale[0] = vmul(odd_scale(load_half(t), iand(ishr(rest, 12), iset(7))), vset(0.125F));
    eighth_codes8(word(w, b), fields_to_bytes<3>(rest), isar(ishl(rest, 16), 31), u.q);
  }
};

template <>
struct Loader<Format::IQ1_M> {
  static constexpr int kBlocks = 8, kGroups = 2, kOffset = 9;
  static constexpr bool kMin = false, kWide = false;
  TG_INLINE static void load(const std::byte* t, int b, Unpacked& u) {
    const VI first = word(t, 12), second = word(t, 13), top = iset(0xf000);  // the scale of all stands in the top nibbles of four 16-bit words
    const VI low = ior(ishr(iand(first, top), 12), iand(ishr(first, 24), iset(0xf0)));
    const VF d = half_low(ior(low, ior(ishr(iand(second, top), 4), iand(ishr(second, 16), top))));
    const VI scales = ishr(b < 4 ? first : second, 16 * (b / 2 % 2) + 6 * (b % 2));
    u.scale[0] = vmul(odd_scale(d, iand(scales, iset(7))), vset(0.125F));
    u.scale[1] = vmul(odd_scale(d, iand(ishr(scales, 3), iset(7))), vset(0.125F));
    const VI nibbles = fields_to_bytes<4>(ishr(word(t, 8 + b / 2), 16 * (b % 2)));  // three bits of a code, the sign of the eighth
    const VI minus = iand(ishr(nibbles, 3), iset8(1));
    eighth_codes8(word(t, b), iand(nibbles, iset8(7)), isub(ishl(minus, 8), minus), u.q);
  }
};

// Bytes times 3 to the power of N, modulo 256.
template <int N>
TG_INLINE VI times_power_of_3(VI x) {
  if constexpr (N == 0) {
    return x;
  } else if constexpr (N % 2 != 0) {
    const VI y = times_power_of_3<N - 1>(x);
    return iadd8(iadd8(y, y), y);
  } else {
    const VI y = times_power_of_3<N - 2>(x);
    return iadd8(iand(ishl(y, 3), iset8(-8)), y);
  }
}
TG_INLINE VI ternary_digit(VI x, int n) {
  switch (n) {
    case 0: return top_third(x);
    case 1: return top_third(times_power_of_3<1>(x));
    case 2: return top_third(times_power_of_3<2>(x));
    case 3: return top_third(times_power_of_3<3>(x));
    default: return top_third(times_power_of_3<4>(x));
  }
}

template <>
struct Loader<Format::TQ1_0> {
  static constexpr int kBlocks = 8, kGroups = 1, kOffset = 1;
  static constexpr bool kMin = false, kWide = false;
  TG_INLINE static void load(const std::byte* t, int b, Unpacked& u) {
    u.scale[0] = load_half(t);
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      const int tail = 8 * (b - 5) + i;  // after five digits of 8 words come five digits of 4 words, then four digits of one
      if (b < 5) {
        u.q[i] = ternary_digit(word(t + 32, i), b);
      } else {
        u.q[i] = tail < 20 ? ternary_digit(word(t + 32, 8 + tail % 4), tail / 4) : ternary_digit(word(t + 32, 12), tail - 20);
      }
    }
  }
};

}  // namespace
}  // namespace tg::cpu
