// Products of float weights, from strips of 4 rows (weight_tiles.h).
// Lanes are columns: an element is sixteen sums, one for each k mod 16, over ascending columns (exact widening, one f32 multiply-add each),
// which vsum4 adds in its one order at the end; a missing column counts as zero. Nothing else enters an element, so it is the same for
// any number of activation rows, pieces or threads.
#pragma once
#include <array>
#include <cstring>

#include "engine/device/cpu/vector_piece.h"
#include "engine/device/cpu/weight_tiles.h"
#include "engine/formats/traits.h"

namespace tg::cpu {
namespace {

template <Format F>
TG_INLINE VF load_floats(const std::byte* p) {
  if constexpr (F == Format::F32) return vload(reinterpret_cast<const float*>(p));
  if constexpr (F == Format::F16) return load_half(p);
  if constexpr (F == Format::BF16) return load_bf16(p);
}

// Activations behind the last whole sixteen, filled up with zeros: what lies behind a row may be anything, or not ours to read.
template <int N>
struct LastColumns {
  alignas(64) float part[N][kStripColumns] = {};
  template <class Row>
  [[gnu::noinline]] LastColumns(Row&& row, int count) {
    for (int n = 0; n < N; ++n) std::memcpy(part[n], row(n), zu(count) * sizeof(float));
  }
};

template <int R, int N>
TG_INLINE void clear_sums(VF (&acc)[N][R]) {
#pragma GCC unroll 8
  for (int n = 0; n < N; ++n) {
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) acc[n][r] = vset(0.0F);
  }
}

// Adds sixteen columns, which weights(r) and activations(n) give. Where they stand in several registers, one after the other: what is
// loaded but not used falls away (the barrier keeps GCC from loading all at first), so few registers beside the sums are in use at a time.
template <int Register, int R, int N, class Weights, class Activations>
TG_INLINE void add_register(VF (&acc)[N][R], Weights&& weights, Activations&& activations) {
  if constexpr (Register > 0) asm volatile("" ::: "memory");
  VF w[R];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
    w[r] = weights(r);
    if constexpr (N > 1) hold_register<Register>(w[r]);
  }
#pragma GCC unroll 8
  for (int n = 0; n < N; ++n) {
    VF x = activations(n);
    if constexpr (R > 1) hold_register<Register>(x);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) vfma_register<Register>(w[r], x, acc[n][r]);
  }
  if constexpr (Register + 1 < kRegisters) add_register<Register + 1, R, N>(acc, weights, activations);
}
template <int R, int N, class Weights, class Activations>
TG_INLINE void add_columns(VF (&acc)[N][R], Weights&& weights, Activations&& activations) {
  add_register<0, R, N>(acc, weights, activations);
}

template <int R, int N>
TG_INLINE void store_sums(const VF (&acc)[N][R], float* out, std::size_t stride) {
  constexpr int kAll = N * R;
  float sums[(kAll + 3) / 4 * 4];
#pragma GCC unroll 8
  for (int i = 0; i < kAll; i += 4) {
    const int b = i + 1 < kAll ? i + 1 : i, c = i + 2 < kAll ? i + 2 : i, d = i + 3 < kAll ? i + 3 : i;
    vsum4(acc[i / R][i % R], acc[b / R][b % R], acc[c / R][c % R], acc[d / R][d % R], sums + i);
  }
#pragma GCC unroll 8
  for (int n = 0; n < N; ++n) std::memcpy(out + zu(n) * stride, sums + n * R, sizeof(float) * R);
}

// What a pass over a strip asks for meanwhile: with each sixteen columns LINES lines, `step` bytes further on.
struct Ahead {
  const std::byte* at = nullptr;
  std::size_t step = 0;
};

// R rows of a strip by N activation rows.
template <Format F, int R, int N, int Lines>
void float_strip(const std::byte* strip, int cols, const std::array<const float*, N> a, float* out, std::size_t stride, Ahead* ahead) {
  constexpr std::size_t kStep = kStripColumns * zu(Traits<F>::bytes);
  const int whole = cols / kStripColumns * kStripColumns;
  VF acc[N][R];
  clear_sums(acc);
  const auto weights = [&](int r) { return load_floats<F>(strip + zu(r) * kStep); };
  int k = 0;
  for (; k < whole; k += kStripColumns, strip += kStripRows * kStep) {
    if constexpr (Lines > 0) {
#pragma GCC unroll 4
      for (int i = 0; i < Lines; ++i) prefetch_second(ahead->at + i * 64);
      ahead->at += ahead->step;
    }
    add_columns(acc, weights, [&](int n) { return vload(a[zu(n)] + k); });
  }
  if (k < cols) {
    const LastColumns<N> x([&](int n) { return a[zu(n)] + k; }, cols - k);
    add_columns(acc, weights, [&](int n) { return vload(x.part[n]); });
  }
  store_sums(acc, out, stride);
}

// ---- Whole pieces -------------------------------------------------------------------------------------------------------
// Passes over a strip for N activation rows.
template <int N>
constexpr int kRowsOfPass = N == 1 ? kStripRows : kFloatRows;

// The strip at ROW of a piece by as many activation rows from C on as there are, at most N.
template <Format F, int Lines, int N = kFloatColumns>
TG_INLINE void strip_columns(const Piece& p, const std::byte* strip, int row, int c, Ahead* ahead) {
  constexpr int R = kRowsOfPass<N>;
  static_assert(kStripRows % R == 0);
  if constexpr (N > 1) {
    if (p.x.n - c < N) return strip_columns<F, Lines, N - 1>(p, strip, row, c, ahead);
  }
  std::array<const float*, N> a;
  for (int n = 0; n < N; ++n) a[zu(n)] = p.x.f32 + zu(p.x.at(c + n)) * p.x.f32_stride;
  float* out = p.out + zu(c) * p.stride + row;
  for (int r = 0; r < kStripRows; r += R) {
    float_strip<F, R, N, Lines>(strip + zu(r * kStripColumns) * zu(Traits<F>::bytes), p.w.cols, a, out + r, p.stride, ahead);
  }
}

// One activation row reads the strips from front to back, which hardware prefetch follows best alone: 57 GB/s on two cores where hints of any
// distance gave 36 to 46. Among several it loses its way, and the memory would rest in all passes but the first, so all share in asking for the next strip.
template <Format F>
void few_columns(const Piece& p, const std::byte* strip, std::size_t strip_bytes) {
  constexpr int kStep = kStripRows * kStripColumns * Traits<F>::bytes;
  const int passes = (p.x.n + kFloatColumns - 1) / kFloatColumns * (kStripRows / kFloatRows);
  for (int row = 0; row < p.rows; row += kStripRows, strip += strip_bytes) {
    Ahead ahead{strip + strip_bytes, zu(kStep / passes)};
    if (p.x.n == 1) {
      strip_columns<F, 0>(p, strip, row, 0, nullptr);
    } else if (passes == 1) {
      strip_columns<F, kStep / 64>(p, strip, row, 0, &ahead);
    } else {
      for (int c = 0; c < p.x.n; c += kFloatColumns) strip_columns<F, 1>(p, strip, row, c, &ahead);
    }
  }
}

// Many activation rows do not stay in the first caches with a strip, so a few of them go with all strips; each time some of the next piece is asked for.
template <Format F>
void many_columns(const Piece& p, const std::byte* strips, std::size_t strip_bytes) {
  constexpr std::size_t kMostAhead = std::size_t{256} << 10;  // as much as the second cache has room for beside the piece and the activations
  const auto n_strips = zu((p.rows + kStripRows - 1) / kStripRows), groups = zu((p.x.n + kFloatColumns - 1) / kFloatColumns);
  const std::size_t bytes = n_strips * strip_bytes < kMostAhead ? n_strips * strip_bytes : kMostAhead;
  const std::size_t part = round_up_bytes(bytes / (groups * n_strips) + 1, 64);
  const std::byte *next = strips + n_strips * strip_bytes, *end = next + bytes;
  for (int c = 0; c < p.x.n; c += kFloatColumns) {
    for (std::size_t s = 0; s < n_strips; ++s) {
      for (std::size_t i = 0; i < part && next < end; i += 64, next += 64) prefetch_second(next);
      strip_columns<F, 0>(p, strips + s * strip_bytes, static_cast<int>(s) * kStripRows, c, nullptr);
    }
  }
}

template <Format F>
void float_piece(const Piece& p) {
  constexpr int kFew = 24;
  const std::size_t strip_bytes = tile_row_bytes(F, p.w.cols) * kStripRows;
  const std::byte* strips = p.w.expert_data(p.expert) + zu(p.row0 / kStripRows) * strip_bytes;
  p.x.n <= kFew ? few_columns<F>(p, strips, strip_bytes) : many_columns<F>(p, strips, strip_bytes);
}

}  // namespace
}  // namespace tg::cpu
