// Sixteen lanes in four 128-bit registers: the vocabulary of vector_*.h on AArch64, with the dot product of Armv8.2 where the file that
// includes this is compiled for it. Everything is in an unnamed namespace so that no symbol can be shared with another instruction set.
#pragma once
#include <arm_neon.h>

#include <cstddef>
#include <cstdint>

namespace tg::cpu {
namespace {

#define TG_INLINE inline __attribute__((always_inline))

struct VF {  // 16 floats
  float32x4_t v[4];
};
struct VI {  // 16 int32, or 64 bytes
  int32x4_t v[4];
};
struct VMask {  // all bits of a lane set: yes
  uint32x4_t v[4];
};

// 32 registers: 3 columns x 4 integer and 4 float sums, 4 for the weights.
constexpr int kTilesAtOnce = 1, kColumns = 3;
constexpr int kFloatRows = 2, kFloatColumns = 3;  // for float weights: 24 sums
constexpr int kChains = 4;
constexpr int kValueQueries = 4, kValueVectors = 1;
constexpr int kByteQueries = 2, kByteVectors = 1;  // the same over bytes, two sums each

// A function of one register applied to all four, written out: a loop over v[i] keeps GCC from seeing registers until late and takes
// minutes to compile.
#define TG_ONE(f, x) {{f(x.v[0]), f(x.v[1]), f(x.v[2]), f(x.v[3])}}
#define TG_TWO(f, x, y) {{f(x.v[0], y.v[0]), f(x.v[1], y.v[1]), f(x.v[2], y.v[2]), f(x.v[3], y.v[3])}}
#define TG_THREE(f, x, y, z) \
  {{f(x.v[0], y.v[0], z.v[0]), f(x.v[1], y.v[1], z.v[1]), f(x.v[2], y.v[2], z.v[2]), f(x.v[3], y.v[3], z.v[3])}}
// A function of one register and the same second argument for all.
#define TG_WITH(f, x, y) {{f(x.v[0], y), f(x.v[1], y), f(x.v[2], y), f(x.v[3], y)}}
// A function of four addresses, `step` apart.
#define TG_AT(f, p, step) {{f((p)), f((p) + (step)), f((p) + 2 * (step)), f((p) + 3 * (step))}}

using F4 = float32x4_t;
using I4 = int32x4_t;
using U4 = uint32x4_t;
TG_INLINE I4 from_u8(uint8x16_t x) { return vreinterpretq_s32_u8(x); }
TG_INLINE uint8x16_t as_u8(I4 x) { return vreinterpretq_u8_s32(x); }
TG_INLINE int8x16_t as_s8(I4 x) { return vreinterpretq_s8_s32(x); }
TG_INLINE U4 as_u32(I4 x) { return vreinterpretq_u32_s32(x); }

TG_INLINE VF vset(float x) {
  const F4 one = vdupq_n_f32(x);
  return {{one, one, one, one}};
}
TG_INLINE VF vload(const float* p) { return TG_AT(vld1q_f32, p, 4); }
TG_INLINE void vstore(float* p, VF x) {
  vst1q_f32(p, x.v[0]);
  vst1q_f32(p + 4, x.v[1]);
  vst1q_f32(p + 8, x.v[2]);
  vst1q_f32(p + 12, x.v[3]);
}
TG_INLINE VF vadd(VF x, VF y) { return TG_TWO(vaddq_f32, x, y); }
TG_INLINE VF vsub(VF x, VF y) { return TG_TWO(vsubq_f32, x, y); }
TG_INLINE VF vmul(VF x, VF y) { return TG_TWO(vmulq_f32, x, y); }
TG_INLINE VF vdiv(VF x, VF y) { return TG_TWO(vdivq_f32, x, y); }
TG_INLINE VF vfma(VF x, VF y, VF z) { return TG_THREE(vfmaq_f32, z, x, y); }
// z = fma(x, y, z) for one of the kRegisters registers of a vector.
constexpr int kRegisters = 4;
template <int Register>
TG_INLINE void vfma_register(VF x, VF y, VF& z) {
  z.v[Register] = vfmaq_f32(z.v[Register], x.v[Register], y.v[Register]);
}
template <int>
TG_INLINE void hold_register(VF&) {}
TG_INLINE VF vmax(VF x, VF y) { return TG_TWO(vmaxq_f32, x, y); }
TG_INLINE VF vmin(VF x, VF y) { return TG_TWO(vminq_f32, x, y); }
TG_INLINE VF vabs(VF x) { return TG_ONE(vabsq_f32, x); }
TG_INLINE float vsum(VF x) { return vaddvq_f32(vaddq_f32(vaddq_f32(x.v[0], x.v[1]), vaddq_f32(x.v[2], x.v[3]))); }
// The sums of four vectors, each added in one order: the registers 0 + 1 and 2 + 3, both, then neighbouring lanes, then both pairs.
TG_INLINE F4 one_of_four(VF x) { return vaddq_f32(vaddq_f32(x.v[0], x.v[1]), vaddq_f32(x.v[2], x.v[3])); }
TG_INLINE void vsum4(VF a, VF b, VF c, VF d, float* to) {
  vst1q_f32(to, vpaddq_f32(vpaddq_f32(one_of_four(a), one_of_four(b)), vpaddq_f32(one_of_four(c), one_of_four(d))));
}
TG_INLINE float vtop(VF x) { return vmaxvq_f32(vmaxq_f32(vmaxq_f32(x.v[0], x.v[1]), vmaxq_f32(x.v[2], x.v[3]))); }
TG_INLINE VMask vless(VF x, VF y) { return TG_TWO(vcltq_f32, x, y); }
TG_INLINE VF vselect(VMask m, VF yes, VF no) { return TG_THREE(vbslq_f32, m, yes, no); }
TG_INLINE U4 lanes_between(I4 lane, int first, int end) {
  return vandq_u32(vcgeq_s32(lane, vdupq_n_s32(first)), vcltq_s32(lane, vdupq_n_s32(end)));
}
TG_INLINE VMask lanes_from_to(int first, int end) {  // lanes first <= i < end, any ints
  const std::int32_t four[4] = {0, 1, 2, 3};
  const I4 a = vld1q_s32(four), step = vdupq_n_s32(4), b = vaddq_s32(a, step), c = vaddq_s32(b, step);
  return {{lanes_between(a, first, end), lanes_between(b, first, end), lanes_between(c, first, end),
           lanes_between(vaddq_s32(c, step), first, end)}};
}
TG_INLINE F4 copysign4(F4 magnitude, F4 from) { return vbslq_f32(vdupq_n_u32(0x80000000U), from, magnitude); }
TG_INLINE VF vcopysign(VF magnitude, VF from) { return TG_TWO(copysign4, magnitude, from); }

TG_INLINE VI iset(int x) {
  const I4 one = vdupq_n_s32(x);
  return {{one, one, one, one}};
}
TG_INLINE VI iset8(int x) {
  const I4 one = vreinterpretq_s32_s8(vdupq_n_s8(static_cast<std::int8_t>(x)));
  return {{one, one, one, one}};
}
TG_INLINE I4 load4(const std::uint8_t* p) { return from_u8(vld1q_u8(p)); }
TG_INLINE VI iload(const void* p) { return TG_AT(load4, static_cast<const std::uint8_t*>(p), 16); }
TG_INLINE void istore(void* p, VI x) {
  auto* to = static_cast<std::uint8_t*>(p);
  vst1q_u8(to, as_u8(x.v[0]));
  vst1q_u8(to + 16, as_u8(x.v[1]));
  vst1q_u8(to + 32, as_u8(x.v[2]));
  vst1q_u8(to + 48, as_u8(x.v[3]));
}
TG_INLINE VI iand(VI x, VI y) { return TG_TWO(vandq_s32, x, y); }
TG_INLINE VI ior(VI x, VI y) { return TG_TWO(vorrq_s32, x, y); }
TG_INLINE VI ixor(VI x, VI y) { return TG_TWO(veorq_s32, x, y); }
TG_INLINE VI iadd(VI x, VI y) { return TG_TWO(vaddq_s32, x, y); }
TG_INLINE VI isub(VI x, VI y) { return TG_TWO(vsubq_s32, x, y); }
TG_INLINE I4 add_bytes(I4 x, I4 y) { return from_u8(vaddq_u8(as_u8(x), as_u8(y))); }
TG_INLINE VI iadd8(VI x, VI y) { return TG_TWO(add_bytes, x, y); }
// A negative count shifts to the right; counts are constants once the loops around are unrolled.
TG_INLINE I4 shift_logical(I4 x, I4 n) { return vreinterpretq_s32_u32(vshlq_u32(as_u32(x), n)); }
TG_INLINE VI ishl(VI x, int n) { return TG_WITH(vshlq_s32, x, vdupq_n_s32(n)); }
TG_INLINE VI ishr(VI x, int n) { return TG_WITH(shift_logical, x, vdupq_n_s32(-n)); }
TG_INLINE VI isar(VI x, int n) { return TG_WITH(vshlq_s32, x, vdupq_n_s32(-n)); }
TG_INLINE VF to_float(VI x) { return TG_ONE(vcvtq_f32_s32, x); }
TG_INLINE VI to_int(VF x) { return TG_ONE(vcvtnq_s32_f32, x); }  // nearest, ties to even
TG_INLINE F4 pow2_of(I4 n) { return vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(n, vdupq_n_s32(127)), 23)); }
TG_INLINE VF vpow2(VI n) { return TG_ONE(pow2_of, n); }
TG_INLINE int isum(VI x) { return vaddvq_s32(vaddq_s32(vaddq_s32(x.v[0], x.v[1]), vaddq_s32(x.v[2], x.v[3]))); }
TG_INLINE void store_i8(std::int8_t* p, VI x) {  // values fit
  const int16x8_t low = vcombine_s16(vmovn_s32(x.v[0]), vmovn_s32(x.v[1])), high = vcombine_s16(vmovn_s32(x.v[2]), vmovn_s32(x.v[3]));
  vst1q_s8(p, vcombine_s8(vmovn_s16(low), vmovn_s16(high)));
}
TG_INLINE VI load_i8(const void* p) {
  const int8x16_t bytes = vld1q_s8(static_cast<const std::int8_t*>(p));
  const int16x8_t low = vmovl_s8(vget_low_s8(bytes)), high = vmovl_high_s8(bytes);
  return {{vmovl_s16(vget_low_s16(low)), vmovl_high_s16(low), vmovl_s16(vget_low_s16(high)), vmovl_high_s16(high)}};
}

TG_INLINE F4 four_halves(uint16x4_t h) { return vcvt_f32_f16(vreinterpret_f16_u16(h)); }
TG_INLINE F4 load_halves(const std::uint16_t* p) { return four_halves(vld1_u16(p)); }
TG_INLINE F4 load_bf16s(const std::uint16_t* p) { return vreinterpretq_f32_u32(vshll_n_u16(vld1_u16(p), 16)); }
TG_INLINE void store_halves(std::uint16_t* p, F4 x) { vst1_u16(p, vreinterpret_u16_f16(vcvt_f16_f32(x))); }
TG_INLINE VF load_half(const void* p) { return TG_AT(load_halves, static_cast<const std::uint16_t*>(p), 4); }
TG_INLINE VF load_bf16(const void* p) { return TG_AT(load_bf16s, static_cast<const std::uint16_t*>(p), 4); }
TG_INLINE void store_half(void* p, VF x) {
  auto* to = static_cast<std::uint16_t*>(p);
  store_halves(to, x.v[0]);
  store_halves(to + 4, x.v[1]);
  store_halves(to + 8, x.v[2]);
  store_halves(to + 12, x.v[3]);
}
TG_INLINE float half_scalar(const void* p) {
  std::uint16_t h;
  __builtin_memcpy(&h, p, 2);
  return vgetq_lane_f32(four_halves(vdup_n_u16(h)), 0);
}
// Halves in the low or high 16 bits of each lane.
TG_INLINE F4 low_halves(I4 x) { return four_halves(vmovn_u32(as_u32(x))); }
TG_INLINE F4 high_halves(I4 x) { return four_halves(vshrn_n_u32(as_u32(x), 16)); }
TG_INLINE VF half_low(VI x) { return TG_ONE(low_halves, x); }
TG_INLINE VF half_high(VI x) { return TG_ONE(high_halves, x); }

// Sums of four products u8 * s8 per lane, added to acc; u8 at most 127, so that it may be read as signed.
// `wide_dot` takes weights that need all 8 bits, stored with an offset of 128, which it takes back itself.
#if defined(__ARM_FEATURE_DOTPROD)
TG_INLINE I4 dot4(I4 acc, I4 x, I4 y) { return vdotq_s32(acc, as_s8(x), as_s8(y)); }
#else
// Pairs of products fit 16 bits: 2 * 128 * 127 < 2^15.
TG_INLINE I4 dot4(I4 acc, I4 x, I4 y) {
  const int8x16_t a = as_s8(x), b = as_s8(y);
  return vpadalq_s16(acc, vpaddq_s16(vmull_s8(vget_low_s8(a), vget_low_s8(b)), vmull_high_s8(a, b)));
}
#endif
TG_INLINE VI dot(VI acc, VI u8, VI s8) { return TG_THREE(dot4, acc, u8, s8); }
TG_INLINE VI wide_start(int) { return iset(0); }
TG_INLINE VI wide_dot(VI acc, VI u8, VI s8) { return dot(acc, ixor(u8, iset8(-128)), s8); }

TG_INLINE void hold(VI&) {}  // sums of dot products are not copied here, as they are on x86
// Adds VALUE to byte c of a lane where bit 4 * quad + c of that lane of `bits` is set.
TG_INLINE I4 add_where4(I4 q, I4 bits, uint8x16_t from, uint8x16_t pick, uint8x16_t add) {
  return from_u8(vaddq_u8(as_u8(q), vandq_u8(vtstq_u8(vqtbl1q_u8(as_u8(bits), from), pick), add)));
}
TG_INLINE VI add_where_bit(VI q, VI bits, int quad, int value) {
  const std::uint8_t lanes[16] = {0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12};
  const uint8x16_t from = vaddq_u8(vld1q_u8(lanes), vdupq_n_u8(static_cast<std::uint8_t>(quad / 2)));
  const uint8x16_t pick = vreinterpretq_u8_u32(vdupq_n_u32(quad % 2 != 0 ? 0x80402010U : 0x08040201U));
  const uint8x16_t add = vdupq_n_u8(static_cast<std::uint8_t>(value));
  return {{add_where4(q.v[0], bits.v[0], from, pick, add), add_where4(q.v[1], bits.v[1], from, pick, add),
           add_where4(q.v[2], bits.v[2], from, pick, add), add_where4(q.v[3], bits.v[3], from, pick, add)}};
}
// table[i] for bytes 0 <= i < 16.
TG_INLINE I4 lookup4(I4 x, int8x16_t table) { return vreinterpretq_s32_s8(vqtbl1q_s8(table, as_u8(x))); }
TG_INLINE VI lookup16(const std::int8_t* table, VI x) { return TG_WITH(lookup4, x, vld1q_s8(table)); }
TG_INLINE VI broadcast4(const void* p) {
  std::int32_t x;
  __builtin_memcpy(&x, p, 4);
  return iset(x);
}

// Rows of a table by lane: 8 bytes each, 0-3 to `low`, 4-7 to `high`; or 4 bytes each.
TG_INLINE U4 two_rows(const std::int8_t (*table)[8], std::uint32_t first, std::uint32_t second) {
  return vreinterpretq_u32_s8(vcombine_s8(vld1_s8(table[first]), vld1_s8(table[second])));
}
TG_INLINE void four_rows(const std::int8_t (*table)[8], I4 row, I4& low, I4& high) {
  const U4 at = as_u32(row);
  const U4 a = two_rows(table, vgetq_lane_u32(at, 0), vgetq_lane_u32(at, 1)), b = two_rows(table, vgetq_lane_u32(at, 2), vgetq_lane_u32(at, 3));
  low = vreinterpretq_s32_u32(vuzp1q_u32(a, b));
  high = vreinterpretq_s32_u32(vuzp2q_u32(a, b));
}
TG_INLINE void rows_of_8(const std::int8_t (*table)[8], VI row, VI& low, VI& high) {
  four_rows(table, row.v[0], low.v[0], high.v[0]);
  four_rows(table, row.v[1], low.v[1], high.v[1]);
  four_rows(table, row.v[2], low.v[2], high.v[2]);
  four_rows(table, row.v[3], low.v[3], high.v[3]);
}
TG_INLINE std::int32_t row_of_4(const std::int8_t (*table)[4], std::uint32_t row) {
  std::int32_t x;
  __builtin_memcpy(&x, table[row], 4);
  return x;
}
TG_INLINE I4 four_rows_of_4(I4 row, const std::int8_t (*table)[4]) {
  const U4 at = as_u32(row);
  const std::int32_t rows[4] = {row_of_4(table, vgetq_lane_u32(at, 0)), row_of_4(table, vgetq_lane_u32(at, 1)),
                                row_of_4(table, vgetq_lane_u32(at, 2)), row_of_4(table, vgetq_lane_u32(at, 3))};
  return vld1q_s32(rows);
}
TG_INLINE VI rows_of_4(const std::int8_t (*table)[4], VI row) { return TG_WITH(four_rows_of_4, row, table); }
// OFFSET plus byte c of a lane of q, or minus it where bit 4 * quad + c of that lane of `bits` is set.
TG_INLINE I4 multiply_bytes(I4 x, I4 y) { return vreinterpretq_s32_s8(vmulq_s8(as_s8(x), as_s8(y))); }
TG_INLINE VI add_signed(VI q, VI bits, int quad, int offset) {
  const VI sign = add_where_bit(iset8(1), bits, quad, -2);
  return iadd8(VI TG_TWO(multiply_bytes, q, sign), iset8(offset));
}
// Top ternary digit of bytes that are fractions of 256: 3 x / 256.
TG_INLINE I4 top_third4(I4 x) {
  const uint8x16_t one = vcgeq_u8(as_u8(x), vdupq_n_u8(86)), two = vcgeq_u8(as_u8(x), vdupq_n_u8(171));
  return from_u8(vsubq_u8(vdupq_n_u8(0), vaddq_u8(one, two)));
}
TG_INLINE VI top_third(VI x) { return TG_ONE(top_third4, x); }

#undef TG_ONE
#undef TG_TWO
#undef TG_THREE
#undef TG_WITH
#undef TG_AT

}  // namespace
}  // namespace tg::cpu
