// Command R: attention and feed-forward side by side on one LayerNorm; logits are scaled.
#include "engine/model/families/builder.h"

namespace tg {

void describe_command_r(FamilyBuilder& b) {
  if (!b.begin(NormKind::layer)) {
    return;
  }
  b.model.parallel_residual = true;
  b.model.logit_scale = static_cast<float>(b.number("logit_scale"));
  for (int i = 0; i < b.n_layers(); ++i) {
    b.attention_norms(i, "attn_norm");
    b.attention(i, {.layout = RopeLayout::norm});
    b.feed_forward(i);
  }
}

}  // namespace tg
