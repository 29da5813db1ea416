// DeepSeek V2, V3, R1, Kimi-K2: latent attention (MLA), experts with groups and a shared expert after leading dense layers.
#include <algorithm>
#include <cmath>

#include "engine/model/families/builder.h"

namespace tg {

namespace {

// YaRN lowers the temperature of the scores: (1 + 0.1 * m * ln factor)^2. Files hold m times 0.1.
double score_scale(FamilyBuilder& b) {
  const double factor = b.number_or("rope.scaling.factor", 1.0);
  const double multiplier = b.number_or("rope.scaling.yarn_log_multiplier", 0.0) / 0.1;
  if (b.text_or("rope.scaling.type", "none") != "yarn" || factor <= 1.0) {
    return 1.0;
  }
  const double m = 1.0 + 0.1 * multiplier * std::log(factor);
  return m * m;
}

void describe_attention(FamilyBuilder& b, int i) {
  LayerDescription& layer = b.layer(i);
  MlaDescription m;
  const int dim = b.model.dim, heads = layer.n_heads;
  const int q_rank = b.integer_or("attention.q_lora_rank", 0), key = b.integer("attention.key_length_mla");
  m.latent_dim = b.integer("attention.kv_lora_rank");
  m.rope_dim = b.integer("rope.dimension_count");
  m.value_dim = b.integer("attention.value_length_mla");
  m.nope_dim = key - m.rope_dim;
  if (b.ok() && (m.latent_dim < 1 || m.rope_dim < 2 || m.value_dim < 1 || m.nope_dim < 1)) {
    b.fail(ErrorCode::bad_file, "The sizes of the model's latent attention contradict each other.");
  }
  if (!b.ok()) {
    return;
  }
  const bool direct = b.has_tensor(FamilyBuilder::in_layer(i, "attn_q.weight"));
  const std::string q = FamilyBuilder::in_layer(i, direct ? "attn_q.weight" : "attn_q_b.weight");
  if (!direct) {
    m.q_a = b.matrix(FamilyBuilder::in_layer(i, "attn_q_a.weight"), q_rank, dim);
    m.q_a_norm = b.norm(FamilyBuilder::in_layer(i, "attn_q_a_norm"), q_rank);
  }
  m.q_nope = b.runs(q, heads, key, direct ? dim : q_rank, 0, m.nope_dim, true);
  m.q_rope = b.runs(q, heads, key, direct ? dim : q_rank, m.nope_dim, m.rope_dim, true);
  const std::string kv = FamilyBuilder::in_layer(i, "attn_kv_a_mqa.weight");
  m.latent = b.slice(kv, m.latent_dim + m.rope_dim, dim, 0, m.latent_dim);
  m.k_rope = b.slice(kv, m.latent_dim + m.rope_dim, dim, m.latent_dim, m.rope_dim);
  m.latent_norm = b.norm(FamilyBuilder::in_layer(i, "attn_kv_a_norm"), m.latent_dim);
  m.k_b = b.matrix(FamilyBuilder::in_layer(i, "attn_k_b.weight"), m.latent_dim, m.nope_dim, heads);
  m.v_b = b.matrix(FamilyBuilder::in_layer(i, "attn_v_b.weight"), m.value_dim, m.latent_dim, heads);
  b.matrix_if(FamilyBuilder::in_layer(i, "attn_kv_b.weight"), heads * (m.nope_dim + m.value_dim), m.latent_dim);  // k_b and v_b once more
  layer.attention.output = b.matrix(FamilyBuilder::in_layer(i, "attn_output.weight"), dim, heads * m.value_dim);
  layer.attention.rope = b.rope({.layout = RopeLayout::norm, .n_dims = m.rope_dim}, m.rope_dim);
  layer.attention.rope.magnitude = 1.0F;  // its share is in the score scale
  layer.attention.q_scale = static_cast<float>(score_scale(b) / std::sqrt(static_cast<double>(key)));
  layer.n_kv_heads = 1;
  layer.head_dim_k = m.latent_dim + m.rope_dim;
  layer.head_dim_v = m.latent_dim;
  layer.mla = m;
}

void describe_experts(FamilyBuilder& b, int i) {
  constexpr int kSigmoid = 2;
  const bool sigmoid = b.integer_or("expert_gating_func", 1) == kSigmoid;
  b.experts(i, {.router = sigmoid ? RouterKind::sigmoid : RouterKind::softmax_then_topk,
                .renormalise = b.flag_or("expert_weights_norm", false)});
  if (!b.ok()) {
    return;
  }
  ExpertsDescription& e = *b.layer(i).experts;
  e.n_groups = std::max(1, b.integer_or("expert_group_count", 1));
  e.n_groups_used = std::max(1, b.integer_or("expert_group_used_count", e.n_groups));
  if (e.n_groups > e.n_experts || e.n_experts % e.n_groups != 0 || e.n_groups_used > e.n_groups ||
      e.n_used > e.n_experts / e.n_groups * e.n_groups_used) {
    b.fail(ErrorCode::bad_file, "The model gives no sensible number or size of experts.");
    return;
  }
  b.shared_expert(i, e.width * b.integer_or("expert_shared_count", 0));
}

}  // namespace

void describe_deepseek2(FamilyBuilder& b) {
  if (!b.begin()) {
    return;
  }
  if (!b.has("attention.key_length_mla")) {
    b.fail(ErrorCode::unsupported, "This DeepSeek file was converted without latent attention tensors and cannot be used.");
    return;
  }
  const int n_dense = b.integer_or("leading_dense_block_count", 0);
  for (int i = 0; i < b.n_layers(); ++i) {
    b.attention_norms(i, "attn_norm");
    describe_attention(b, i);
    b.feed_forward_norms(i, "ffn_norm");
    if (i < n_dense) {
      b.feed_forward(i);
    } else {
      describe_experts(b, i);
    }
  }
}

}  // namespace tg
