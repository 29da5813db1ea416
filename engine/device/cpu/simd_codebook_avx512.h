// Code books and ternary digits over sixteen lanes by the byte permutes of AVX-512 VBMI: a book of up to 2 048 rows is looked up in
// registers, 64 codes at once. Included by simd_codebook.h, which says what each function means.
#pragma once

namespace tg::cpu {
namespace {

// Each byte of a lane: the 8 bits from a bit of that lane on; `at` holds the four places, bits beyond the lane are those of its neighbour.
constexpr long long both_lanes(unsigned at) { return static_cast<long long>(at | static_cast<std::uint64_t>(at + 0x20202020U) << 32); }
TG_INLINE VI bits_from(VI x, unsigned at) { return _mm512_multishift_epi64_epi8(_mm512_set1_epi64(both_lanes(at)), x); }

template <int Bits>
TG_INLINE VI fields_to_bytes(VI x) {
  return iand(bits_from(x, 0x03020100U * Bits), iset8((1 << Bits) - 1));
}
template <int Odd>
TG_INLINE VI every_second_byte(VI x, VI y) {
  const VI a = _mm512_shuffle_epi8(x, iadd(_mm512_set4_epi32(static_cast<int>(0x80800e0cU), static_cast<int>(0x80800a08U), static_cast<int>(0x80800604U), static_cast<int>(0x80800200U)), iset(0x0101 * Odd)));
  const VI b = _mm512_shuffle_epi8(y, iadd(_mm512_set4_epi32(0x0e0c8080, 0x0a088080, 0x06048080, 0x02008080), iset(0x01010000 * Odd)));
  return ior(a, b);
}

// Bytes of one plane by 64 codes. A permute reaches 128 rows; masks of the bits above choose among permutes.
template <int Entries>
TG_INLINE VI plane_bytes(const std::uint8_t* plane, VI low, const __mmask64* above) {
  VI found[Entries / 128];
#pragma GCC unroll 16
  for (int i = 0; i < Entries / 128; ++i) found[i] = _mm512_permutex2var_epi8(iload(plane + i * 128), low, iload(plane + i * 128 + 64));
#pragma GCC unroll 4
  for (int n = Entries / 256, bit = 0; n > 0; n /= 2, ++bit) {
#pragma GCC unroll 8
    for (int i = 0; i < n; ++i) found[i] = _mm512_mask_blend_epi8(above[bit], found[2 * i], found[2 * i + 1]);
  }
  return found[0];
}
template <int Entries>
TG_INLINE void both_planes(const PackedBook<Entries>& book, VI low, VI high, VI& first, VI& second) {
  __mmask64 above[4] = {_mm512_movepi8_mask(low), 0, 0, 0};
  if (Entries > 256) above[1] = _mm512_test_epi8_mask(high, iset8(1));
  if (Entries > 512) above[2] = _mm512_test_epi8_mask(high, iset8(2));
  if (Entries > 1024) above[3] = _mm512_test_epi8_mask(high, iset8(4));
  first = plane_bytes<Entries>(book.plane[0], low, above);
  second = plane_bytes<Entries>(book.plane[1], low, above);
}

// Values of four columns by the indices of their magnitudes in the low `Bits` bits of each byte and the signs of columns 4 * quad on.
template <int Bits>
TG_INLINE VI packed_values(VI index, VI signs, int quad, VI values) {
  const unsigned at = (0x03020100U + 0x04040404U * static_cast<unsigned>(quad) + 0x40404040U - 0x01010101U * Bits) & 0x3f3f3f3fU;
  const VI minus = _mm512_multishift_epi64_epi8(_mm512_set1_epi64(both_lanes(at)), signs);  // bit `Bits` of a byte is its sign
  return _mm512_permutexvar_epi8(_mm512_ternarylogic_epi32(iset8((1 << Bits) - 1), index, minus, 0xca), values);
}

template <Format F>
TG_INLINE void signed_codes8(VI low, VI high, VI signs, VI* q) {
  VI plane[2];
  both_planes(Codebook<F>::kPacked, low, high, plane[0], plane[1]);
  const VI values = iload(Codebook<F>::kPacked.value);
#pragma GCC unroll 8
  for (int j = 0; j < 8; ++j) {
    const VI index = bits_from(plane[j % 2], 0x06040200U + 0x08080808U * static_cast<unsigned>(j / 2));
    q[j] = packed_values<2>(index, signs, j, values);
  }
}

TG_INLINE void eighth_codes8(VI low, VI high, VI minus, VI* q) { signed_codes8<Format::IQ1_S>(low, high, minus, q); }

// The two bytes of each code side by side make a row's four codes a 64-bit word; two codes at a time come out of it, the rows in pairs.
template <Format F, int Quad>
TG_INLINE void signed_codes4(VI low, VI high, VI signs, VI* q) {
  VI first, second;
  both_planes(Codebook<F>::kPacked, low, high, first, second);
  const VI values = iload(Codebook<F>::kPacked.value);
  const VI rows01 = _mm512_unpacklo_epi8(first, second), rows23 = _mm512_unpackhi_epi8(first, second);
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i) {
    const VI at = _mm512_set1_epi64(0x1916131009060300LL + i * 0x2020202020202020LL);
    const VF a = _mm512_castsi512_ps(_mm512_multishift_epi64_epi8(at, rows01)), b = _mm512_castsi512_ps(_mm512_multishift_epi64_epi8(at, rows23));
    q[2 * i] = packed_values<3>(_mm512_castps_si512(_mm512_shuffle_ps(a, b, 0x88)), signs, Quad + 2 * i, values);
    q[2 * i + 1] = packed_values<3>(_mm512_castps_si512(_mm512_shuffle_ps(a, b, 0xdd)), signs, Quad + 2 * i + 1, values);
  }
}

}  // namespace
}  // namespace tg::cpu
