// Float weights are multiplied where they stand in the file, so that a model of them starts at once and fills memory once.
// Lanes are columns: an element is sixteen sums, one for each k mod 16, over ascending columns (exact widening, one f32 multiply-add each),
// which vsum4 adds in its one order at the end; a missing column counts as zero. Nothing else enters an element, so it is the same for
// any number of activation rows, pieces or threads.
// Few activation rows: tiles read the file's rows, the memory is the limit. Many: the rows of a piece are first brought side by side,
// because rows a multiple of 4 KiB apart share a few places of the first cache (94 % of the multiply-add peak instead of 75 %).
#pragma once
#include <array>
#include <cstring>

#include "engine/device/cpu/vector_piece.h"
#include "engine/formats/traits.h"

namespace tg::cpu {
namespace {

template <Format F>
TG_INLINE VF load_floats(const std::byte* p) {
  if constexpr (F == Format::F32) return vload(reinterpret_cast<const float*>(p));
  if constexpr (F == Format::F16) return load_half(p);
  if constexpr (F == Format::BF16) return load_bf16(p);
}

// The columns behind the last whole sixteen, filled up with zeros: what lies behind a row may be anything, or not ours to read.
template <int Rows, int Bytes>
struct LastColumns {
  alignas(64) std::byte part[Rows][16 * Bytes] = {};
  template <class Row>
  [[gnu::noinline]] LastColumns(Row&& row, int count) {
    for (int r = 0; r < Rows; ++r) std::memcpy(part[r], row(r), zu(count) * zu(Bytes));
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

// R rows of the file, `row` bytes apart, by N activation rows. Asks for what comes a while later in each row, at its end for the row R
// further on: hardware prefetch stops at every 4 KiB.
template <Format F, int R, int N>
void float_rows(const std::byte* w, std::size_t row, int cols, bool second, const std::array<const float*, N> a, float* out, std::size_t stride) {
  constexpr int kBytes = Traits<F>::bytes, kLine = 64 / kBytes, kAhead = (R == 1 ? 4096 : 2048) / kBytes;
  const int whole = cols / 16 * 16, lines = cols / kLine * kLine;
  VF acc[N][R];
  clear_sums(acc);
  const auto add = [&](int k) __attribute__((always_inline)) {
    add_columns(acc, [&](int r) { return load_floats<F>(w + zu(r) * row + zu(k) * zu(kBytes)); }, [&](int n) { return vload(a[zu(n)] + k); });
  };
  int k = 0;
  for (; k < lines; k += kLine) {
    const std::byte* later = w + zu(k + kAhead) * zu(kBytes) + (k + kAhead < cols ? 0 : zu(R - 1) * row);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) second ? prefetch_second(later + zu(r) * row) : prefetch_first(later + zu(r) * row);
#pragma GCC unroll 2
    for (int i = 0; i < kLine; i += 16) add(k + i);
  }
  for (; k < whole; k += 16) add(k);
  if (k < cols) {
    const LastColumns<R, kBytes> last([&](int r) { return w + zu(r) * row + zu(k) * zu(kBytes); }, cols - k);
    const LastColumns<N, 4> x([&](int n) { return a[zu(n)] + k; }, cols - k);
    add_columns(acc, [&](int r) { return load_floats<F>(last.part[r]); }, [&](int n) { return load_floats<Format::F32>(x.part[n]); });
  }
  store_sums(acc, out, stride);
}

// The same from a panel, where sixteen columns of R rows follow each other and missing columns are zero.
template <Format F, int R, int N>
void float_panel(const std::byte* panel, int cols, const std::array<const float*, N> a, float* out, std::size_t stride) {
  constexpr std::size_t kStep = 16 * zu(Traits<F>::bytes);
  const int whole = cols / 16 * 16;
  VF acc[N][R];
  clear_sums(acc);
  const auto weights = [&](int r) { return load_floats<F>(panel + zu(r) * kStep); };
  int k = 0;
  for (; k < whole; k += 16, panel += R * kStep) add_columns(acc, weights, [&](int n) { return vload(a[zu(n)] + k); });
  if (k < cols) {
    const LastColumns<N, 4> x([&](int n) { return a[zu(n)] + k; }, cols - k);
    add_columns(acc, weights, [&](int n) { return load_floats<Format::F32>(x.part[n]); });
  }
  store_sums(acc, out, stride);
}

template <Format F, int R>
void fill_float_panel(const std::byte* w, std::size_t row, std::byte* panel) {
  constexpr std::size_t kStep = 16 * zu(Traits<F>::bytes);
  std::size_t at = 0;
  for (; at + kStep <= row; at += kStep) {
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r, panel += kStep) std::memcpy(panel, w + zu(r) * row + at, kStep);
  }
  for (int r = 0; at < row && r < R; ++r, panel += kStep) {
    std::memset(panel, 0, kStep);
    std::memcpy(panel, w + zu(r) * row + at, row - at);
  }
}

// ---- Whole pieces -------------------------------------------------------------------------------------------------------
struct FloatRows {  // some rows of a piece: in the file, or (Panel) brought side by side R by R
  const std::byte* data;
  std::size_t row;  // bytes from one to the next, in a panel on average
  int first, end;   // in the piece; R divides their number
};

// The rows that follow a piece, asked for bit by bit while the piece is multiplied.
struct Following {
  const std::byte *line, *end;
  std::size_t bytes;  // per tile
  TG_INLINE void ask() {
    for (const std::byte* to = end - line > static_cast<std::ptrdiff_t>(bytes) ? line + bytes : end; line < to; line += 64) prefetch_second(line);
  }
};

template <Format F, int R, int N, bool Panel>
int float_columns(const Piece& p, const FloatRows& w, int c, Following* following) {
  for (; c + N <= p.x.n; c += N) {
    std::array<const float*, N> a;
    for (int n = 0; n < N; ++n) a[zu(n)] = p.x.f32 + zu(p.x.at(c + n)) * p.x.f32_stride;
    const std::byte* data = w.data;
    for (int r = w.first; r < w.end; r += R, data += R * w.row) {
      float* out = p.out + zu(c) * p.stride + r;
      if constexpr (Panel) {
        following->ask();
        float_panel<F, R, N>(data, p.w.cols, a, out, p.stride);
      } else {
        float_rows<F, R, N>(data, w.row, p.w.cols, p.x.tuning->prefetch_cache == 2, a, out, p.stride);
      }
    }
  }
  return c;
}

template <Format F, int R, bool Panel>
void float_all_columns(const Piece& p, const FloatRows& w, Following* following = nullptr) {
  int c = float_columns<F, R, kFloatColumns, Panel>(p, w, 0, following);
  if constexpr (kFloatColumns > 4) c = float_columns<F, R, 4, Panel>(p, w, c, following);
  if constexpr (kFloatColumns > 2) c = float_columns<F, R, 2, Panel>(p, w, c, following);
  float_columns<F, R, 1, Panel>(p, w, c, following);
}

template <Format F>
void float_piece(const Piece& p) {
  const std::size_t row = zu(p.w.cols) * zu(Traits<F>::bytes), padded = zu(round_up(p.w.cols, 16)) * zu(Traits<F>::bytes);
  const std::byte* rows = p.w.expert_data(p.expert) + zu(p.row0) * row;
  // One activation row: short rows one by one, which the memory likes best; long ones side by side, for their chains of sums would wait.
  constexpr int kSingle = 4;
  constexpr std::size_t kShort = 8192;
  if (p.x.n == 1 && row <= kShort) {
    float_columns<F, 1, 1, false>(p, {rows, row, 0, p.rows}, 0, nullptr);
    return;
  }
  const int together = p.x.n == 1 ? kSingle : kFloatRows, even = p.rows / together * together;
  if (p.x.n == 1) {
    float_columns<F, kSingle, 1, false>(p, {rows, row, 0, even}, 0, nullptr);
  } else if (p.x.n <= p.x.tuning->direct(UnpackKind::plain)) {
    float_all_columns<F, kFloatRows, false>(p, {rows, row, 0, even});
  } else {
    for (int r = 0; r < even; r += kFloatRows) fill_float_panel<F, kFloatRows>(rows + zu(r) * row, row, p.panel + zu(r) * padded);
    // As much as the second cache has room for beside the panel and the activations.
    constexpr std::size_t kMostFollowing = std::size_t{256} << 10;
    const std::size_t bytes = zu(p.rows) * row < kMostFollowing ? zu(p.rows) * row : kMostFollowing;
    const std::byte* next = rows + zu(p.rows) * row;
    const int tiles = (p.x.n + kFloatColumns - 1) / kFloatColumns * (even / kFloatRows);
    Following following{next, next + bytes, round_up_bytes(bytes / zu(tiles > 0 ? tiles : 1) + 1, 64)};
    float_all_columns<F, kFloatRows, true>(p, {p.panel, padded, 0, even}, &following);
  }
  if (even < p.rows) float_all_columns<F, 1, false>(p, {rows + zu(even) * row, row, even, p.rows});
}

// Scratch of a piece; no float is wider than 4 bytes.
constexpr std::size_t float_panel_bytes(int cols) { return zu(kPieceRows) * zu(round_up(cols, 16)) * 4; }

}  // namespace
}  // namespace tg::cpu
