// Qwen 3.5 to 3.8, dense (qwen35) and with experts (qwen35moe). For text all sections of the interleaved rope hold the same position.
#include "engine/model/families/delta_net.h"

namespace tg {

void describe_qwen35(FamilyBuilder& b) {
  if (!b.begin()) {
    return;
  }
  const bool mixture = b.model.architecture == "qwen35moe";
  for (int i = 0; i < b.n_layers(); ++i) {
    b.attention_norms(i, "attn_norm");
    if (is_delta_net_layer(b, i)) {
      DeltaNetDescription d = describe_delta_net(b, i);
      d.beta = b.matrix(FamilyBuilder::in_layer(i, "ssm_beta.weight"), d.n_v_heads, b.model.dim);
      d.alpha = b.matrix(FamilyBuilder::in_layer(i, "ssm_alpha.weight"), d.n_v_heads, b.model.dim);
      b.layer(i).delta_net = d;
    } else {
      b.gated_attention(i, {});
      b.head_norms(i);
    }
    b.feed_forward_norms(i, "post_attention_norm");
    if (mixture) {
      describe_gated_experts(b, i);
    } else {
      b.feed_forward(i);
    }
  }
}

}  // namespace tg
