// Per format: 32 columns of a tile of 16 rows (weight_tiles.h) as 8 vectors of unsigned bytes, with scales and minima per group.
// Value = scale * (byte - offset) + min, the scale computed as the format defines it. Bit layouts are those of engine/formats.
// Every quantised format has one, here or in weight_loaders_codebook.h. Included by vector_matmul.h.
#pragma once
#include "engine/device/cpu/kernels.h"
#include "engine/formats/traits.h"

namespace tg::cpu {
namespace {

// 32 columns of 16 rows, ready to multiply.
struct Unpacked {
  VI q[8];        // q[j] byte 4 r + c: row r, column 4 j + c
  VF scale[2];    // per group (one used where the group is 32)
  VF min[2];
};

template <Format F>
struct Loader;  // kBlocks: groups of 32 per file block; load(tile block, i, out); kOffset

TG_INLINE VI word(const std::byte* words, int w) { return iload(words + w * 64); }
TG_INLINE VI low4(VI a) { return iand(a, iset8(15)); }
TG_INLINE VI high4(VI a) { return iand(ishr(a, 4), iset8(15)); }
TG_INLINE VF to_scale(VI a) { return to_float(a); }

// Nibbles of one block of 32: low ones are columns 0-15, high ones 16-31.
TG_INLINE void nibbles(const std::byte* words, VI* q) {
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const VI w = word(words, i);
    q[i] = low4(w);
    q[4 + i] = high4(w);
  }
}
TG_INLINE void fifth_bits(VI bits, VI* q) {
#pragma GCC unroll 8
  for (int j = 0; j < 8; ++j) q[j] = add_where_bit(q[j], bits, j, 16);
}

template <>
struct Loader<Format::Q4_0> {
  static constexpr int kBlocks = 1, kGroups = 1, kOffset = 8;
  static constexpr bool kMin = false, kWide = false;
  TG_INLINE static void load(const std::byte* t, int, Unpacked& u) {
    u.scale[0] = load_half(t);
    nibbles(t + 32, u.q);
  }
};

template <>
struct Loader<Format::Q4_1> {
  static constexpr int kBlocks = 1, kGroups = 1, kOffset = 0;
  static constexpr bool kMin = true, kWide = false;
  TG_INLINE static void load(const std::byte* t, int, Unpacked& u) {
    const VI dm = word(t, 0);
    u.scale[0] = half_low(dm);
    u.min[0] = half_high(dm);
    nibbles(t + 64, u.q);
  }
};

template <>
struct Loader<Format::Q5_0> {
  static constexpr int kBlocks = 1, kGroups = 1, kOffset = 16;
  static constexpr bool kMin = false, kWide = false;
  TG_INLINE static void load(const std::byte* t, int, Unpacked& u) {
    u.scale[0] = load_half(t);
    nibbles(t + 32 + 64, u.q);
    fifth_bits(word(t + 32, 0), u.q);
  }
};

template <>
struct Loader<Format::Q5_1> {
  static constexpr int kBlocks = 1, kGroups = 1, kOffset = 0;
  static constexpr bool kMin = true, kWide = false;
  TG_INLINE static void load(const std::byte* t, int, Unpacked& u) {
    const VI dm = word(t, 0);
    u.scale[0] = half_low(dm);
    u.min[0] = half_high(dm);
    nibbles(t + 128, u.q);
    fifth_bits(word(t, 1), u.q);
  }
};

template <>
struct Loader<Format::Q8_0> {
  static constexpr int kBlocks = 1, kGroups = 1, kOffset = 128;
  static constexpr bool kMin = false, kWide = true;
  TG_INLINE static void load(const std::byte* t, int, Unpacked& u) {
    u.scale[0] = load_half(t);
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) u.q[i] = ixor(word(t + 32, i), iset8(-128));
  }
};

// Eight 6-bit (scale, min) pairs in three words per row (Q4_K, Q5_K).
TG_INLINE void scale_min6(const std::byte* words, int g, Unpacked& u) {
  const VI dm = word(words, 0), w0 = word(words, 1), w1 = word(words, 2), w2 = word(words, 3);
  VI s, m;
  if (g < 4) {
    s = iand(ishr(w0, 8 * g), iset(63));
    m = iand(ishr(w1, 8 * g), iset(63));
  } else {
    const int i = 8 * (g - 4);
    s = ior(iand(ishr(w2, i), iset(15)), iand(ishr(w0, i + 2), iset(48)));
    m = ior(iand(ishr(w2, i + 4), iset(15)), iand(ishr(w1, i + 2), iset(48)));
  }
  u.scale[0] = vmul(half_low(dm), to_scale(s));
  u.min[0] = vsub(vset(0.0F), vmul(half_high(dm), to_scale(m)));
}

template <>
struct Loader<Format::Q4_K> {
  static constexpr int kBlocks = 8, kGroups = 1, kOffset = 0;
  static constexpr bool kMin = true, kWide = false;
  TG_INLINE static void load(const std::byte* t, int b, Unpacked& u) {
    scale_min6(t, b, u);
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      const VI w = word(t, 4 + 8 * (b / 2) + i);
      u.q[i] = b % 2 != 0 ? high4(w) : low4(w);
    }
  }
};

template <>
struct Loader<Format::Q5_K> {
  static constexpr int kBlocks = 8, kGroups = 1, kOffset = 0;
  static constexpr bool kMin = true, kWide = false;
  TG_INLINE static void load(const std::byte* t, int b, Unpacked& u) {
    scale_min6(t, b, u);
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      const VI w = word(t, 12 + 8 * (b / 2) + i);
      const VI high = ishl(iand(ishr(word(t, 4 + i), b), iset8(1)), 4);
      u.q[i] = ior(b % 2 != 0 ? high4(w) : low4(w), high);
    }
  }
};

TG_INLINE VI signed_byte(VI w, int i) { return isar(ishl(w, 24 - 8 * i), 24); }

template <>
struct Loader<Format::Q6_K> {
  static constexpr int kBlocks = 8, kGroups = 2, kOffset = 32;
  static constexpr bool kMin = false, kWide = false;
  TG_INLINE static void load(const std::byte* t, int b, Unpacked& u) {
    const VF d = load_half(t);
    const std::byte* w = t + 32;
    const int half = b / 4, part = b % 4;
    const VI scales = word(w, 48 + b / 2);
    u.scale[0] = vmul(d, to_scale(signed_byte(scales, b % 2 * 2)));
    u.scale[1] = vmul(d, to_scale(signed_byte(scales, b % 2 * 2 + 1)));
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      const VI low = word(w, 16 * half + part % 2 * 8 + i), high = ishr(word(w, 32 + 8 * half + i), 2 * part);
      u.q[i] = ior(part / 2 != 0 ? high4(low) : low4(low), ishl(iand(high, iset8(3)), 4));
    }
  }
};

template <>
struct Loader<Format::Q2_K> {
  static constexpr int kBlocks = 8, kGroups = 2, kOffset = 0;
  static constexpr bool kMin = true, kWide = false;
  TG_INLINE static void load(const std::byte* t, int b, Unpacked& u) {
    const VI scales = word(t, b / 2), dm = word(t, 20);
    const VF d = half_low(dm), d_min = half_high(dm);
    for (int g = 0; g < 2; ++g) {
      const VI s = ishr(scales, 8 * (b % 2 * 2 + g));
      u.scale[g] = vmul(d, to_scale(iand(s, iset(15))));
      u.min[g] = vsub(vset(0.0F), vmul(d_min, to_scale(iand(ishr(s, 4), iset(15)))));
    }
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) u.q[i] = iand(ishr(word(t, 4 + 8 * (b / 4) + i), 2 * (b % 4)), iset8(3));
  }
};

template <>
struct Loader<Format::Q3_K> {
  static constexpr int kBlocks = 8, kGroups = 2, kOffset = 4;
  static constexpr bool kMin = false, kWide = false;
  TG_INLINE static void load(const std::byte* t, int b, Unpacked& u) {
    const VF d = load_half(t);
    const std::byte* w = t + 32;
    for (int i = 0; i < 2; ++i) {
      const int g = 2 * b + i;
      const VI low = iand(ishr(word(w, 24 + g % 8 / 4), 8 * (g % 4) + (g < 8 ? 0 : 4)), iset(15));
      const VI high = iand(ishr(word(w, 26), 8 * (g % 4) + 2 * (g / 4)), iset(3));
      u.scale[i] = vmul(d, to_scale(isub(ior(low, ishl(high, 4)), iset(32))));
    }
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      const VI low = iand(ishr(word(w, 8 + 8 * (b / 4) + i), 2 * (b % 4)), iset8(3));
      u.q[i] = ior(low, ishl(iand(ishr(word(w, i), b), iset8(1)), 2));
    }
  }
};

// Nibbles that index a table of signed values.
TG_INLINE void table_nibbles(const std::byte* words, const std::int8_t* table, int offset, VI* q) {
  nibbles(words, q);
#pragma GCC unroll 8
  for (int j = 0; j < 8; ++j) q[j] = iadd8(lookup16(table, q[j]), iset8(offset));
}

template <>
struct Loader<Format::IQ4_NL> {
  static constexpr int kBlocks = 1, kGroups = 1, kOffset = 128;
  static constexpr bool kMin = false, kWide = true;
  TG_INLINE static void load(const std::byte* t, int, Unpacked& u) {
    u.scale[0] = load_half(t);
    table_nibbles(t + 32, kIq4Values, -128, u.q);
  }
};

template <>
struct Loader<Format::IQ4_XS> {
  static constexpr int kBlocks = 8, kGroups = 1, kOffset = 128;
  static constexpr bool kMin = false, kWide = true;
  TG_INLINE static void load(const std::byte* t, int b, Unpacked& u) {
    const VI head = word(t, 0);
    const VI low = iand(ishr(word(t, 1), 4 * b), iset(15)), high = iand(ishr(head, 16 + 2 * b), iset(3));
    u.scale[0] = vmul(half_low(head), to_scale(isub(ior(low, ishl(high, 4)), iset(32))));
    table_nibbles(t + 64 * (2 + 4 * b), kIq4Values, -128, u.q);
  }
};

template <>
struct Loader<Format::MXFP4> {
  static constexpr int kBlocks = 1, kGroups = 1, kOffset = 12;
  static constexpr bool kMin = false, kWide = false;
  TG_INLINE static void load(const std::byte* t, int, Unpacked& u) {
    // 2^(e - 128) as the product of two halves of the exponent: exact also where it is subnormal.
    const VI e = iand(load_i8(t), iset(255)), part = ishr(e, 1);
    u.scale[0] = vmul(vpow2(isub(part, iset(64))), vpow2(isub(isub(e, part), iset(64))));
    table_nibbles(t + 16, kE2m1Doubled, 12, u.q);
  }
};

// half_ue4m3 of engine/formats/fp4.h.
TG_INLINE VF half_ue4m3_lanes(VI bits) {
  const VF all = to_float(bits), mantissa = to_float(iand(bits, iset(7)));
  const VI exponent = iand(ishr(bits, 3), iset(15));
  const VMask subnormal = vless(to_float(exponent), vset(1.0F));
  const VF value = vmul(vselect(subnormal, mantissa, vadd(mantissa, vset(8.0F))),
                        vselect(subnormal, vset(0x1p-10F), vpow2(isub(exponent, iset(11)))));
  return vselect(vless(all, vset(127.0F)), value, vselect(vless(all, vset(128.0F)), vset(0.0F), value));
}

template <>
struct Loader<Format::NVFP4> {
  static constexpr int kBlocks = 2, kGroups = 2, kOffset = 12;
  static constexpr bool kMin = false, kWide = false;
  TG_INLINE static void load(const std::byte* t, int b, Unpacked& u) {
    const VI scales = word(t, 0), offset = iset8(12);
#pragma GCC unroll 2
    for (int g = 0; g < 2; ++g) {
      u.scale[g] = half_ue4m3_lanes(iand(ishr(scales, 8 * (2 * b + g)), iset(255)));
#pragma GCC unroll 2
      for (int i = 0; i < 2; ++i) {
        const VI w = word(t, 1 + 2 * (2 * b + g) + i);
        u.q[4 * g + i] = iadd8(lookup16(kE2m1Doubled, low4(w)), offset);
        u.q[4 * g + 2 + i] = iadd8(lookup16(kE2m1Doubled, high4(w)), offset);
      }
    }
  }
};

template <>
struct Loader<Format::TQ2_0> {
  static constexpr int kBlocks = 8, kGroups = 1, kOffset = 1;
  static constexpr bool kMin = false, kWide = false;
  TG_INLINE static void load(const std::byte* t, int b, Unpacked& u) {
    u.scale[0] = load_half(t);
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) u.q[i] = iand(ishr(word(t + 32, 8 * (b / 4) + i), 2 * (b % 4)), iset8(3));
  }
};

template <>
struct Loader<Format::Q1_0> {
  static constexpr int kBlocks = 4, kGroups = 1, kOffset = 1;
  static constexpr bool kMin = false, kWide = false;
  TG_INLINE static void load(const std::byte* t, int b, Unpacked& u) {
    u.scale[0] = load_half(t);
    const VI bits = word(t + 32, b);
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j) u.q[j] = add_where_bit(iset(0), bits, j, 2);
  }
};

template <>
struct Loader<Format::Q2_0> {
  static constexpr int kBlocks = 2, kGroups = 1, kOffset = 1;
  static constexpr bool kMin = false, kWide = false;
  TG_INLINE static void load(const std::byte* t, int b, Unpacked& u) {
    u.scale[0] = load_half(t);
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j) {  // one byte holds four columns: each pair of bits moves to a byte of its own
      const VI x = iand(ishr(word(t + 32, 2 * b + j / 4), 8 * (j % 4)), iset(255));
      u.q[j] = iand(ior(ior(x, ishl(x, 6)), ior(ishl(x, 12), ishl(x, 18))), iset8(3));
    }
  }
};

}  // namespace
}  // namespace tg::cpu
