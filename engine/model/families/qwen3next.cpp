// Qwen3-Next: as qwen35moe, with beta and alpha in one matrix (per key head: its betas, then its alphas).
#include "engine/model/families/delta_net.h"

namespace tg {

void describe_qwen3next(FamilyBuilder& b) {
  if (!b.begin()) {
    return;
  }
  for (int i = 0; i < b.n_layers(); ++i) {
    b.attention_norms(i, "attn_norm");
    if (is_delta_net_layer(b, i)) {
      DeltaNetDescription d = describe_delta_net(b, i);
      if (!b.ok()) {
        return;
      }
      const int ratio = d.n_v_heads / d.n_k_heads;
      const std::string both = FamilyBuilder::in_layer(i, "ssm_ba.weight");
      d.k_heads_interleaved = true;
      d.beta = b.runs(both, d.n_k_heads, 2 * ratio, b.model.dim, 0, ratio);
      d.alpha = b.runs(both, d.n_k_heads, 2 * ratio, b.model.dim, ratio, ratio);
      b.layer(i).delta_net = d;
    } else {
      b.gated_attention(i, {});
      b.head_norms(i);
    }
    b.feed_forward_norms(i, "post_attention_norm");
    describe_gated_experts(b, i);
  }
}

}  // namespace tg
