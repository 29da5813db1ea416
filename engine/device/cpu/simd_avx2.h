// Sixteen lanes in two 256-bit registers: the vocabulary of vector_kernels.h on AVX2 with FMA and F16C, with AVX-VNNI where the file that
// includes this is compiled for it. Everything is in an unnamed namespace so that no symbol can be shared with another instruction set.
#pragma once
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace tg::cpu {
namespace {

#define TG_INLINE inline __attribute__((always_inline))

struct VF {  // 16 floats
  __m256 a, b;
};
struct VI {  // 16 int32, or 64 bytes
  __m256i a, b;
};
using VMask = VF;  // all bits of a lane set: yes

// Tiles of 1 x 16 rows: 6 integer and 6 float registers of 16 for sums.
constexpr int kTilesAtOnce = 1, kColumns = 3;
constexpr int kFloatRows = 2, kFloatColumns = 3;  // for float weights
constexpr int kChains = 4;
constexpr int kValueQueries = 3, kValueVectors = 2;
constexpr int kByteQueries = 2, kByteVectors = 1;  // the same over bytes, two sums each

TG_INLINE VF vset(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
TG_INLINE VF vload(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
TG_INLINE void vstore(float* p, VF v) {
  _mm256_storeu_ps(p, v.a);
  _mm256_storeu_ps(p + 8, v.b);
}
TG_INLINE VF vadd(VF x, VF y) { return {_mm256_add_ps(x.a, y.a), _mm256_add_ps(x.b, y.b)}; }
TG_INLINE VF vsub(VF x, VF y) { return {_mm256_sub_ps(x.a, y.a), _mm256_sub_ps(x.b, y.b)}; }
TG_INLINE VF vmul(VF x, VF y) { return {_mm256_mul_ps(x.a, y.a), _mm256_mul_ps(x.b, y.b)}; }
TG_INLINE VF vdiv(VF x, VF y) { return {_mm256_div_ps(x.a, y.a), _mm256_div_ps(x.b, y.b)}; }
TG_INLINE VF vfma(VF x, VF y, VF z) { return {_mm256_fmadd_ps(x.a, y.a, z.a), _mm256_fmadd_ps(x.b, y.b, z.b)}; }
// z = fma(x, y, z) for one of the kRegisters registers of a vector.
constexpr int kRegisters = 2;
template <int Register>
TG_INLINE void vfma_register(VF x, VF y, VF& z) {
  (Register == 0 ? z.a : z.b) = Register == 0 ? _mm256_fmadd_ps(x.a, y.a, z.a) : _mm256_fmadd_ps(x.b, y.b, z.b);
}
// Keeps GCC from loading or widening it again for every use.
template <int Register>
TG_INLINE void hold_register(VF& x) {
  asm("" : "+x"(Register == 0 ? x.a : x.b));
}
TG_INLINE VF vmax(VF x, VF y) { return {_mm256_max_ps(x.a, y.a), _mm256_max_ps(x.b, y.b)}; }
TG_INLINE VF vmin(VF x, VF y) { return {_mm256_min_ps(x.a, y.a), _mm256_min_ps(x.b, y.b)}; }
TG_INLINE VF vabs(VF x) {
  const __m256 sign = _mm256_set1_ps(-0.0F);
  return {_mm256_andnot_ps(sign, x.a), _mm256_andnot_ps(sign, x.b)};
}
TG_INLINE float vsum(VF x) {
  const __m256 eight = _mm256_add_ps(x.a, x.b);
  __m128 v = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  v = _mm_add_ps(v, _mm_movehl_ps(v, v));
  return _mm_cvtss_f32(_mm_add_ss(v, _mm_movehdup_ps(v)));
}
// The sums of four vectors, each added in one order: both registers, then lanes i + 2 (i = 0, 1) of a half, their sum, then both halves.
TG_INLINE void vsum4(VF x, VF y, VF z, VF t, float* to) {
  const __m256 a = _mm256_add_ps(x.a, x.b), b = _mm256_add_ps(y.a, y.b), c = _mm256_add_ps(z.a, z.b), d = _mm256_add_ps(t.a, t.b);
  const __m256 ab = _mm256_add_ps(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b)), cd = _mm256_add_ps(_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d));
  const __m256 halves = _mm256_add_ps(_mm256_shuffle_ps(ab, cd, 0x44), _mm256_shuffle_ps(ab, cd, 0xee));
  _mm_storeu_ps(to, _mm_add_ps(_mm256_castps256_ps128(halves), _mm256_extractf128_ps(halves, 1)));
}
TG_INLINE float vtop(VF x) {
  const __m256 eight = _mm256_max_ps(x.a, x.b);
  __m128 v = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  v = _mm_max_ps(v, _mm_movehl_ps(v, v));
  return _mm_cvtss_f32(_mm_max_ss(v, _mm_movehdup_ps(v)));
}
TG_INLINE VMask vless(VF x, VF y) { return {_mm256_cmp_ps(x.a, y.a, _CMP_LT_OQ), _mm256_cmp_ps(x.b, y.b, _CMP_LT_OQ)}; }
TG_INLINE VF vselect(VMask m, VF yes, VF no) { return {_mm256_blendv_ps(no.a, yes.a, m.a), _mm256_blendv_ps(no.b, yes.b, m.b)}; }
TG_INLINE VMask lanes_from_to(int first, int end) {  // lanes first <= i < end, any ints
  const __m256i low = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), high = _mm256_add_epi32(low, _mm256_set1_epi32(8));
  const __m256i f = _mm256_set1_epi32(first), e = _mm256_set1_epi32(end);
  return {_mm256_castsi256_ps(_mm256_andnot_si256(_mm256_cmpgt_epi32(f, low), _mm256_cmpgt_epi32(e, low))),
          _mm256_castsi256_ps(_mm256_andnot_si256(_mm256_cmpgt_epi32(f, high), _mm256_cmpgt_epi32(e, high)))};
}
TG_INLINE VF vcopysign(VF magnitude, VF from) {
  const __m256 sign = _mm256_set1_ps(-0.0F);
  return {_mm256_or_ps(_mm256_and_ps(sign, from.a), _mm256_andnot_ps(sign, magnitude.a)),
          _mm256_or_ps(_mm256_and_ps(sign, from.b), _mm256_andnot_ps(sign, magnitude.b))};
}

TG_INLINE VI iset(int x) { return {_mm256_set1_epi32(x), _mm256_set1_epi32(x)}; }
TG_INLINE VI iset8(int x) { return {_mm256_set1_epi8(static_cast<char>(x)), _mm256_set1_epi8(static_cast<char>(x))}; }
TG_INLINE VI iload(const void* p) {
  const auto* v = static_cast<const __m256i*>(p);
  return {_mm256_loadu_si256(v), _mm256_loadu_si256(v + 1)};
}
TG_INLINE void istore(void* p, VI v) {
  auto* to = static_cast<__m256i*>(p);
  _mm256_storeu_si256(to, v.a);
  _mm256_storeu_si256(to + 1, v.b);
}
TG_INLINE VI iand(VI x, VI y) { return {_mm256_and_si256(x.a, y.a), _mm256_and_si256(x.b, y.b)}; }
TG_INLINE VI ior(VI x, VI y) { return {_mm256_or_si256(x.a, y.a), _mm256_or_si256(x.b, y.b)}; }
TG_INLINE VI ixor(VI x, VI y) { return {_mm256_xor_si256(x.a, y.a), _mm256_xor_si256(x.b, y.b)}; }
TG_INLINE VI iadd(VI x, VI y) { return {_mm256_add_epi32(x.a, y.a), _mm256_add_epi32(x.b, y.b)}; }
TG_INLINE VI isub(VI x, VI y) { return {_mm256_sub_epi32(x.a, y.a), _mm256_sub_epi32(x.b, y.b)}; }
TG_INLINE VI iadd8(VI x, VI y) { return {_mm256_add_epi8(x.a, y.a), _mm256_add_epi8(x.b, y.b)}; }
TG_INLINE VI ishr(VI x, int n) { return {_mm256_srli_epi32(x.a, n), _mm256_srli_epi32(x.b, n)}; }
TG_INLINE VI ishl(VI x, int n) { return {_mm256_slli_epi32(x.a, n), _mm256_slli_epi32(x.b, n)}; }
TG_INLINE VI isar(VI x, int n) { return {_mm256_srai_epi32(x.a, n), _mm256_srai_epi32(x.b, n)}; }
TG_INLINE VF to_float(VI x) { return {_mm256_cvtepi32_ps(x.a), _mm256_cvtepi32_ps(x.b)}; }
TG_INLINE VI to_int(VF x) { return {_mm256_cvtps_epi32(x.a), _mm256_cvtps_epi32(x.b)}; }  // nearest, ties to even
TG_INLINE VF vpow2(VI n) {
  const VI bits = ishl(iadd(n, iset(127)), 23);
  return {_mm256_castsi256_ps(bits.a), _mm256_castsi256_ps(bits.b)};
}
TG_INLINE int isum(VI x) {
  const __m256i eight = _mm256_add_epi32(x.a, x.b);
  __m128i v = _mm_add_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
  v = _mm_add_epi32(v, _mm_shuffle_epi32(v, 0x4e));
  return _mm_cvtsi128_si32(_mm_add_epi32(v, _mm_shuffle_epi32(v, 0xb1)));
}
TG_INLINE __m128i low_words(__m256i x) {  // the low 16 bits of 8 lanes
  const __m256i v = _mm256_and_si256(x, _mm256_set1_epi32(0xffff));
  return _mm_packus_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
}
TG_INLINE void store_i8(std::int8_t* p, VI x) {  // values fit
  const __m128i a = _mm_packs_epi32(_mm256_castsi256_si128(x.a), _mm256_extracti128_si256(x.a, 1));
  const __m128i b = _mm_packs_epi32(_mm256_castsi256_si128(x.b), _mm256_extracti128_si256(x.b, 1));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm_packs_epi16(a, b));
}
TG_INLINE VI load_i8(const void* p) {
  const __m128i v = _mm_loadu_si128(static_cast<const __m128i*>(p));
  return {_mm256_cvtepi8_epi32(v), _mm256_cvtepi8_epi32(_mm_srli_si128(v, 8))};
}

TG_INLINE VF load_half(const void* p) {
  const auto* v = static_cast<const __m128i*>(p);
  return {_mm256_cvtph_ps(_mm_loadu_si128(v)), _mm256_cvtph_ps(_mm_loadu_si128(v + 1))};
}
TG_INLINE VF load_bf16(const void* p) {
  const auto* v = static_cast<const __m128i*>(p);
  return {_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128(v)), 16)),
          _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128(v + 1)), 16))};
}
TG_INLINE void store_half(void* p, VF v) {
  auto* to = static_cast<__m128i*>(p);
  _mm_storeu_si128(to, _mm256_cvtps_ph(v.a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  _mm_storeu_si128(to + 1, _mm256_cvtps_ph(v.b, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
TG_INLINE float half_scalar(const void* p) {
  std::uint16_t h;
  __builtin_memcpy(&h, p, 2);
  return _cvtsh_ss(h);
}
// Halves in the low or high 16 bits of each lane.
TG_INLINE VF half_low(VI x) { return {_mm256_cvtph_ps(low_words(x.a)), _mm256_cvtph_ps(low_words(x.b))}; }
TG_INLINE VF half_high(VI x) { return half_low(ishr(x, 16)); }

// Sums of four products u8 * s8 per lane, added to acc. Without VNNI u8 must be at most 127: pairs are summed in 16 bits.
// `wide_dot` takes weights that need all 8 bits, stored with an offset of 128. Without VNNI it takes the offset back itself and moves the
// sign to the other factor, so that pairs fit 16 bits; with VNNI `wide_start` takes it back.
#if defined(TG_AVX_VNNI)
TG_INLINE VI dot(VI acc, VI u8, VI s8) { return {_mm256_dpbusd_avx_epi32(acc.a, u8.a, s8.a), _mm256_dpbusd_avx_epi32(acc.b, u8.b, s8.b)}; }
TG_INLINE VI wide_start(int sum) { return iset(sum * -128); }
TG_INLINE VI wide_dot(VI acc, VI u8, VI s8) { return dot(acc, u8, s8); }
#else
TG_INLINE __m256i dot8(__m256i acc, __m256i u8, __m256i s8) {
  __m256i sum = _mm256_add_epi32(acc, _mm256_madd_epi16(_mm256_maddubs_epi16(u8, s8), _mm256_set1_epi16(1)));
  asm("" : "+x"(sum));  // keeps GCC from turning the chain of sums into a tree, which needs more registers than there are
  return sum;
}
TG_INLINE __m256i wide8(__m256i acc, __m256i u8, __m256i s8) {
  const __m256i w = _mm256_xor_si256(u8, _mm256_set1_epi8(-128));
  return dot8(acc, _mm256_abs_epi8(w), _mm256_sign_epi8(s8, w));
}
TG_INLINE VI dot(VI acc, VI u8, VI s8) { return {dot8(acc.a, u8.a, s8.a), dot8(acc.b, u8.b, s8.b)}; }
TG_INLINE VI wide_start(int) { return iset(0); }
TG_INLINE VI wide_dot(VI acc, VI u8, VI s8) { return {wide8(acc.a, u8.a, s8.a), wide8(acc.b, u8.b, s8.b)}; }
#endif
// A sum that stays in its register: GCC copies loop-carried sums of dot products to and fro.
TG_INLINE void hold(VI& x) { asm("" : "+x"(x.a), "+x"(x.b)); }
// All bits of byte c of a lane where bit 4 * quad + c of that lane of `bits` is set.
TG_INLINE VI bytes_where_bit(VI bits, int quad) {
  const int byte = quad / 2;
  const __m256i from = _mm256_add_epi8(_mm256_setr_epi32(0, 0x04040404, 0x08080808, 0x0c0c0c0c, 0, 0x04040404, 0x08080808, 0x0c0c0c0c),
                                       _mm256_set1_epi8(static_cast<char>(byte)));
  const __m256i pick = _mm256_set1_epi32(quad % 2 != 0 ? static_cast<int>(0x80402010U) : 0x08040201);
  const __m256i a = _mm256_and_si256(_mm256_shuffle_epi8(bits.a, from), pick), b = _mm256_and_si256(_mm256_shuffle_epi8(bits.b, from), pick);
  return {_mm256_cmpeq_epi8(a, pick), _mm256_cmpeq_epi8(b, pick)};
}
// Adds VALUE to byte c of a lane where bit 4 * quad + c of that lane of `bits` is set.
TG_INLINE VI add_where_bit(VI q, VI bits, int quad, int value) { return iadd8(q, iand(bytes_where_bit(bits, quad), iset8(value))); }
// table[i] for bytes 0 <= i < 16.
TG_INLINE VI lookup16(const std::int8_t* table, VI i) {
  const __m256i t = _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table)));
  return {_mm256_shuffle_epi8(t, i.a), _mm256_shuffle_epi8(t, i.b)};
}
TG_INLINE VI broadcast4(const void* p) {
  std::int32_t x;
  __builtin_memcpy(&x, p, 4);
  return iset(x);
}

// Rows of a table by lane: 8 bytes each, 0-3 to `low`, 4-7 to `high`; or 4 bytes each. Loads one by one: gathers are no faster where they
// are fast, and slow where they were mended against leaks.
TG_INLINE __m128 two_rows(const std::int8_t (*table)[8], const std::uint32_t* at) {
  const __m128i first = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(table[at[0]]));
  return _mm_loadh_pi(_mm_castsi128_ps(first), reinterpret_cast<const __m64*>(table[at[1]]));
}
TG_INLINE void rows_of_8(const std::int8_t (*table)[8], const std::uint32_t* at, __m256i& low, __m256i& high) {
  const __m256 a = _mm256_insertf128_ps(_mm256_castps128_ps256(two_rows(table, at)), two_rows(table, at + 4), 1);
  const __m256 b = _mm256_insertf128_ps(_mm256_castps128_ps256(two_rows(table, at + 2)), two_rows(table, at + 6), 1);
  low = _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0x88));
  high = _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0xdd));
}
struct Rows {
  alignas(32) std::uint32_t at[16];
};
TG_INLINE void store_rows(Rows& rows, VI row) {
  istore(rows.at, row);
  asm("" : "+m"(rows));  // keeps GCC from taking the lanes out of the registers one by one
}
TG_INLINE void rows_of_8(const std::int8_t (*table)[8], VI row, VI& low, VI& high) {
  Rows rows;
  store_rows(rows, row);
  rows_of_8(table, rows.at, low.a, high.a);
  rows_of_8(table, rows.at + 8, low.b, high.b);
}
TG_INLINE __m128i four_rows(const std::int8_t (*table)[4], const std::uint32_t* at) {
  const __m128i a = _mm_unpacklo_epi32(_mm_loadu_si32(table[at[0]]), _mm_loadu_si32(table[at[1]]));
  return _mm_unpacklo_epi64(a, _mm_unpacklo_epi32(_mm_loadu_si32(table[at[2]]), _mm_loadu_si32(table[at[3]])));
}
TG_INLINE __m256i rows_of_4(const std::int8_t (*table)[4], const std::uint32_t* at) {
  return _mm256_inserti128_si256(_mm256_castsi128_si256(four_rows(table, at)), four_rows(table, at + 4), 1);
}
TG_INLINE VI rows_of_4(const std::int8_t (*table)[4], VI row) {
  Rows rows;
  store_rows(rows, row);
  return {rows_of_4(table, rows.at), rows_of_4(table, rows.at + 8)};
}
// OFFSET plus byte c of a lane of q, or minus it where bit 4 * quad + c of that lane of `bits` is set.
TG_INLINE VI add_signed(VI q, VI bits, int quad, int offset) {
  const VI sign = ior(bytes_where_bit(bits, quad), iset8(1)), base = iset8(offset);
  return {_mm256_add_epi8(base.a, _mm256_sign_epi8(q.a, sign.a)), _mm256_add_epi8(base.b, _mm256_sign_epi8(q.b, sign.b))};
}
// Top ternary digit of bytes that are fractions of 256: 3 x / 256.
TG_INLINE __m256i top_third(__m256i x) {
  const __m256i one = _mm256_cmpeq_epi8(_mm256_max_epu8(x, _mm256_set1_epi8(86)), x);
  const __m256i two = _mm256_cmpeq_epi8(_mm256_max_epu8(x, _mm256_set1_epi8(static_cast<char>(171))), x);
  return _mm256_abs_epi8(_mm256_add_epi8(one, two));
}
TG_INLINE VI top_third(VI x) { return {top_third(x.a), top_third(x.b)}; }

}  // namespace
}  // namespace tg::cpu
