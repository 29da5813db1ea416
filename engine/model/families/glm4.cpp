// GLM-4: partial rope, biases on q, k and v, norms before and after, gate and up in one matrix.
#include "engine/model/families/builder.h"

namespace tg {

void describe_glm4(FamilyBuilder& b) {
  if (!b.begin()) {
    return;
  }
  for (int i = 0; i < b.n_layers(); ++i) {
    b.attention_norms(i, "attn_norm", "post_attention_norm");
    b.attention(i, {.layout = RopeLayout::norm});
    b.feed_forward_norms(i, "ffn_norm", "post_ffw_norm");
    b.feed_forward(i);
  }
}

}  // namespace tg
