// Rope, storing of keys and values, and attention over pages.
// Attention works on one split of kAttentionSplit absolute positions at a time and merges the splits of a query in ascending order:
// the same sums in prefill and decode, whatever the chunk, the batch or the number of threads.
#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/device/cpu/cpu_device.h"
#include "engine/device/cpu/math.h"

namespace tg::cpu {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

float temperature(const RopeStoreArgs& args, int position) {
  if (args.temperature_base == 0) return 1.0F;
  return 1.0F + args.temperature_coefficient * static_cast<float>(log_d(1.0 + position / args.temperature_base));
}

void norm_row_or_heads(const Kernels& k, const NormSpec* spec, bool whole, float* row, int cols, int head_dim) {
  if (spec == nullptr) return;
  if (whole) return k.norm(row, *spec, row, cols);
  for (int i = 0; i < cols; i += head_dim) k.norm(row + i, *spec, row + i, head_dim);
}

}  // namespace

const CpuDevice::RopeTable& CpuDevice::rope_table(const RopeSpec& rope) {
  constexpr std::size_t kTables = 4;  // a model has one or two rope settings
  const int half = rope.n_dims / 2;
  const auto same_positions = [&](const std::vector<int>& positions) {
    return std::equal(positions.begin(), positions.end(), places_.begin(), places_.end(), [](int a, const RowPlace& b) { return a == b.position; });
  };
  for (RopeTable& t : ropes_) {
    if (t.magnitude == rope.magnitude && same_positions(t.positions) &&
        std::equal(t.inv_freq.begin(), t.inv_freq.end(), rope.inv_freq, rope.inv_freq + half)) {
      t.used = ++rope_clock_;
      return t;
    }
  }
  if (ropes_.size() < kTables) ropes_.emplace_back();
  RopeTable& t = *std::min_element(ropes_.begin(), ropes_.end(), [](const auto& a, const auto& b) { return a.used < b.used; });
  t.used = ++rope_clock_;
  t.magnitude = rope.magnitude;
  t.inv_freq.assign(rope.inv_freq, rope.inv_freq + half);
  t.positions.clear();
  for (const RowPlace& p : places_) t.positions.push_back(p.position);
  t.cosine.resize(t.positions.size() * zu(half));
  t.sine.resize(t.cosine.size());
  for_rows(static_cast<int>(t.positions.size()), half * 16, [&](int r) {
    for (int i = 0; i < half; ++i) {
      double c = 1, s = 0;
      cos_sin_d(static_cast<double>(t.positions[zu(r)]) * static_cast<double>(t.inv_freq[zu(i)]), c, s);
      t.cosine[zu(r * half + i)] = static_cast<float>(c) * rope.magnitude;
      t.sine[zu(r * half + i)] = static_cast<float>(s) * rope.magnitude;
    }
  });
  return t;
}

void CpuDevice::rope_store(const RopeStoreArgs& args) {
  places_.clear();
  for (const SequenceRows& s : args.sequences) {
    for (int i = 0; i < s.n_rows; ++i) places_.push_back({&s, s.first_row + i, s.first_position + i});
  }
  const bool turn = args.rope.layout != RopeLayout::none && args.rope.n_dims > 0;
  const RopeTable* table = turn ? &rope_table(args.rope) : nullptr;
  const int dim = args.kv.head_dim_k, half = args.rope.n_dims / 2;
  const KvPage layout(args.kv);
  const auto norm_and_turn = [&](float* row, int heads, const NormSpec* spec, std::size_t r) {
    if (!args.norm_after_rope) norm_row_or_heads(k_, spec, args.norm_whole_row, row, heads * dim, dim);
    for (int h = 0; turn && h < heads; ++h) {
      k_.rotate(row + h * dim, &table->cosine[r * zu(half)], &table->sine[r * zu(half)], args.rope.n_dims, args.rope.layout);
    }
    if (args.norm_after_rope) norm_row_or_heads(k_, spec, args.norm_whole_row, row, heads * dim, dim);
  };
  for_rows(static_cast<int>(places_.size()), (args.n_heads + 2 * args.kv.n_kv_heads) * dim * 2, [&](int i) {
    const RowPlace& place = places_[zu(i)];
    float* q = args.q.row(place.row);
    norm_and_turn(q, args.n_heads, args.q_norm, zu(i));
    const float factor = args.q_scale * temperature(args, place.position);
    k_.row_op(RowOp::scale, q, nullptr, factor, args.n_heads * dim);
    if (args.k.data == nullptr) return;
    float *k = args.k.row(place.row), *v = args.v.row(place.row);
    norm_and_turn(k, args.kv.n_kv_heads, args.k_norm, zu(i));
    norm_row_or_heads(k_, args.v_norm, false, v, args.kv.n_kv_heads * args.kv.head_dim_v, args.kv.head_dim_v);
    std::byte* page = place.sequence->pages[place.position / kPageTokens] + args.layer_offset;
    const int token = place.position % kPageTokens;
    for (int h = 0; h < args.kv.n_kv_heads; ++h) {
      k_.store_k({k + h * dim, dim, args.kv.k_type, token}, page + layout.k_part(h));
      k_.store_v({v + h * args.kv.head_dim_v, args.kv.head_dim_v, args.kv.v_type, token}, page + layout.v_part(h), layout.v_dim);
    }
  });
}

namespace {

struct Visible {
  int first, end;
};
Visible visible_keys(const AttentionArgs& args, int position) {
  return {args.window > 0 ? std::max(0, position - args.window + 1) : 0, position + 1};
}

void query_tiles(const AttentionArgs& args, int group, std::vector<QueryTile>& tiles) {
  tiles.clear();
  const int rows_per_tile = std::max(1, kTileQueries / group);
  for (const SequenceRows& s : args.sequences) {
    for (int h = 0; h < args.kv.n_kv_heads; ++h) {
      for (int row = 0; row < s.n_rows; row += rows_per_tile) {
        const int rows = std::min(rows_per_tile, s.n_rows - row);
        for (int part = 0; part < rows * group; part += kTileQueries) {  // groups larger than a tile
          const int first = visible_keys(args, s.first_position + row).first / kAttentionSplit;
          const int end = (s.first_position + row + rows - 1) / kAttentionSplit + 1;
          tiles.push_back({&s, h, row * group + part, std::min(kTileQueries, rows * group - part), first, end});
        }
      }
    }
  }
}

// Running result of the queries of a tile.
struct Running {
  float max[kTileQueries], sum[kTileQueries];
  float* acc;  // [n][v_dim]
};

struct Next {
  const QueryTile* tile = nullptr;
  int split = 0;
};

class TileWorker {
 public:
  TileWorker(const Kernels& k, const Tuning& tuning, const AttentionArgs& args)
      : k_(k), args_(args), layout_(args.kv), group_(args.n_heads / args.kv.n_kv_heads), second_cache_(tuning.prefetch_cache == 2) {}
  int group() const { return group_; }
  int v_dim() const { return layout_.v_dim; }
  // Of one thread: scores, packed queries, one split's result, running result.
  std::size_t scratch_floats() const { return zu(kTileQueries) * (kAttentionSplit + zu(packed_dim()) + 2 * zu(v_dim())); }
  int packed_dim() const { return round_up(args_.kv.head_dim_k, 32); }

  // `next`: the tile and split that the same thread computes afterwards, as far as is known.
  void split(const QueryTile& tile, int split, const Next& next, float* scores, float* max, float* sum, float* out) const {
    const float* q[kTileQueries];
    int first[kTileQueries], end[kTileQueries], last = 0;
    for (int i = 0; i < tile.n; ++i) {
      const Visible keys = visible_keys(args_, position(tile, i));
      q[i] = args_.q.row(row(tile, i)) + head(tile, i) * args_.kv.head_dim_k;
      first[i] = keys.first;
      end[i] = keys.end;
      last = std::max(last, keys.end);
    }
    AttentionTile t;
    t.kv = args_.kv;
    t.pages = tile.sequence->pages;
    t.layer_offset = args_.layer_offset;
    t.kv_head = tile.kv_head;
    t.n = tile.n;
    t.q = q;
    t.first_key = first;
    t.end_key = end;
    t.split_begin = split * kAttentionSplit;
    t.split_end = std::min(t.split_begin + kAttentionSplit, last);
    t.softcap = args_.softcap;
    t.second_cache = second_cache_;
    if (next.tile != nullptr) {
      const int first_seen = visible_keys(args_, position(*next.tile, 0)).first, last_row = position(*next.tile, next.tile->n - 1);
      const int from = std::max(next.split * kAttentionSplit, first_seen) / kPageTokens;
      const int to = std::min((next.split + 1) * kAttentionSplit - 1, last_row) / kPageTokens;
      t.next_pages = next.tile->sequence->pages + from;
      t.next_head = next.tile->kv_head;
      t.next_n_pages = to - from + 1;
    }
    t.scores = scores;
    t.packed = scores + zu(kTileQueries) * kAttentionSplit;
    t.max = max;
    t.sum = sum;
    t.out = out;
    t.out_stride = zu(v_dim());
    k_.attention(t);
  }

  void merge(const QueryTile& tile, Running& to, const float* max, const float* sum, const float* out) const {
    for (int i = 0; i < tile.n; ++i) {
      k_.merge(to.max[i], to.sum[i], to.acc + zu(i * v_dim()), max[i], sum[i], out + zu(i * v_dim()), v_dim());
    }
  }

  void start(const QueryTile& tile, Running& r) const {
    std::fill_n(r.max, tile.n, kMinusInfinity);
    std::fill_n(r.sum, tile.n, 0.0F);
    std::fill_n(r.acc, zu(tile.n * v_dim()), 0.0F);
  }

  void finish(const QueryTile& tile, Running& r) const {
    for (int i = 0; i < tile.n; ++i) {
      float total = r.sum[i], factor = 1.0F;
      if (args_.sinks != nullptr) {
        const float sink = args_.sinks[head(tile, i)], top = std::max(sink, r.max[i]);
        factor = exp_f(r.max[i] - top);
        total = total * factor + exp_f(sink - top);
      }
      const float scale = total > 0 ? factor / total : 0.0F;
      float* out = args_.out.row(row(tile, i)) + head(tile, i) * args_.kv.head_dim_v;
      for (int j = 0; j < args_.kv.head_dim_v; ++j) out[j] = r.acc[i * v_dim() + j] * scale;
    }
  }

 private:
  int row(const QueryTile& tile, int i) const { return tile.sequence->first_row + (tile.first + i) / group_; }
  int position(const QueryTile& tile, int i) const { return tile.sequence->first_position + (tile.first + i) / group_; }
  int head(const QueryTile& tile, int i) const { return tile.kv_head * group_ + (tile.first + i) % group_; }

  const Kernels& k_;
  const AttentionArgs& args_;
  KvPage layout_;
  int group_;
  bool second_cache_;
};

}  // namespace

void CpuDevice::attention(const AttentionArgs& args) {
  const TileWorker worker(k_, tuning_, args);
  std::vector<QueryTile>& tiles = tiles_;
  query_tiles(args, worker.group(), tiles);
  const int v_dim = worker.v_dim();
  const bool few = static_cast<int>(tiles.size()) < 8 * threads();
  const bool several_splits = std::any_of(tiles.begin(), tiles.end(), [](const QueryTile& t) { return t.end_split - t.first_split > 1; });
  if (!few || !several_splits || threads() == 1) {
    pool_.run(static_cast<int>(tiles.size()), [&](int piece, int thread) {
      // Later rows see more keys: the longest pieces go first, so that the end of the op is even.
      const QueryTile& tile = tiles[tiles.size() - 1 - zu(piece)];
      float* scores = scratch(thread, worker.scratch_floats());
      float* part = scores + zu(kTileQueries) * (kAttentionSplit + zu(worker.packed_dim()));
      float max[kTileQueries], sum[kTileQueries];
      Running running;
      running.acc = part + zu(kTileQueries * v_dim);
      worker.start(tile, running);
      const QueryTile* following = zu(piece) + 1 < tiles.size() ? &tile - 1 : nullptr;
      for (int s = tile.first_split; s < tile.end_split && !pool_.cancelled(); ++s) {
        const Next next = s + 1 < tile.end_split ? Next{&tile, s + 1} : Next{following, following != nullptr ? following->first_split : 0};
        worker.split(tile, s, next, scores, max, sum, part);
        worker.merge(tile, running, max, sum, part);
      }
      worker.finish(tile, running);
    });
    return;
  }
  // Few tiles (decode): the splits are pieces of their own; their results are merged afterwards in the same order.
  std::vector<std::pair<std::size_t, int>>& work = split_work_;
  work.clear();
  std::size_t floats = 0;
  const std::size_t per_split = zu(kTileQueries) * (2 + zu(v_dim));
  for (std::size_t t = 0; t < tiles.size(); ++t) {
    tiles[t].partial = floats;
    for (int s = tiles[t].first_split; s < tiles[t].end_split; ++s, floats += per_split) work.emplace_back(t, s);
  }
  if (partials_.size() < floats) partials_.resize(floats);
  const auto place = [&](const QueryTile& tile, int s) { return partials_.data() + tile.partial + zu(s - tile.first_split) * per_split; };
  pool_.run(static_cast<int>(work.size()), [&](int piece, int thread) {
    const auto& [t, s] = work[zu(piece)];
    float* to = place(tiles[t], s);
    const Next next = zu(piece) + 1 < work.size() ? Next{&tiles[work[zu(piece) + 1].first], work[zu(piece) + 1].second} : Next{};
    worker.split(tiles[t], s, next, scratch(thread, worker.scratch_floats()), to, to + kTileQueries, to + 2 * kTileQueries);
  });
  if (pool_.cancelled()) return;
  pool_.run(static_cast<int>(tiles.size()), [&](int piece, int thread) {
    const QueryTile& tile = tiles[zu(piece)];
    Running running;
    running.acc = scratch(thread, worker.scratch_floats());
    worker.start(tile, running);
    for (int s = tile.first_split; s < tile.end_split; ++s) {
      const float* from = place(tile, s);
      worker.merge(tile, running, from, from + kTileQueries, from + 2 * kTileQueries);
    }
    worker.finish(tile, running);
  });
}

}  // namespace tg::cpu
