// Attention of some queries over one split of keys: scores of 16 keys a vector, then softmax weights, then weighted values.
// Each score is one sum over dimensions, each result one sum over keys in ascending order, so neither the number of queries in the
// tile nor where a prefill chunk begins can change a bit. Masked keys have weight exactly 0 and change nothing.
#pragma once
#include "engine/device/cpu/kernels.h"
#include "engine/device/cpu/vector_rows.h"

namespace tg::cpu {
namespace {

template <KvType T>
TG_INLINE VF load_kv(const std::byte* p) {
  if constexpr (T == KvType::f32) return vload(reinterpret_cast<const float*>(p));
  if constexpr (T == KvType::bf16) return load_bf16(p);
  return load_half(p);
}

// The part of a split that any query of the tile sees, in whole key blocks.
struct KeyRange {
  int first, end;              // keys
  int first_block, end_block;  // key blocks, absolute
};

TG_INLINE KeyRange key_range(const AttentionTile& t) {
  KeyRange range{t.split_end, t.split_begin, 0, 0};
  for (int m = 0; m < t.n; ++m) {
    range.first = t.first_key[m] < range.first ? t.first_key[m] : range.first;
    range.end = t.end_key[m] > range.end ? t.end_key[m] : range.end;
  }
  range.first = range.first > t.split_begin ? range.first : t.split_begin;
  range.end = range.end < t.split_end ? range.end : t.split_end;
  range.first_block = range.first / kKeyBlock;
  range.end_block = (range.end + kKeyBlock - 1) / kKeyBlock;
  return range;
}

TG_INLINE const std::byte* key_block(const AttentionTile& t, const KvPage& layout, int block) {
  return t.pages[block / kBlocksPerPage] + t.layer_offset + zu(t.kv_head) * layout.head_bytes + zu(block % kBlocksPerPage) * layout.k_block_bytes;
}
TG_INLINE float* score_at(const AttentionTile& t, int m, int block) {
  return t.scores + zu(m) * kAttentionSplit + (block * kKeyBlock - t.split_begin);
}

// With few queries the memory is the limit, and keys and values lie in short runs that hardware prefetch loses at each page. So the
// lines needed a little later are asked for by hand. kFewQueries: with more, the arithmetic hides the memory anyway.
constexpr int kFewQueries = 4;
TG_INLINE void prefetch(const std::byte* p) { __builtin_prefetch(p, 0, 3); }

// ---- Scores of float keys: packed queries [head_dim][kTileQueries] --------------------------------------------------------
TG_INLINE void pack_queries(const AttentionTile& t) {
  for (int m = 0; m < t.n; ++m) {
    for (int d = 0; d < t.kv.head_dim_k; ++d) t.packed[d * kTileQueries + m] = t.q[m][d];
  }
}

template <KvType T, int M, int KB>
int float_scores(const AttentionTile& t, const KvPage& layout, int m, int block, int end) {
  constexpr std::size_t kStep = zu(element_bytes(T)) * kKeyBlock;
  const float* q = t.packed + m;
  for (; block + KB <= end; block += KB) {
    const std::byte* k[KB];
    const std::byte* ahead[KB];
    for (int j = 0; j < KB; ++j) {
      k[j] = key_block(t, layout, block + j);
      ahead[j] = block + KB + j < end ? key_block(t, layout, block + KB + j) : k[j];
    }
    VF acc[KB][M];
    for (int j = 0; j < KB; ++j) {
      for (int i = 0; i < M; ++i) acc[j][i] = vset(0.0F);
    }
    for (int d = 0; d < t.kv.head_dim_k; ++d) {
      VF keys[KB];
      for (int j = 0; j < KB; ++j) keys[j] = load_kv<T>(k[j] + zu(d) * kStep);
      for (int j = 0; M <= kFewQueries && j < KB; ++j) prefetch(ahead[j] + zu(d) * kStep);
#pragma GCC unroll 12
      for (int i = 0; i < M; ++i) {
        const VF x = vset(q[d * kTileQueries + i]);
        for (int j = 0; j < KB; ++j) acc[j][i] = vfma(x, keys[j], acc[j][i]);
      }
    }
    for (int j = 0; j < KB; ++j) {
      for (int i = 0; i < M; ++i) vstore(score_at(t, m + i, block + j), acc[j][i]);
    }
  }
  return block;
}

template <KvType T, int M, int KB>
int float_score_rows(const AttentionTile& t, const KvPage& layout, const KeyRange& range, int m) {
  for (; m + M <= t.n; m += M) {
    const int block = float_scores<T, M, KB>(t, layout, m, range.first_block, range.end_block);
    if constexpr (KB > 1) float_scores<T, M, 1>(t, layout, m, block, range.end_block);
  }
  return m;
}

template <KvType T>
void all_float_scores(const AttentionTile& t, const KvPage& layout, const KeyRange& range) {
  pack_queries(t);
  int m = 0;
  if constexpr (kChains >= 12) {
    m = float_score_rows<T, 12, 2>(t, layout, range, m);
    m = float_score_rows<T, 8, 2>(t, layout, range, m);
  }
  m = float_score_rows<T, 4, kChains / 4 < 2 ? 1 : 2>(t, layout, range, m);
  if (t.n - m == 3) m = float_score_rows<T, 3, kChains / 4 < 2 ? 1 : 4>(t, layout, range, m);
  m = float_score_rows<T, 2, kChains / 2 < 4 ? kChains / 2 : 4>(t, layout, range, m);
  float_score_rows<T, 1, 4>(t, layout, range, m);
}

// ---- Scores of q8_0 keys: queries as ActBlocks, 16 keys are 16 weight rows --------------------------------------------------
constexpr std::size_t kKeyGroupBytes = kKeyBlock * 2 + kKeyBlock * 32;

TG_INLINE void quantise_queries(const AttentionTile& t, const KvPage& layout, ActBlock* blocks) {
  for (int m = 0; m < t.n; ++m) {
    for (int d = 0; d < layout.k_dim; d += 32) {
      const int left = t.kv.head_dim_k - d;
      quantise_block(load_part(t.q[m] + d, left < 16 ? left : 16),
                     left > 16 ? load_part(t.q[m] + d + 16, left < 32 ? left - 16 : 16) : vset(0.0F), blocks[m * (layout.k_dim / 32) + d / 32]);
    }
  }
}

template <int M>
int byte_scores(const AttentionTile& t, const KvPage& layout, const KeyRange& range, const ActBlock* q, int m) {
  const int groups = layout.k_dim / 32;
  for (; m + M <= t.n; m += M) {
    for (int block = range.first_block; block < range.end_block; ++block) {
      const std::byte* k = key_block(t, layout, block);
      VF acc[M];
      for (int i = 0; i < M; ++i) acc[i] = vset(0.0F);
      for (int g = 0; g < groups; ++g, k += kKeyGroupBytes) {
        const VF scale = load_half(k);
        VI keys[8];
#pragma GCC unroll 8
        for (int j = 0; j < 8; ++j) keys[j] = iload(k + kKeyBlock * 2 + j * 64);
#pragma GCC unroll 8
        for (int i = 0; i < M; ++i) {
          const ActBlock& a = q[(m + i) * groups + g];
          VI sum = wide_start(a.sum);
#pragma GCC unroll 8
          for (int j = 0; j < 8; ++j) sum = wide_dot(sum, keys[j], broadcast4(a.q + 4 * j));
          acc[i] = vfma(to_float(sum), vmul(scale, vset(a.d)), acc[i]);
        }
      }
      for (int i = 0; i < M; ++i) vstore(score_at(t, m + i, block), acc[i]);
    }
  }
  return m;
}

void all_byte_scores(const AttentionTile& t, const KvPage& layout, const KeyRange& range) {
  auto* q = reinterpret_cast<ActBlock*>(t.packed);
  quantise_queries(t, layout, q);
  int m = byte_scores<8>(t, layout, range, q, 0);
  m = byte_scores<4>(t, layout, range, q, m);
  if (t.n - m == 3) m = byte_scores<3>(t, layout, range, q, m);
  m = byte_scores<2>(t, layout, range, q, m);
  byte_scores<1>(t, layout, range, q, m);
}

// ---- Softmax weights, in place of the scores --------------------------------------------------------------------------------
void softmax_weights(const AttentionTile& t, const KeyRange& range, int m) {
  VF top = vset(kNoKey);
  for (int block = range.first_block; block < range.end_block; ++block) {
    float* scores = score_at(t, m, block);
    const int key = block * kKeyBlock, first = t.first_key[m] - key, end = t.end_key[m] - key;
    const int split_end = t.split_end - key;
    VF s = vload(scores);
    if (t.softcap > 0) s = vmul(vset(t.softcap), vtanh(vdiv(s, vset(t.softcap))));
    if (first > 0 || end < kKeyBlock || split_end < kKeyBlock) {
      s = vselect(lanes_from_to(first, end < split_end ? end : split_end), s, vset(kNoKey));
    }
    top = vmax(top, s);
    vstore(scores, s);
  }
  t.max[m] = vtop(top);
  t.sum[m] = 0;
  const VF shift = vset(t.max[m] == kNoKey ? 0.0F : t.max[m]);
  VF sum = vset(0.0F);
  for (int block = range.first_block; block < range.end_block; ++block) {
    float* scores = score_at(t, m, block);
    const VF p = vexp(vsub(vload(scores), shift));
    sum = vadd(sum, p);
    vstore(scores, p);
  }
  t.sum[m] = vsum(sum);
}

// ---- Weighted values ------------------------------------------------------------------------------------------------------
// Vectors j, j + 1, ... of one value row.
template <KvType T, int V>
TG_INLINE void load_values(const std::byte* part, const KvPage& layout, int token, int j, VF* v) {
  if constexpr (T == KvType::q8_0) {
    const int groups = layout.v_dim / 32;
    const std::byte* q = part + zu(kPageTokens * groups) * 2 + zu(token * layout.v_dim + j * 16);
#pragma GCC unroll 4
    for (int i = 0; i < V; ++i) {
      v[i] = vmul(to_float(load_i8(q + i * 16)), vset(half_scalar(part + zu(token * groups + (j + i) / 2) * 2)));
    }
  } else {
    constexpr std::size_t kBytes = zu(element_bytes(T));
    const std::byte* row = part + zu(token * layout.v_dim + j * 16) * kBytes;
#pragma GCC unroll 4
    for (int i = 0; i < V; ++i) v[i] = load_kv<T>(row + zu(i) * 16 * kBytes);
  }
}

constexpr int kValuesAhead = 24;
template <KvType T, int V>
TG_INLINE void prefetch_values(const std::byte* part, const KvPage& layout, int token, int j) {
  constexpr int kBytes = element_bytes(T);
  const std::byte* row = part + (T == KvType::q8_0 ? zu(kPageTokens * layout.v_dim / 32) * 2 : 0) + zu((token * layout.v_dim + j * 16) * kBytes);
  for (int i = 0; i < V * 16 * kBytes; i += 64) prefetch(row + i);
}

template <KvType T, int M, int V>
void weighted_values(const AttentionTile& t, const KvPage& layout, const KeyRange& range, int m, int j) {
  VF acc[M][V];
  for (int i = 0; i < M; ++i) {
    for (int c = 0; c < V; ++c) acc[i][c] = vset(0.0F);
  }
  const float* p = t.scores + zu(m) * kAttentionSplit;
  for (int key = range.first; key < range.end;) {
    const std::byte* part = t.pages[key / kPageTokens] + t.layer_offset + layout.v_part(t.kv_head);
    const int page_end = (key / kPageTokens + 1) * kPageTokens, end = page_end < range.end ? page_end : range.end;
    const std::byte* next = page_end < range.end ? t.pages[key / kPageTokens + 1] + t.layer_offset + layout.v_part(t.kv_head) : part;
    for (; key < end; ++key) {
      VF v[V];
      load_values<T, V>(part, layout, key % kPageTokens, j, v);
      if constexpr (M <= kFewQueries) {
        const int ahead = key % kPageTokens + kValuesAhead;
        prefetch_values<T, V>(ahead < kPageTokens ? part : next, layout, ahead % kPageTokens, j);
      }
#pragma GCC unroll 6
      for (int i = 0; i < M; ++i) {
        const VF x = vset(p[i * kAttentionSplit + key - t.split_begin]);
#pragma GCC unroll 4
        for (int c = 0; c < V; ++c) acc[i][c] = vfma(x, v[c], acc[i][c]);
      }
    }
  }
  for (int i = 0; i < M; ++i) {
    for (int c = 0; c < V; ++c) vstore(t.out + zu(m + i) * t.out_stride + zu(j + c) * 16, acc[i][c]);
  }
}

template <KvType T, int M>
int value_rows(const AttentionTile& t, const KvPage& layout, const KeyRange& range, int m) {
  for (; m + M <= t.n; m += M) {
    const int vectors = layout.v_dim / 16;
    int j = 0;
    for (; j + kValueVectors <= vectors; j += kValueVectors) weighted_values<T, M, kValueVectors>(t, layout, range, m, j);
    for (; j < vectors; ++j) weighted_values<T, M, 1>(t, layout, range, m, j);
  }
  return m;
}

template <KvType T>
void all_values(const AttentionTile& t, const KvPage& layout, const KeyRange& range) {
  int m = value_rows<T, kValueQueries>(t, layout, range, 0);
  if constexpr (kValueQueries > 4) m = value_rows<T, 4>(t, layout, range, m);
  if constexpr (kValueQueries > 3) m = value_rows<T, 3>(t, layout, range, m);
  if constexpr (kValueQueries > 2) m = value_rows<T, 2>(t, layout, range, m);
  value_rows<T, 1>(t, layout, range, m);
}

void attention_tile(const AttentionTile& t) {
  const KvPage layout(t.kv);
  const KeyRange range = key_range(t);
  if (range.first >= range.end) {
    for (int m = 0; m < t.n; ++m) {
      t.max[m] = kNoKey;
      t.sum[m] = 0;
    }
    return;
  }
  switch (t.kv.k_type) {
    case KvType::f32: all_float_scores<KvType::f32>(t, layout, range); break;
    case KvType::f16: all_float_scores<KvType::f16>(t, layout, range); break;
    case KvType::bf16: all_float_scores<KvType::bf16>(t, layout, range); break;
    case KvType::q8_0: all_byte_scores(t, layout, range); break;
  }
  for (int m = 0; m < t.n; ++m) softmax_weights(t, range, m);
  switch (t.kv.v_type) {
    case KvType::f32: all_values<KvType::f32>(t, layout, range); break;
    case KvType::f16: all_values<KvType::f16>(t, layout, range); break;
    case KvType::bf16: all_values<KvType::bf16>(t, layout, range); break;
    case KvType::q8_0: all_values<KvType::q8_0>(t, layout, range); break;
  }
}

}  // namespace
}  // namespace tg::cpu
