// Attention over keys and values of q8_0: both products of 8 bits, summed as whole numbers.
// Keys: 16 keys are 16 weight rows, queries are ActBlocks. Values: softmax weight times scale of a value group becomes a whole number of
// 14 bits, in two bytes of 7, against the largest of the split that the query sees; so the sums over keys are exact whatever their order.
#pragma once
#include "engine/device/cpu/vector_attention_tile.h"

namespace tg::cpu {
namespace {

// ---- Scores -------------------------------------------------------------------------------------------------------------------
TG_INLINE void quantise_queries(const AttentionTile& t, const KvPage& layout, ActBlock* blocks) {
  for (int m = 0; m < t.n; ++m) {
    for (int d = 0; d < layout.k_dim; d += 32) {
      const int left = t.kv.head_dim_k - d;
      quantise_block(load_part(t.q[m] + d, left < 16 ? left : 16),
                     left > 16 ? load_part(t.q[m] + d + 16, left < 32 ? left - 16 : 16) : vset(0.0F), blocks[m * (layout.k_dim / 32) + d / 32]);
    }
  }
}

template <int M, int KB>
int byte_scores(const AttentionTile& t, const KvPage& layout, const ActBlock* q, int m, int block, int end) {
  const int groups = layout.k_dim / 32, shared = value_share_with_scores(t, layout);
  for (; block + KB <= end; block += KB) {
    const std::byte *k[KB], *scales[KB], *values[KB], *value_scales[KB], *ahead[KB];
    for (int b = 0; b < KB; ++b) {
      const int page = (block + b) / kBlocksPerPage, in_page = (block + b) % kBlocksPerPage;
      k[b] = key_block(t, layout, block + b);
      scales[b] = key_part(t, layout, page) + in_page * kKeyBlock * 2;
      ahead[b] = block + b + kBlocksPerPage < end ? key_block(t, layout, block + b + kBlocksPerPage) : k[b];
      value_scales[b] = value_part(t, layout, page) + in_page * kKeyBlock * 2;
      values[b] = value_share_of(t, layout, block + b);
    }
    VF acc[KB][M];
    for (int b = 0; b < KB; ++b) {
      for (int i = 0; i < M; ++i) acc[b][i] = vset(0.0F);
    }
    for (int g = 0; g < groups; ++g) {
      VI sum[KB][M];
#pragma GCC unroll 8
      for (int i = 0; i < M; ++i) {
        sum[0][i] = wide_start(q[(m + i) * groups + g].sum);
        for (int b = 1; b < KB; ++b) sum[b][i] = sum[0][i];
      }
#pragma GCC unroll 8
      for (int j = 0; j < 8; ++j) {
        VI keys[KB];
        for (int b = 0; b < KB; ++b) keys[b] = iload(k[b] + j * 64);
        for (int b = 0; M <= kFewQueries && b < KB; ++b) {
          if (g * 512 + j * 64 < shared) prefetch(t, values[b] + g * 512 + j * 64);
          prefetch(t, ahead[b] + g * 512 + j * 64);
        }
#pragma GCC unroll 8
        for (int i = 0; i < M; ++i) {
          const VI x = broadcast4(q[(m + i) * groups + g].q + 4 * j);
          for (int b = 0; b < KB; ++b) sum[b][i] = wide_dot(sum[b][i], keys[b], x);
        }
      }
      for (int b = 0; b < KB; ++b) {
        const VF scale = load_half(scales[b] + g * kPageTokens * 2);
#pragma GCC unroll 8
        for (int i = 0; i < M; ++i) acc[b][i] = vfma(to_float(sum[b][i]), vmul(scale, vset(q[(m + i) * groups + g].d)), acc[b][i]);
        if constexpr (M <= kFewQueries) prefetch(t, value_scales[b] + g * kPageTokens * 2);
        k[b] += kKeyBlock * 32;
      }
    }
    for (int b = 0; b < KB; ++b) {
      for (int i = 0; i < M; ++i) vstore(score_at(t, m + i, block + b), acc[b][i]);
    }
  }
  return block;
}

template <int M, int KB>
int byte_score_rows(const AttentionTile& t, const KvPage& layout, const KeyRange& range, const ActBlock* q, int m) {
  for (; m + M <= t.n; m += M) {
    const int block = byte_scores<M, KB>(t, layout, q, m, range.first_block, range.end_block);
    if constexpr (KB > 1) byte_scores<M, 1>(t, layout, q, m, block, range.end_block);
  }
  return m;
}

void all_byte_scores(const AttentionTile& t, const KvPage& layout, const KeyRange& range) {
  constexpr int kTwo = kChains >= 12 ? 2 : 1;
  auto* q = reinterpret_cast<ActBlock*>(t.packed);
  quantise_queries(t, layout, q);
  int m = 0;
  if (kChains >= 12 && !few_queries(t)) m = byte_score_rows<6, 2>(t, layout, range, q, m);
  m = byte_score_rows<4, kTwo>(t, layout, range, q, m);
  if (t.n - m == 3) m = byte_score_rows<3, kTwo>(t, layout, range, q, m);
  m = byte_score_rows<2, kTwo>(t, layout, range, q, m);
  byte_score_rows<1, 2 * kTwo>(t, layout, range, q, m);
}

// ---- Values -------------------------------------------------------------------------------------------------------------------
constexpr int kSplitPages = kAttentionSplit / kPageTokens;
constexpr float kMostWeight = 16383.0F;

// Weights of one query for one group of 32 dimensions: lane i holds those of tokens i, i + 16, i + 32 and i + 48 of a page, as values do.
struct ByteWeights {
  alignas(64) std::int32_t low[kSplitPages][16], high[kSplitPages][16];
  float step;  // of a weight of 1
};

// Softmax weights times the scales of a page, to products[m][64]; `top` keeps the largest. Keys that a query does not see weigh 0, whatever
// their scale; `all` tells that every query sees the whole page.
template <int M, bool all>
TG_INLINE void scaled_weights(const AttentionTile& t, const KeyRange& range, const std::byte* scales, int m, int page, float* products, VF* top) {
#pragma GCC unroll 4
  for (int b = 0; b < kBlocksPerPage; ++b) {
    const int block = page * kBlocksPerPage + b;
    const bool in_range = all || (block >= range.first_block && block < range.end_block);
    const VF scale = load_half(scales + b * kKeyBlock * 2);
#pragma GCC unroll 6
    for (int i = 0; i < M; ++i) {
      VF w = vset(0.0F);
      if (in_range) w = vmul(vload(score_at(t, m + i, block)), scale);
      if (!all && in_range) {
        const Visible16 see = visible_lanes(t, m + i, block);
        w = vselect(lanes_from_to(see.first, see.end), w, vset(0.0F));
      }
      top[i] = vmax(top[i], w);
      vstore(products + i * kAttentionSplit + b * kKeyBlock, w);
    }
  }
}

// 64 products as whole numbers of 14 bits: 7 low and 7 high bits of four tokens a lane.
TG_INLINE void two_bytes(const float* w, VF inverse, std::int32_t* low, std::int32_t* high) {
  const VI seven_low = iset(0x007f007f), seven_high = iset(0x7f007f00);
  const VI a = to_int(vmul(vload(w), inverse)), b = to_int(vmul(vload(w + 16), inverse));
  const VI c = to_int(vmul(vload(w + 32), inverse)), d = to_int(vmul(vload(w + 48), inverse));
  const VI even = ior(a, ishl(c, 16)), odd = ior(b, ishl(d, 16));
  istore(low, ior(iand(even, seven_low), ishl(iand(odd, seven_low), 8)));
  istore(high, ior(iand(ishr(even, 7), seven_low), iand(ishl(odd, 1), seven_high)));
}

template <int M>
void byte_weights(const AttentionTile& t, const KvPage& layout, const KeyRange& range, int m, int group, ByteWeights* out) {
  alignas(64) float products[M][kAttentionSplit];
  VF top[M];
  for (int i = 0; i < M; ++i) top[i] = vset(0.0F);
  const int start = t.split_begin / kPageTokens, first = range.first / kPageTokens, last = (range.end - 1) / kPageTokens;
  int seen = t.split_begin, unseen = t.split_end;  // all queries see [seen, unseen)
  for (int i = 0; i < M; ++i) {
    seen = t.first_key[m + i] > seen ? t.first_key[m + i] : seen;
    unseen = t.end_key[m + i] < unseen ? t.end_key[m + i] : unseen;
  }
  for (int page = first; page <= last; ++page) {
    const std::byte* scales = value_part(t, layout, page) + group * kPageTokens * 2;
    float* to = products[0] + (page - start) * kPageTokens;
    if (page * kPageTokens >= seen && (page + 1) * kPageTokens <= unseen) {
      scaled_weights<M, true>(t, range, scales, m, page, to, top);
    } else {
      scaled_weights<M, false>(t, range, scales, m, page, to, top);
    }
  }
  for (int i = 0; i < M; ++i) {
    const float largest = vtop(top[i]);
    const bool none = !(largest > 1e-30F);  // the inverse would leave the range of float
    out[i].step = none ? 0.0F : largest / kMostWeight;
    const VF inverse = vset(none ? 0.0F : kMostWeight / largest);
    for (int page = first - start; page <= last - start; ++page) two_bytes(products[i] + page * kPageTokens, inverse, out[i].low[page], out[i].high[page]);
  }
}

// Vectors j .. j + V of the 32 dimensions of a group.
template <int M, int V>
TG_INLINE void byte_values(const AttentionTile& t, const KvPage& layout, const KeyRange& range, const ByteWeights* w, int m, int group, int j) {
  VI low[M][V], high[M][V];
  for (int i = 0; i < M; ++i) {
    for (int c = 0; c < V; ++c) low[i][c] = high[i][c] = iset(0);
  }
  const int first = t.split_begin / kPageTokens, last = (range.end - 1) / kPageTokens;
  const std::size_t q_offset = layout.v_scale_bytes + zu(group * kPageTokens * 32 + j * 64);
  for (int page = range.first / kPageTokens; page <= last; ++page) {
    const std::byte* q = value_part(t, layout, page) + q_offset;
    const std::byte* next = next_keys(t, layout, page);
    if constexpr (M <= kFewQueries) {
      prefetch(t, next + group * kPageTokens * 2);
      prefetch(t, next + group * kPageTokens * 2 + 64);
    }
    next += q_offset;
    for (int lane = 0; lane < 16; ++lane, q += 128, next += 128) {
      VI v[V];
      for (int c = 0; c < V; ++c) v[c] = iload(q + c * 64);
      for (int c = 0; M <= kFewQueries && c < V; ++c) prefetch(t, next + c * 64);
#pragma GCC unroll 6
      for (int i = 0; i < M; ++i) {
        const VI lo = broadcast4(&w[i].low[page - first][lane]), hi = broadcast4(&w[i].high[page - first][lane]);
        for (int c = 0; c < V; ++c) {
          low[i][c] = dot(low[i][c], lo, v[c]);
          high[i][c] = dot(high[i][c], hi, v[c]);
          hold(low[i][c]);
          hold(high[i][c]);
        }
      }
    }
  }
  for (int i = 0; i < M; ++i) {
    for (int c = 0; c < V; ++c) {
      vstore(t.out + zu(m + i) * t.out_stride + zu(group * 32 + (j + c) * 16), vmul(to_float(iadd(low[i][c], ishl(high[i][c], 7))), vset(w[i].step)));
    }
  }
}

template <int M>
int byte_value_rows(const AttentionTile& t, const KvPage& layout, const KeyRange& range, int m) {
  for (; m + M <= t.n; m += M) {
    for (int group = 0; group < layout.v_dim / 32; ++group) {
      ByteWeights weights[M];
      byte_weights<M>(t, layout, range, m, group, weights);
      for (int j = 0; j < 2; j += kByteVectors) byte_values<M, kByteVectors>(t, layout, range, weights, m, group, j);
    }
  }
  return m;
}

void all_byte_values(const AttentionTile& t, const KvPage& layout, const KeyRange& range) {
  int m = 0;
  if (kByteQueries <= 4 || !few_queries(t)) m = byte_value_rows<kByteQueries>(t, layout, range, m);
  if constexpr (kByteQueries > 4) m = byte_value_rows<4>(t, layout, range, m);
  if constexpr (kByteQueries > 3) m = byte_value_rows<3>(t, layout, range, m);
  if constexpr (kByteQueries > 2) m = byte_value_rows<2>(t, layout, range, m);
  byte_value_rows<1>(t, layout, range, m);
}

}  // namespace
}  // namespace tg::cpu
