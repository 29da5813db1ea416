// Attention layers: projections, norm and rope of q and k, storing of k and v, attention over the pages.
#include <algorithm>
#include <array>

#include "engine/forward/walk.h"

namespace tg {

namespace {

const NormSpec* pointer(const OptionalNorm& norm) { return norm ? &*norm : nullptr; }

}  // namespace

Mat Walk::attend(const Layer& layer) { return layer.d.mla ? attend_latent(layer) : attend_heads(layer); }

Mat Walk::attend_heads(const Layer& layer) {
  const LayerDescription& d = layer.d;
  const AttentionWeights& w = layer.w.attention;
  const int rows = batch_.rows;
  const Mat q = scratch(memory_.q, rows, d.n_heads * d.head_dim_k);
  const Mat out = scratch(memory_.mixed, rows, d.n_heads * d.head_dim_v);
  Mat k, v, gate;
  std::array<MatmulTask, 4> tasks;
  std::size_t n = 0;
  tasks[n++] = {.weight = w.q, .bias = w.q_bias, .out = q};
  if (w.k != nullptr) {
    k = scratch(memory_.k, rows, d.n_kv_heads * d.head_dim_k);
    v = scratch(memory_.v, rows, d.n_kv_heads * d.head_dim_v);
    tasks[n++] = {.weight = w.k, .bias = w.k_bias, .out = k};
    tasks[n++] = {.weight = w.v, .bias = w.v_bias, .out = v};
  }
  if (w.gate != nullptr) {
    gate = scratch(memory_.gate, rows, d.n_heads * d.head_dim_v);
    tasks[n++] = {.weight = w.gate, .out = gate};
  }
  prepare_input(x_, layer.w.attention_norm);
  project(*input_, std::span(tasks).first(n));
  store_and_attend(layer, q, k, v, out);
  if (w.gate != nullptr) {
    for (const RowRun run : layer.last ? batch_.wanted : batch_.all) {
      device_->gate_sigmoid(rows_of(out, run), rows_of(gate, run));
    }
  }
  return out;
}

void Walk::store_and_attend(const Layer& layer, Mat q, Mat k, Mat v, Mat out) {
  const AttentionDescription& a = layer.d.attention;
  const AttentionWeights& w = layer.w.attention;
  point_to_pages(layer, batch_.sequences, batch_.owner);
  device_->rope_store({.q = q, .k = k, .v = v, .n_heads = layer.d.n_heads, .kv = layer.place.shape, .layer_offset = layer.place.offset,
                       .q_norm = pointer(w.q_norm), .k_norm = pointer(w.k_norm), .v_norm = pointer(w.v_norm),
                       .norm_whole_row = a.norm_whole_row, .norm_after_rope = false, .rope = w.rope, .q_scale = a.q_scale,
                       .temperature_coefficient = a.temperature_coefficient, .temperature_base = a.temperature_base,
                       .sequences = batch_.sequences});
  std::span<const SequenceRows> rows = batch_.sequences;
  if (layer.last) {
    point_to_pages(layer, batch_.wanted_sequences, batch_.wanted_owner);
    rows = batch_.wanted_sequences;
  }
  if (rows.empty()) {
    return;
  }
  device_->attention({.q = q, .out = out, .n_heads = layer.d.n_heads, .kv = layer.place.shape, .layer_offset = layer.place.offset,
                      .window = layer.d.window, .softcap = a.softcap, .sinks = w.sinks, .sequences = rows});
  count_attention(layer, rows);
}

void Walk::point_to_pages(const Layer& layer, std::vector<SequenceRows>& rows, std::span<const int> owners) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].pages = steps_[static_cast<std::size_t>(owners[i])].pages[static_cast<std::size_t>(layer.place.group)];
  }
}

void Walk::count_attention(const Layer& layer, std::span<const SequenceRows> sequences) {
  const KvLayerShape& kv = layer.place.shape;
  const double bytes_per_key = static_cast<double>(device_->kv_layer_bytes(kv)) / kPageTokens;
  const auto window = static_cast<double>(layer.d.window > 0 ? layer.d.window : description_.context_length);
  for (const SequenceRows& s : sequences) {
    const double last = s.first_position + s.n_rows;
    counters_->bytes += std::min(last, window + s.n_rows - 1) * bytes_per_key;
    const double mean_keys = std::min(s.first_position + (s.n_rows + 1) / 2.0, window);
    counters_->ops += s.n_rows * mean_keys * 2.0 * layer.d.n_heads * (kv.head_dim_k + kv.head_dim_v);
  }
}

}  // namespace tg
