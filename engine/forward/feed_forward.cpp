// Feed-forward of a layer: dense, with experts, or both side by side.
#include "engine/forward/walk.h"

namespace tg {

void Walk::feed_forward(const Layer& layer, Mat x, const Target& to) {
  if (layer.d.experts && layer.d.feed_forward) {
    return experts_beside_dense(layer, x, to.out);
  }
  prepare_input(x, description_.parallel_residual ? layer.w.attention_norm : layer.w.feed_forward_norm);
  if (layer.d.experts) {
    const Mat router = scratch(memory_.router, x.rows, layer.d.experts->n_experts);
    project(*input_, layer.w.experts.router, layer.w.experts.router_bias, {.out = router});
    experts(layer, to.out);
  } else {
    dense(*layer.d.feed_forward, layer.w.feed_forward, to);
  }
}

// Of the rows in input_.
void Walk::dense(const FeedForwardDescription& d, const FeedForwardWeights& w, const Target& to) {
  const int rows = to.out.rows;
  if (w.gate != nullptr) {
    device_->glu(*input_, {.gate = w.gate, .up = w.up, .gate_bias = w.gate_bias, .up_bias = w.up_bias, .activation = d.activation}, *hidden_);
    count(w.gate, rows);
    count(w.up, rows);
  } else {
    const Mat up = scratch(memory_.wide, rows, d.width);
    const MatmulTask task{.weight = w.up, .bias = w.up_bias, .activation = d.activation, .out = up};
    project(*input_, {&task, 1});
    device_->prepare(up, *hidden_);
  }
  project(*hidden_, w.down, w.down_bias, to);
}

// Of the rows in input_, by the router logits in memory_.router.
void Walk::experts(const Layer& layer, Mat out) {
  const ExpertsDescription& d = *layer.d.experts;
  const ExpertsWeights& w = layer.w.experts;
  device_->moe({.x = input_.get(), .router_logits = scratch(memory_.router, out.rows, d.n_experts), .gate = w.gate, .up = w.up,
                .gate_up = w.gate_up, .down = w.down, .gate_bias = w.gate_bias, .up_bias = w.up_bias, .down_bias = w.down_bias,
                .selection_bias = w.selection_bias, .expert_scale = w.expert_scale, .router = d.router_kind, .n_used = d.n_used,
                .n_groups = d.n_groups, .n_groups_used = d.n_groups_used, .renormalise = d.renormalise, .weight_scale = d.weight_scale,
                .activation = d.activation, .out = out});
  for (const Weight* weight : {w.gate, w.up, w.gate_up, w.down}) {
    if (weight != nullptr) count_experts(weight, out.rows, d.n_used);
  }
  if (!d.shared) {
    return;
  }
  if (w.shared_gate == nullptr) {
    return dense(*d.shared, w.shared, {.out = out, .add = true});
  }
  const Mat shared = scratch(memory_.side2, out.rows, description_.dim), gate = scratch(memory_.one, out.rows, 1);
  dense(*d.shared, w.shared, {.out = shared});
  project(*input_, w.shared_gate, nullptr, {.out = gate});
  device_->gate_sigmoid(shared, gate);
  device_->add(out, shared);
}

// gemma4's A4B: the router reads the residual stream by a norm of its own; both results are normalised, then added.
void Walk::experts_beside_dense(const Layer& layer, Mat x, Mat out) {
  const ExpertsWeights& w = layer.w.experts;
  const Mat experts_out = scratch(memory_.side2, x.rows, description_.dim);
  prepare_input(x, layer.w.feed_forward_norm);
  dense(*layer.d.feed_forward, layer.w.feed_forward, {.out = out});
  device_->norm(out, *w.dense_post_norm, out);

  prepare_input(x, w.router_norm);
  project(*input_, w.router, w.router_bias, {.out = scratch(memory_.router, x.rows, layer.d.experts->n_experts)});
  prepare_input(x, w.pre_norm);
  experts(layer, experts_out);
  device_->add_norm(out, experts_out, *w.post_norm);
}

}  // namespace tg
