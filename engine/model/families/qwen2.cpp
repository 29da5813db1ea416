// Qwen 2 and 2.5, QwQ, DeepSeek-R1-Distill-Qwen: biases on q, k and v.
#include "engine/model/families/builder.h"

namespace tg {

void describe_qwen2(FamilyBuilder& b) {
  if (!b.begin()) {
    return;
  }
  for (int i = 0; i < b.n_layers(); ++i) {
    b.attention_norms(i, "attn_norm");
    b.attention(i, {});
    b.feed_forward_norms(i, "ffn_norm");
    b.feed_forward(i);
  }
}

}  // namespace tg
