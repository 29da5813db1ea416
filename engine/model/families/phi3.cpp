// Phi 3, 3.5, 4: fused q, k, v and fused gate and up; long or short rope factors by the configured context.
#include "engine/model/families/builder.h"

namespace tg {

void describe_phi3(FamilyBuilder& b) {
  if (!b.begin()) {
    return;
  }
  for (int i = 0; i < b.n_layers(); ++i) {
    b.attention_norms(i, "attn_norm");
    b.attention(i, {});
    b.feed_forward_norms(i, "ffn_norm");
    if (b.integer_or("expert_count", 0) > 0) {
      b.experts(i, {.renormalise = false});
    } else {
      b.feed_forward(i);
    }
  }
}

}  // namespace tg
