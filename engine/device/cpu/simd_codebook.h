// Code books over sixteen lanes: what the loaders of weight_loaders_codebook.h are written over.
#pragma once
#include "engine/device/cpu/codebooks.h"

#if defined(TG_BYTE_PERMUTES)
#include "engine/device/cpu/simd_codebook_avx512.h"
#else

namespace tg::cpu {
namespace {

// Four fields of so many bits after each other, from the lowest bit of a lane on, to its four bytes.
template <int Bits>
TG_INLINE VI fields_to_bytes(VI x) {
  constexpr int kMask = (1 << Bits) - 1, kStep = 8 - Bits;
  const VI low = ior(iand(x, iset(kMask)), iand(ishl(x, kStep), iset(kMask << 8)));
  return ior(low, ior(iand(ishl(x, 2 * kStep), iset(kMask << 16)), iand(ishl(x, 3 * kStep), iset(kMask << 24))));
}

// Bytes 0 and 2 (Odd: 1 and 3) of a lane of x, then those of y.
template <int Odd>
TG_INLINE VI every_second_byte(VI x, VI y) {
  const VI a = ishr(x, 8 * Odd), b = ishr(y, 8 * Odd);
  const VI low = ior(iand(a, iset(0xff)), iand(ishr(a, 8), iset(0xff00)));
  return ior(low, ior(ishl(iand(b, iset(0xff)), 16), iand(ishl(b, 8), iset(static_cast<int>(0xff000000U)))));
}

// Byte k of a lane of `low` and of `high`: the low 8 and the other bits of code k.
template <int K>
TG_INLINE VI code_at(VI low, VI high) {
  const VI top = K == 0 ? ishl(high, 8) : ishr(high, 8 * K - 8);
  return ior(iand(ishr(low, 8 * K), iset(255)), iand(top, iset(0xff00)));
}

// Four codes a lane, 32 columns in books of 8: offset plus the row's magnitudes, minus them where the bit of the column is set in `signs`.
template <Format F>
TG_INLINE void signed_codes8(VI low, VI high, VI signs, VI* q) {
  constexpr int kOffset = Codebook<F>::kOffset;
  VI m[8];
  rows_of_8(Codebook<F>::kRows, code_at<0>(low, high), m[0], m[1]);
  rows_of_8(Codebook<F>::kRows, code_at<1>(low, high), m[2], m[3]);
  rows_of_8(Codebook<F>::kRows, code_at<2>(low, high), m[4], m[5]);
  rows_of_8(Codebook<F>::kRows, code_at<3>(low, high), m[6], m[7]);
#pragma GCC unroll 8
  for (int j = 0; j < 8; ++j) q[j] = add_signed(m[j], signs, j, kOffset);
}

// Four codes of IQ1, whose rows are -1, 0, 1: eight times the row, one more or, by the bit of the column in `minus`, one less. The eight
// bits of a code are the same.
TG_INLINE void eighth_codes8(VI low, VI high, VI minus, VI* q) {
  constexpr auto& kRows = Codebook<Format::IQ1_S>::kRows;
  rows_of_8(kRows, code_at<0>(low, high), q[0], q[1]);
  rows_of_8(kRows, code_at<1>(low, high), q[2], q[3]);
  rows_of_8(kRows, code_at<2>(low, high), q[4], q[5]);
  rows_of_8(kRows, code_at<3>(low, high), q[6], q[7]);
#pragma GCC unroll 8
  for (int j = 0; j < 8; ++j) {
    const VI less = isar(ishl(minus, 24 - j / 2 * 8), 31);
    q[j] = iadd8(iand(ishl(q[j], 3), iset8(-8)), iadd8(iset8(Codebook<Format::IQ1_S>::kOffset + 1), iand(less, iset8(-2))));
  }
}

// As signed_codes8 for 16 columns in books of 4; `Quad`: which 4 bits of `signs` are those of the first code.
template <Format F, int Quad>
TG_INLINE void signed_codes4(VI low, VI high, VI signs, VI* q) {
  constexpr int kOffset = Codebook<F>::kOffset;
  q[0] = add_signed(rows_of_4(Codebook<F>::kRows, code_at<0>(low, high)), signs, Quad, kOffset);
  q[1] = add_signed(rows_of_4(Codebook<F>::kRows, code_at<1>(low, high)), signs, Quad + 1, kOffset);
  q[2] = add_signed(rows_of_4(Codebook<F>::kRows, code_at<2>(low, high)), signs, Quad + 2, kOffset);
  q[3] = add_signed(rows_of_4(Codebook<F>::kRows, code_at<3>(low, high)), signs, Quad + 3, kOffset);
}

}  // namespace
}  // namespace tg::cpu
#endif
