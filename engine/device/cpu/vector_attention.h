// Attention of some queries over one split of keys: scores of 16 keys a vector, then softmax weights, then weighted values.
// Each score is one sum over dimensions, each result one sum over keys in ascending order, so neither the number of queries in the
// tile nor where a prefill chunk begins can change a bit. Masked keys have weight exactly 0 and change nothing.
#pragma once
#include "engine/device/cpu/vector_attention_bytes.h"

namespace tg::cpu {
namespace {

template <KvType T>
TG_INLINE VF load_kv(const std::byte* p) {
  if constexpr (T == KvType::f32) return vload(reinterpret_cast<const float*>(p));
  if constexpr (T == KvType::bf16) return load_bf16(p);
  return load_half(p);
}

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
  const int shared = value_share_with_scores(t, layout) / static_cast<int>(kStep);
  for (; block + KB <= end; block += KB) {
    const std::byte* k[KB];
    const std::byte* values[KB];
    const std::byte* ahead[KB];
    for (int j = 0; j < KB; ++j) {
      k[j] = key_block(t, layout, block + j);
      ahead[j] = block + kBlocksPerPage + j < end ? key_block(t, layout, block + kBlocksPerPage + j) : k[j];
      values[j] = value_share_of(t, layout, block + j);
    }
    VF acc[KB][M];
    for (int j = 0; j < KB; ++j) {
      for (int i = 0; i < M; ++i) acc[j][i] = vset(0.0F);
    }
    const auto dimension = [&](int d) __attribute__((always_inline)) {
      VF keys[KB];
      for (int j = 0; j < KB; ++j) keys[j] = load_kv<T>(k[j] + zu(d) * kStep);
#pragma GCC unroll 12
      for (int i = 0; i < M; ++i) {
        const VF x = vset(q[d * kTileQueries + i]);
        for (int j = 0; j < KB; ++j) acc[j][i] = vfma(x, keys[j], acc[j][i]);
      }
    };
    int d = 0;
    for (; d + 2 <= t.kv.head_dim_k; d += 2) {
      if (M <= kFewQueries && d < shared) {
        for (int j = 0; j < KB; ++j) prefetch(t, values[j] + zu(d) * kStep);
      }
      dimension(d);
      for (int j = 0; M <= kFewQueries && KB <= 2 && j < KB; ++j) prefetch(t, ahead[j] + zu(d) * kStep);
      dimension(d + 1);
    }
    if (d < t.kv.head_dim_k) dimension(d);
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
  if (kChains >= 12 && !few_queries(t)) {
    m = float_score_rows<T, 12, 2>(t, layout, range, m);
    m = float_score_rows<T, 8, 2>(t, layout, range, m);
  }
  m = float_score_rows<T, 4, kChains / 4 < 2 ? 1 : 2>(t, layout, range, m);
  if (t.n - m == 3) m = float_score_rows<T, 3, kChains / 4 < 2 ? 1 : 4>(t, layout, range, m);
  m = float_score_rows<T, 2, kChains / 2 < 4 ? kChains / 2 : 4>(t, layout, range, m);
  float_score_rows<T, 1, 4>(t, layout, range, m);
}

// ---- Softmax weights, in place of the scores --------------------------------------------------------------------------------
void softmax_weights(const AttentionTile& t, const KvPage& layout, const KeyRange& range, int m) {
  VF top = vset(kNoKey);
  for (int block = range.first_block; block < range.end_block; ++block) {
    float* scores = score_at(t, m, block);
    const Visible16 see = visible_lanes(t, m, block);
    VF s = vload(scores);
    if (t.softcap > 0) s = vmul(vset(t.softcap), vtanh(vdiv(s, vset(t.softcap))));
    if (!see.all) s = vselect(lanes_from_to(see.first, see.end), s, vset(kNoKey));
    top = vmax(top, s);
    vstore(scores, s);
  }
  t.max[m] = vtop(top);
  t.sum[m] = 0;
  const VF shift = vset(t.max[m] == kNoKey ? 0.0F : t.max[m]);
  VF sum = vset(0.0F);
  for (int block = range.first_block; block < range.end_block; ++block) {
    float* scores = score_at(t, m, block);
    if (few_queries(t)) {
      const std::byte* ahead = value_share_of(t, layout, block) + value_share(layout) - (m + 1) * kLinesPerWeights * 64;
      for (int i = 0; i < kLinesPerWeights; ++i) prefetch(t, ahead + i * 64);
    }
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
  constexpr std::size_t kBytes = zu(element_bytes(T));
  const std::byte* row = part + zu(token * layout.v_dim + j * 16) * kBytes;
#pragma GCC unroll 4
  for (int i = 0; i < V; ++i) v[i] = load_kv<T>(row + zu(i) * 16 * kBytes);
}

template <KvType T, int V>
TG_INLINE void prefetch_values(const AttentionTile& t, const std::byte* part, const KvPage& layout, int token, int j) {
  constexpr int kBytes = element_bytes(T);
  const std::byte* row = part + zu((token * layout.v_dim + j * 16) * kBytes);
  for (int i = 0; i < V * 16 * kBytes; i += 64) prefetch(t, row + i);
}

template <KvType T, int M, int V>
void weighted_values(const AttentionTile& t, const KvPage& layout, const KeyRange& range, int m, int j) {
  VF acc[M][V];
  for (int i = 0; i < M; ++i) {
    for (int c = 0; c < V; ++c) acc[i][c] = vset(0.0F);
  }
  const float* p = t.scores + zu(m) * kAttentionSplit;
  for (int key = range.first; key < range.end;) {
    const std::byte* part = value_part(t, layout, key / kPageTokens);
    const std::byte* next = next_keys(t, layout, key / kPageTokens);
    const int page_end = (key / kPageTokens + 1) * kPageTokens, end = page_end < range.end ? page_end : range.end;
    for (; key < end; ++key) {
      VF v[V];
      load_values<T, V>(part, layout, key % kPageTokens, j, v);
      if constexpr (M <= kFewQueries) prefetch_values<T, V>(t, next, layout, key % kPageTokens, j);
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
  int m = 0;
  if (kValueQueries <= 4 || !few_queries(t)) m = value_rows<T, kValueQueries>(t, layout, range, m);
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
  for (int m = 0; m < t.n; ++m) softmax_weights(t, layout, range, m);
  switch (t.kv.v_type) {
    case KvType::f32: all_values<KvType::f32>(t, layout, range); break;
    case KvType::f16: all_values<KvType::f16>(t, layout, range); break;
    case KvType::bf16: all_values<KvType::bf16>(t, layout, range); break;
    case KvType::q8_0: all_byte_values(t, layout, range); break;
  }
}

}  // namespace
}  // namespace tg::cpu
