// Sixteen lanes in one 512-bit register: the vocabulary of vector_*.h on AVX-512 with VNNI.
// Included only by a file compiled for that instruction set; everything is in an unnamed namespace so that no symbol can be shared.
#pragma once
// GCC 12 warns about the deliberately undefined operands inside its own intrinsics.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop

#include <cstddef>
#include <cstdint>

namespace tg::cpu {
namespace {

#define TG_INLINE inline __attribute__((always_inline))

using VF = __m512;   // 16 floats
using VI = __m512i;  // 16 int32, or 64 bytes
using VMask = __mmask16;

constexpr int kTilesAtOnce = 2;   // a product works on 2 x 16 rows
constexpr int kColumns = 6;       // by so many columns: 12 integer and 12 float sums in 32 registers
constexpr int kFloatRows = 4, kFloatColumns = 6;  // the same for float weights: 24 sums
constexpr int kChains = 12;       // scores computed side by side
constexpr int kValueQueries = 6, kValueVectors = 4;  // a tile of weighted values: 24 sums
constexpr int kByteQueries = 6, kByteVectors = 2;  // the same over bytes, two sums each

TG_INLINE VF vset(float x) { return _mm512_set1_ps(x); }
TG_INLINE VF vload(const float* p) { return _mm512_loadu_ps(p); }
TG_INLINE void vstore(float* p, VF v) { _mm512_storeu_ps(p, v); }
TG_INLINE VF vadd(VF a, VF b) { return _mm512_add_ps(a, b); }
TG_INLINE VF vsub(VF a, VF b) { return _mm512_sub_ps(a, b); }
TG_INLINE VF vmul(VF a, VF b) { return _mm512_mul_ps(a, b); }
TG_INLINE VF vdiv(VF a, VF b) { return _mm512_div_ps(a, b); }
TG_INLINE VF vfma(VF a, VF b, VF c) { return _mm512_fmadd_ps(a, b, c); }
// acc = fma(a, b, acc) for one of the kRegisters registers of a vector.
constexpr int kRegisters = 1;
template <int>
TG_INLINE void vfma_register(VF a, VF b, VF& acc) {
  acc = vfma(a, b, acc);
}
template <int>
TG_INLINE void hold_register(VF&) {}
TG_INLINE VF vmax(VF a, VF b) { return _mm512_max_ps(a, b); }
TG_INLINE VF vmin(VF a, VF b) { return _mm512_min_ps(a, b); }
TG_INLINE VF vabs(VF a) { return _mm512_abs_ps(a); }
TG_INLINE float vsum(VF a) { return _mm512_reduce_add_ps(a); }
// The sums of four vectors. Each is added in one order: l = lane i + lane i + 2 of a quarter (i = 0, 1), their sum, then quarters 0 + 2 and
// 1 + 3, then both.
TG_INLINE void vsum4(VF a, VF b, VF c, VF d, float* to) {
  const VF ab = _mm512_add_ps(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b)), cd = _mm512_add_ps(_mm512_unpacklo_ps(c, d), _mm512_unpackhi_ps(c, d));
  const VF quarters = _mm512_add_ps(_mm512_shuffle_ps(ab, cd, 0x44), _mm512_shuffle_ps(ab, cd, 0xee));
  const __m256 halves = _mm256_add_ps(_mm512_castps512_ps256(quarters), _mm512_extractf32x8_ps(quarters, 1));
  _mm_storeu_ps(to, _mm_add_ps(_mm256_castps256_ps128(halves), _mm256_extractf128_ps(halves, 1)));
}
TG_INLINE float vtop(VF a) { return _mm512_reduce_max_ps(a); }
TG_INLINE VMask vless(VF a, VF b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
TG_INLINE VF vselect(VMask m, VF yes, VF no) { return _mm512_mask_blend_ps(m, no, yes); }
TG_INLINE VMask lanes_from_to(int first, int end) {  // lanes first <= i < end, any ints
  const unsigned below_end = end <= 0 ? 0U : end >= 16 ? 0xffffU : (1U << end) - 1U;
  const unsigned below_first = first <= 0 ? 0U : first >= 16 ? 0xffffU : (1U << first) - 1U;
  return static_cast<VMask>(below_end & ~below_first);
}
TG_INLINE VF vcopysign(VF magnitude, VF sign) {
  const __m512i bit = _mm512_set1_epi32(INT32_MIN);
  return _mm512_castsi512_ps(_mm512_ternarylogic_epi32(bit, _mm512_castps_si512(sign), _mm512_castps_si512(magnitude), 0xca));
}
TG_INLINE VF vpow2(VI n) { return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_add_epi32(n, _mm512_set1_epi32(127)), 23)); }

TG_INLINE VI iset(int x) { return _mm512_set1_epi32(x); }
TG_INLINE VI iset8(int x) { return _mm512_set1_epi8(static_cast<char>(x)); }
TG_INLINE VI iload(const void* p) { return _mm512_loadu_si512(p); }
TG_INLINE void istore(void* p, VI v) { _mm512_storeu_si512(p, v); }
TG_INLINE VI iand(VI a, VI b) { return _mm512_and_si512(a, b); }
TG_INLINE VI ior(VI a, VI b) { return _mm512_or_si512(a, b); }
TG_INLINE VI ixor(VI a, VI b) { return _mm512_xor_si512(a, b); }
TG_INLINE VI iadd(VI a, VI b) { return _mm512_add_epi32(a, b); }
TG_INLINE VI isub(VI a, VI b) { return _mm512_sub_epi32(a, b); }
TG_INLINE VI iadd8(VI a, VI b) { return _mm512_add_epi8(a, b); }
TG_INLINE VI ishr(VI a, int n) { return _mm512_srli_epi32(a, static_cast<unsigned>(n)); }
TG_INLINE VI ishl(VI a, int n) { return _mm512_slli_epi32(a, static_cast<unsigned>(n)); }
TG_INLINE VI isar(VI a, int n) { return _mm512_srai_epi32(a, static_cast<unsigned>(n)); }
TG_INLINE VF to_float(VI a) { return _mm512_cvtepi32_ps(a); }
TG_INLINE VI to_int(VF a) { return _mm512_cvtps_epi32(a); }  // nearest, ties to even
TG_INLINE int isum(VI a) { return _mm512_reduce_add_epi32(a); }
TG_INLINE void store_i8(std::int8_t* p, VI a) { _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8(a)); }
TG_INLINE VI load_i8(const void* p) { return _mm512_cvtepi8_epi32(_mm_loadu_si128(static_cast<const __m128i*>(p))); }
TG_INLINE VI load_u8(const void* p) { return _mm512_cvtepu8_epi32(_mm_loadu_si128(static_cast<const __m128i*>(p))); }

TG_INLINE VF load_half(const void* p) { return _mm512_cvtph_ps(_mm256_loadu_si256(static_cast<const __m256i*>(p))); }
TG_INLINE VF load_bf16(const void* p) {
  const __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256(static_cast<const __m256i*>(p)));
  return _mm512_castsi512_ps(_mm512_slli_epi32(wide, 16));
}
TG_INLINE void store_half(void* p, VF v) {
  _mm256_storeu_si256(static_cast<__m256i*>(p), _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
TG_INLINE float half_scalar(const void* p) {
  std::uint16_t h;
  __builtin_memcpy(&h, p, 2);
  return _cvtsh_ss(h);
}
// Halves in the low or high 16 bits of each lane.
TG_INLINE VF half_low(VI a) { return _mm512_cvtph_ps(_mm512_cvtepi32_epi16(a)); }
TG_INLINE VF half_high(VI a) { return half_low(ishr(a, 16)); }

// Sums of four products u8 * s8 per lane, added to acc.
TG_INLINE VI dot(VI acc, VI u8, VI s8) { return _mm512_dpbusd_epi32(acc, u8, s8); }
// The same for weights that need all 8 bits, stored with an offset of 128, which `wide_start` takes back.
TG_INLINE VI wide_start(int sum) { return iset(sum * -128); }
TG_INLINE VI wide_dot(VI acc, VI u8, VI s8) { return _mm512_dpbusd_epi32(acc, u8, s8); }
// A sum that stays in its register: GCC copies loop-carried sums of dot products to and fro.
TG_INLINE void hold(VI& x) { asm("" : "+v"(x)); }
// Adds VALUE to byte c of a lane where bit 4 * quad + c of that lane of `bits` is set.
TG_INLINE VI add_where_bit(VI q, VI bits, int quad, int value) {
  const __m512i from = _mm512_set4_epi32(0x0c0c0c0c, 0x08080808, 0x04040404, 0);
  const __m512i bytes = _mm512_shuffle_epi8(bits, _mm512_add_epi8(from, iset8(quad / 2)));
  const __mmask64 set = _mm512_test_epi8_mask(bytes, _mm512_set1_epi32(quad % 2 != 0 ? static_cast<int>(0x80402010U) : 0x08040201));
  return _mm512_mask_add_epi8(q, set, q, iset8(value));
}
// table[i] for bytes 0 <= i < 16.
TG_INLINE VI lookup16(const std::int8_t* table, VI i) {
  return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table))), i);
}
TG_INLINE VI broadcast4(const void* p) {
  std::int32_t x;
  __builtin_memcpy(&x, p, 4);
  return _mm512_set1_epi32(x);
}
// Top ternary digit of bytes that are fractions of 256: 3 x / 256.
TG_INLINE VI top_third(VI x) {
  const VI one = _mm512_maskz_mov_epi8(_mm512_cmpgt_epu8_mask(x, iset8(85)), iset8(1));
  return _mm512_mask_mov_epi8(one, _mm512_cmpgt_epu8_mask(x, iset8(170)), iset8(2));
}
#define TG_BYTE_PERMUTES  // simd_codebook_avx512.h

}  // namespace
}  // namespace tg::cpu
