// One product for all quantised formats (vector_floats.h has the others): 16 weight rows are the lanes of a vector, so an element of the
// result is one sum over the columns of the weight in ascending blocks of 32, the same for one activation row or five hundred:
//   sum = fma(dot(q, a) as float, scale * d, sum); sum = fma(min, s, sum)
// Few activation rows: weights are unpacked in registers and used at once (the memory is the limit). Many: a tile pair is unpacked to
// bytes for kChunk columns at a time (a panel, which stays in the first cache) and multiplied with all rows.
#pragma once
#include "engine/device/cpu/vector_floats.h"
#include "engine/device/cpu/weight_loaders_codebook.h"
#include "engine/device/cpu/weight_tiles.h"

namespace tg::cpu {
namespace {

constexpr int kChunkBlocks = 16;  // blocks of 32 per panel: 2 tiles x 16 x ~600 bytes = 20 KiB
constexpr int kDirectRows = 4;    // up to so many activation rows share one unpacking in registers

// ---- Sources of unpacked blocks -----------------------------------------------------------------------------------------
// How a format's blocks are multiplied, whatever unpacked them.
template <int Groups, bool Min, bool Wide>
struct Kind {
  static constexpr int kGroups = Groups;
  static constexpr bool kMin = Min, kWide = Wide;
};

constexpr std::size_t panel_block_bytes(int groups, bool min) { return 512 + zu(groups) * 64 * (min ? 2U : 1U); }
constexpr std::size_t kPanelBytes = 2 * kChunkBlocks * (512 + 4 * 64);

template <class K>
TG_INLINE void store_panel(const Unpacked& u, std::byte* to) {
#pragma GCC unroll 8
  for (int j = 0; j < 8; ++j) istore(to + j * 64, u.q[j]);
  auto* f = reinterpret_cast<float*>(to + 512);
  for (int g = 0; g < K::kGroups; ++g) vstore(f + g * 16, u.scale[g]);
  for (int g = 0; K::kMin && g < K::kGroups; ++g) vstore(f + (K::kGroups + g) * 16, u.min[g]);
}

// What Tuning leaves open. Weights asked for into the second cache are brought into the first shortly before use, which takes no time there.
// Where they are asked for into the first, blocks of 256, whose steps through memory no hardware prefetch follows, are asked for in the
// second as well, earlier; smaller blocks do not need it.
constexpr std::size_t kFirstCacheAhead = 2048;
constexpr std::size_t kSecondCacheAhead = 32768;

// Asks for PART of PARTS of a block at `from`, so that the requests are evenly spread over the work: all lines of a large block asked for
// at once wait for each other. The barrier holds the compiler to that place.
template <std::size_t Bytes, int Parts>
TG_INLINE void prefetch_part(const std::byte* from, int part, bool second) {
  constexpr std::size_t kLines = (Bytes + 63) / 64;
  const std::byte *line = from + kLines * zu(part) / zu(Parts) * 64, *end = from + kLines * zu(part + 1) / zu(Parts) * 64;
  if (second) {
    for (; line < end; line += 64) prefetch_second(line);
  } else {
    for (; line < end; line += 64) prefetch_first(line);
  }
  asm volatile("" ::: "memory");
}

// Unpacks `blocks` blocks of 32 starting at `first` of one interleaved tile, and asks for what will be unpacked next, at `next`.
template <Format F>
void fill_panel(const std::byte* tile, int first, int blocks, const std::byte* next, bool second, std::byte* panel) {
  using L = Loader<F>;
  using K = Kind<L::kGroups, L::kMin, L::kWide>;
  constexpr std::size_t kStep = panel_block_bytes(K::kGroups, K::kMin), kTileBlock = zu(Traits<F>::bytes) * kTileRows;
  const std::byte* t = tile + zu(first / L::kBlocks) * kTileBlock;
  for (int b = 0; b < blocks; b += L::kBlocks, t += kTileBlock, next += kTileBlock) {
#pragma GCC unroll 8
    for (int i = 0; i < L::kBlocks; ++i, panel += kStep) {
      prefetch_part<kTileBlock, L::kBlocks>(next, i, second);
      Unpacked u;
      L::load(t, i, u);
      store_panel<K>(u, panel);
    }
  }
}

// ---- Products of one block ----------------------------------------------------------------------------------------------
template <bool Wide>
TG_INLINE VI start(int sum, int offset) {
  return Wide ? wide_start(sum) : iset(sum * -offset);
}
template <bool Wide>
TG_INLINE VI multiply_add(VI acc, VI w, VI a) {
  return Wide ? wide_dot(acc, w, a) : dot(acc, w, a);
}
template <class K>
TG_INLINE int group_sum(const ActBlock& a, int g) {
  return K::kGroups == 1 ? a.sum : g == 0 ? a.sum_low : a.sum - a.sum_low;
}
template <class K>
TG_INLINE float group_s(const ActBlock& a, int g) {
  return K::kGroups == 1 ? a.s : a.d * static_cast<float>(group_sum<K>(a, g));
}

template <class K, int N>
TG_INLINE void multiply_unpacked(const Unpacked& u, const ActBlock* const* a, int b, int offset, VF* acc) {
  constexpr int kQuads = 8 / K::kGroups;
#pragma GCC unroll 4
  for (int n = 0; n < N; ++n) {
    const ActBlock& block = a[n][b];
#pragma GCC unroll 2
    for (int g = 0; g < K::kGroups; ++g) {
      VI sum = start<K::kWide>(K::kMin ? 0 : group_sum<K>(block, g), offset);
#pragma GCC unroll 8
      for (int j = 0; j < kQuads; ++j) {
        sum = multiply_add<K::kWide>(sum, u.q[g * kQuads + j], broadcast4(block.q + 4 * (g * kQuads + j)));
      }
      acc[n] = vfma(to_float(sum), vmul(u.scale[g], vset(block.d)), acc[n]);
      if (K::kMin) acc[n] = vfma(u.min[g], vset(group_s<K>(block, g)), acc[n]);
    }
  }
}

// How many bytes before their use the bits of a piece are asked for: hardware prefetch loses the unrolled formats, and all where several
// activation rows are read beside the weights. Blocks of 32 by one row it follows better alone, but needs a while for it; hints also reach from
// a small matrix into the next.
template <Format F, int N>
std::size_t asked_ahead(const Piece& p) {
  constexpr std::size_t kLarge = std::size_t{1} << 20;
  const Tuning& tuning = *p.x.tuning;
  return zu(N == 1 && Loader<F>::kBlocks == 1 && p.w.bytes >= kLarge ? tuning.blocks_ahead : tuning.weights_ahead);
}

// N activation rows with one tile of the file's bits. What comes `ahead` bytes later is asked for meanwhile, into the second cache or the first.
template <Format F, int N>
void direct(const std::byte* tile, int blocks, std::size_t ahead, bool second, const ActBlock* const* a, float* out, std::size_t stride) {
  using L = Loader<F>;
  constexpr std::size_t kTileBlock = zu(Traits<F>::bytes) * kTileRows;
  using K = Kind<L::kGroups, L::kMin, L::kWide>;
  VF acc[N];
  for (int n = 0; n < N; ++n) acc[n] = vset(0.0F);
  for (int b = 0; b < blocks; b += L::kBlocks, tile += zu(Traits<F>::bytes) * kTileRows) {
#pragma GCC unroll 8
    for (int i = 0; i < L::kBlocks; ++i) {
      if (ahead > 0) {
        prefetch_part<kTileBlock, L::kBlocks>(tile + ahead, i, second);
        if (second) prefetch_part<kTileBlock, L::kBlocks>(tile + kFirstCacheAhead, i, false);
      }
      if (L::kBlocks > 1 && !second) prefetch_part<kTileBlock, L::kBlocks>(tile + kSecondCacheAhead, i, true);
      Unpacked u;
      L::load(tile, i, u);
      multiply_unpacked<K, N>(u, a, b + i, L::kOffset, acc);
    }
  }
  for (int n = 0; n < N; ++n) vstore(out + zu(n) * stride, acc[n]);
}

// N activation rows with R tiles of a panel; `resume`: go on from the sums of the chunk before.
template <class K, int R, int N>
void panel_product(const std::byte* panel, std::size_t tile_step, int blocks, const ActBlock* const* a, int offset, bool resume, float* out,
                   std::size_t stride) {
  constexpr int kQuads = 8 / K::kGroups;
  constexpr std::size_t kStep = panel_block_bytes(K::kGroups, K::kMin);
  VF acc[N][R];
  for (int n = 0; n < N; ++n) {
    for (int r = 0; r < R; ++r) acc[n][r] = resume ? vload(out + zu(n) * stride + zu(r) * 16) : vset(0.0F);
  }
  for (int b = 0; b < blocks; ++b, panel += kStep) {
#pragma GCC unroll 2
    for (int g = 0; g < K::kGroups; ++g) {
      VI sum[N][R];
#pragma GCC unroll 8
      for (int n = 0; n < N; ++n) {
        for (int r = 0; r < R; ++r) sum[n][r] = start<K::kWide>(K::kMin ? 0 : group_sum<K>(a[n][b], g), offset);
      }
#pragma GCC unroll 8
      for (int j = g * kQuads; j < (g + 1) * kQuads; ++j) {
        VI w[R];
        for (int r = 0; r < R; ++r) w[r] = iload(panel + zu(r) * tile_step + j * 64);
#pragma GCC unroll 8
        for (int n = 0; n < N; ++n) {
          const VI x = broadcast4(a[n][b].q + 4 * j);
          for (int r = 0; r < R; ++r) sum[n][r] = multiply_add<K::kWide>(sum[n][r], w[r], x);
        }
      }
      for (int r = 0; r < R; ++r) {
        const auto* f = reinterpret_cast<const float*>(panel + zu(r) * tile_step + 512);
        const VF scale = vload(f + g * 16), min = K::kMin ? vload(f + (K::kGroups + g) * 16) : scale;
#pragma GCC unroll 8
        for (int n = 0; n < N; ++n) {
          acc[n][r] = vfma(to_float(sum[n][r]), vmul(scale, vset(a[n][b].d)), acc[n][r]);
          if (K::kMin) acc[n][r] = vfma(min, vset(group_s<K>(a[n][b], g)), acc[n][r]);
        }
      }
    }
  }
  for (int n = 0; n < N; ++n) {
    for (int r = 0; r < R; ++r) vstore(out + zu(n) * stride + zu(r) * 16, acc[n][r]);
  }
}

// ---- Whole pieces -------------------------------------------------------------------------------------------------------
template <int N>
TG_INLINE void column_blocks(const ActView& x, int c, int block, const ActBlock** a) {
  for (int n = 0; n < N; ++n) a[n] = x.blocks + zu(x.at(c + n)) * x.block_stride + block;
}

template <class K, int R, int N>
int panel_columns(const Piece& p, int t, int c, int first, int blocks, int offset) {
  constexpr std::size_t kTileStep = panel_block_bytes(K::kGroups, K::kMin) * kChunkBlocks;
  const std::byte* panel = p.panel + zu(t) * kTileStep;
  for (; c + N <= p.x.n; c += N) {
    const ActBlock* a[N];
    column_blocks<N>(p.x, c, first, a);
    panel_product<K, R, N>(panel, kTileStep, blocks, a, offset, first > 0, p.out + zu(c) * p.stride + zu(t) * 16, p.stride);
  }
  return c;
}

template <class K, int R>
void panel_all_columns(const Piece& p, int t, int first, int blocks, int offset) {
  int c = panel_columns<K, R, kColumns>(p, t, 0, first, blocks, offset);
  if constexpr (kColumns > 4) c = panel_columns<K, R, 4>(p, t, c, first, blocks, offset);
  if constexpr (kColumns > 2) c = panel_columns<K, R, 2>(p, t, c, first, blocks, offset);
  panel_columns<K, R, 1>(p, t, c, first, blocks, offset);
}

// fill(tile, first block, blocks, to) makes the panel of one tile.
template <class K, class Fill>
TG_INLINE void panel_chunks(const Piece& p, int offset, Fill&& fill) {
  constexpr std::size_t kTileStep = panel_block_bytes(K::kGroups, K::kMin) * kChunkBlocks;
  const int all = p.w.cols / 32;
  for (int first = 0; first < all; first += kChunkBlocks) {
    const int blocks = all - first < kChunkBlocks ? all - first : kChunkBlocks;
    for (int t = 0; t < p.tiles; ++t) fill(t, first, blocks, p.panel + zu(t) * kTileStep);
    if (p.tiles == kTilesAtOnce) {
      panel_all_columns<K, kTilesAtOnce>(p, 0, first, blocks, offset);
    } else {
      for (int t = 0; t < p.tiles; ++t) panel_all_columns<K, 1>(p, t, first, blocks, offset);
    }
  }
}

template <Format F, int N>
int direct_columns(const Piece& p, const std::byte* tiles, std::size_t tile_bytes, int c) {
  for (; c + N <= p.x.n; c += N) {
    const ActBlock* a[N];
    column_blocks<N>(p.x, c, 0, a);
    for (int t = 0; t < p.tiles; ++t) {
      direct<F, N>(tiles + zu(t) * tile_bytes, p.w.cols / 32, asked_ahead<F, N>(p), p.x.tuning->prefetch_cache == 2, a, p.out + zu(c) * p.stride + zu(t) * 16, p.stride);
    }
  }
  return c;
}

template <Format F>
constexpr UnpackKind kUnpackKind = Loader<F>::kWide          ? UnpackKind::wide
                                   : Loader<F>::kGroups == 2 ? UnpackKind::pairs
                                   : Loader<F>::kBlocks > 1  ? UnpackKind::super
                                                             : UnpackKind::block;

template <Format F>
void quantised_piece(const Piece& p) {
  using L = Loader<F>;
  const std::size_t tile_bytes = zu(p.w.cols / Traits<F>::elements) * zu(Traits<F>::bytes) * kTileRows;
  const std::byte* tiles = p.w.expert_data(p.expert) + zu(p.row0 / kTileRows) * tile_bytes;
  if (p.x.n > p.x.tuning->direct(kUnpackKind<F>)) {
    panel_chunks<Kind<L::kGroups, L::kMin, L::kWide>>(p, L::kOffset, [&](int t, int first, int blocks, std::byte* to) {
      const std::byte* tile = tiles + zu(t) * tile_bytes;
      const std::size_t after = zu((first + blocks) / L::kBlocks) * zu(Traits<F>::bytes) * kTileRows;
      fill_panel<F>(tile, first, blocks, after < tile_bytes ? tile + after : tile + zu(p.tiles) * tile_bytes,
                    p.x.tuning->prefetch_cache == 2, to);
    });
    return;
  }
  int c = direct_columns<F, kDirectRows>(p, tiles, tile_bytes, 0);
  if (p.x.n - c == 3) c = direct_columns<F, 3>(p, tiles, tile_bytes, c);
  c = direct_columns<F, 2>(p, tiles, tile_bytes, c);
  direct_columns<F, 1>(p, tiles, tile_bytes, c);
}

// ---- Dispatch: one table from the lists of formats ------------------------------------------------------------------------
using PieceFunction = void (*)(const Piece&);

template <Format... F>
TG_INLINE PieceFunction find_quantised(FormatList<F...>, Format format) {
  PieceFunction found = nullptr;
  ((found = F == format ? &quantised_piece<F> : found), ...);
  return found;
}
template <Format... F>
TG_INLINE PieceFunction find_float(FormatList<F...>, Format format) {
  PieceFunction found = nullptr;
  ((found = F == format ? &float_piece<F> : found), ...);
  return found;
}

void matmul_piece(const CpuWeight& w, int expert, int row0, int rows, const ActView& x, float* out, std::size_t stride, float* scratch) {
  PieceFunction f = find_float(PlainFormats{}, w.format);
  if (f == nullptr) f = find_quantised(QuantisedFormats{}, w.format);
  f({w, expert, row0, (rows + kTileRows - 1) / kTileRows, rows, x, out, stride, reinterpret_cast<std::byte*>(scratch)});
}

std::size_t matmul_scratch_floats(int) { return kPanelBytes / sizeof(float); }

}  // namespace
}  // namespace tg::cpu
