#include "engine/model/families/delta_net.h"

namespace tg {

bool is_delta_net_layer(FamilyBuilder& b, int i) {
  if (b.has("attention.recurrent_layers")) {
    return b.per_layer("attention.recurrent_layers", i, 0) != 0;
  }
  const int interval = b.integer_or("full_attention_interval", 4);
  return interval > 0 && (i + 1) % interval != 0;
}

DeltaNetDescription describe_delta_net(FamilyBuilder& b, int i) {
  DeltaNetDescription d;
  d.conv_width = b.integer("ssm.conv_kernel");
  d.n_k_heads = b.integer("ssm.group_count");
  d.n_v_heads = b.integer("ssm.time_step_rank");
  d.head_k = b.integer("ssm.state_size");
  const int inner = b.integer("ssm.inner_size");
  if (b.ok() && (d.conv_width < 2 || d.conv_width > 64 || d.n_k_heads < 1 || d.n_v_heads < 1 || d.n_v_heads % d.n_k_heads != 0 ||
                 d.head_k < 1 || inner < 1 || inner % d.n_v_heads != 0)) {
    b.fail(ErrorCode::bad_file, "The sizes of the model's recurrent layers contradict each other.");
  }
  if (!b.ok()) {
    return d;
  }
  d.head_v = inner / d.n_v_heads;
  const int dim = b.model.dim;
  d.qkv = b.matrix(FamilyBuilder::in_layer(i, "attn_qkv.weight"), d.channels(), dim);
  d.z = b.matrix(FamilyBuilder::in_layer(i, "attn_gate.weight"), inner, dim);
  d.output = b.matrix(FamilyBuilder::in_layer(i, "ssm_out.weight"), dim, inner);
  d.conv = b.vector(FamilyBuilder::in_layer(i, "ssm_conv1d.weight"), d.conv_width, d.channels());
  d.a = b.vector(FamilyBuilder::in_layer(i, "ssm_a"), d.n_v_heads);
  d.dt_bias = b.vector(FamilyBuilder::in_layer(i, "ssm_dt.bias"), d.n_v_heads);
  d.norm = b.norm(FamilyBuilder::in_layer(i, "ssm_norm"), d.head_v);
  b.layer(i).kind = LayerKind::delta_net;
  return d;
}

void describe_gated_experts(FamilyBuilder& b, int i) {
  b.experts(i, {});
  b.shared_expert(i, b.integer_or("expert_shared_feed_forward_length", b.per_layer("feed_forward_length", i, 0)));
}

}  // namespace tg
