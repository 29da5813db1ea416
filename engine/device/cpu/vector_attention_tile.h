// What the kernels of attention share: which keys a tile visits, where they and their scores stand, and asking for memory ahead.
#pragma once
#include "engine/device/cpu/kernels.h"
#include "engine/device/cpu/vector_rows.h"

namespace tg::cpu {
namespace {

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

TG_INLINE const std::byte* key_part(const AttentionTile& t, const KvPage& layout, int page) {
  return t.pages[page] + t.layer_offset + layout.k_part(t.kv_head);
}
TG_INLINE const std::byte* key_block(const AttentionTile& t, const KvPage& layout, int block) {
  return key_part(t, layout, block / kBlocksPerPage) + layout.k_block(block % kBlocksPerPage * kKeyBlock);
}
TG_INLINE const std::byte* value_part(const AttentionTile& t, const KvPage& layout, int page) {
  return t.pages[page] + t.layer_offset + layout.v_part(t.kv_head);
}
TG_INLINE float* score_at(const AttentionTile& t, int m, int block) {
  return t.scores + zu(m) * kAttentionSplit + (block * kKeyBlock - t.split_begin);
}
// Lanes of a key block that query m sees; all: no mask is needed.
struct Visible16 {
  int first, end;
  bool all;
};
TG_INLINE Visible16 visible_lanes(const AttentionTile& t, int m, int block) {
  const int key = block * kKeyBlock, first = t.first_key[m] - key, end = t.end_key[m] - key, split_end = t.split_end - key;
  return {first, end < split_end ? end : split_end, !(first > 0 || end < kKeyBlock || split_end < kKeyBlock)};
}

// With few queries the memory is the limit, and keys and values lie in short runs that hardware prefetch loses at each page. So lines are
// asked for by hand, by rows of at most kFewQueries; tiles of up to twice as many are cut into such. With more, the arithmetic hides the memory.
// Some requests are dropped while too many are on their way: keys that are still missing are asked for once more shortly before use.
constexpr int kFewQueries = 4;
TG_INLINE bool few_queries(const AttentionTile& t) { return t.n <= 2 * kFewQueries; }
TG_INLINE void prefetch(const AttentionTile& t, const std::byte* p) { t.second_cache ? prefetch_second(p) : prefetch_first(p); }
// Values are asked for while scores are computed, the last lines of each block's share of a page while weights are, keys of the next tile
// while values are summed: the memory is never idle and never asked for more than it gives.
constexpr int kLinesPerWeights = 3;  // of 16 keys of one query
TG_INLINE int value_share(const KvPage& layout) { return static_cast<int>(layout.v_bytes - layout.v_scale_bytes) / kBlocksPerPage; }
TG_INLINE int value_share_with_scores(const AttentionTile& t, const KvPage& layout) { return value_share(layout) - t.n * kLinesPerWeights * 64; }
TG_INLINE const std::byte* value_share_of(const AttentionTile& t, const KvPage& layout, int block) {
  return value_part(t, layout, block / kBlocksPerPage) + layout.v_scale_bytes + block % kBlocksPerPage * value_share(layout);
}
// Keys of the tile that follows, in the place of the values of page `page` of this split; something harmless where there is none.
TG_INLINE const std::byte* next_keys(const AttentionTile& t, const KvPage& layout, int page) {
  const int i = page - t.split_begin / kPageTokens;
  if (i >= t.next_n_pages) return t.pages[page] + t.layer_offset + layout.v_part(t.kv_head);
  return t.next_pages[i] + t.layer_offset + layout.k_part(t.next_head);
}

}  // namespace
}  // namespace tg::cpu
