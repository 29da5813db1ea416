// Layers whose memory is a state of fixed size: gated delta net and short convolution. Every row advances the state, wanted or not.
#include <vector>

#include "engine/forward/walk.h"

namespace tg {

std::span<float* const> Walk::states(std::vector<float*>& to, std::size_t offset) const {
  to.clear();
  for (const SequenceStep& step : steps_) to.push_back(reinterpret_cast<float*>(step.state + offset));
  return to;
}

Mat Walk::delta_net(const Layer& layer) {
  const DeltaNetDescription& d = *layer.d.delta_net;
  const DeltaNetWeights& w = layer.w.delta_net;
  const int rows = batch_.rows, inner = d.n_v_heads * d.head_v;
  const Mat qkv = scratch(memory_.wide, rows, d.channels()), z = scratch(memory_.gate, rows, inner);
  const Mat beta = scratch(memory_.beta, rows, d.n_v_heads), alpha = scratch(memory_.alpha, rows, d.n_v_heads);
  const Mat out = scratch(memory_.mixed, rows, inner);
  const MatmulTask tasks[] = {{.weight = w.qkv, .out = qkv}, {.weight = w.z, .out = z}, {.weight = w.beta, .out = beta}, {.weight = w.alpha, .out = alpha}};
  prepare_input(x_, layer.w.attention_norm);
  project(*input_, tasks);
  device_->delta_net({.qkv = qkv, .beta = beta, .alpha = alpha, .conv_weight = w.conv, .conv_bias = nullptr, .a = w.a, .dt_bias = w.dt_bias,
                      .conv_width = d.conv_width, .n_k_heads = d.n_k_heads, .n_v_heads = d.n_v_heads, .head_k = d.head_k, .head_v = d.head_v,
                      .k_heads_interleaved = d.k_heads_interleaved, .eps = d.norm.eps, .out = out, .sequences = batch_.sequences,
                      .conv_state = states(conv_states_, layer.place.conv_state),
                      .delta_state = states(delta_states_, layer.place.delta_state)});
  for (const RowRun run : layer.last ? batch_.wanted : batch_.all) {
    device_->norm_heads(rows_of(out, run), d.head_v, *w.norm);
    device_->gate_silu(rows_of(out, run), rows_of(z, run));
  }
  counters_->bytes += 2.0 * static_cast<double>(layer.d.delta_state_floats() * sizeof(float) * batch_.sequences.size());
  counters_->ops += 8.0 * static_cast<double>(layer.d.delta_state_floats()) * rows;
  return out;
}

Mat Walk::short_conv(const Layer& layer) {
  const ShortConvDescription& d = *layer.d.short_conv;
  const Mat bcx = scratch(memory_.wide, batch_.rows, 3 * description_.dim), out = scratch(memory_.mixed, batch_.rows, description_.dim);
  prepare_input(x_, layer.w.attention_norm);
  project(*input_, layer.w.short_conv.input, nullptr, {.out = bcx});
  device_->short_conv({.bcx = bcx, .out = out, .conv_weight = layer.w.short_conv.conv, .conv_width = d.width,
                       .sequences = batch_.sequences, .state = states(conv_states_, layer.place.conv_state)});
  return out;
}

}  // namespace tg
