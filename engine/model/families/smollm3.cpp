// SmolLM3: Llama without rope in every fourth layer.
#include "engine/model/families/builder.h"

namespace tg {

void describe_smollm3(FamilyBuilder& b) {
  if (!b.begin()) {
    return;
  }
  for (int i = 0; i < b.n_layers(); ++i) {
    b.attention_norms(i, "attn_norm");
    b.attention(i, {.layout = (i + 1) % 4 == 0 ? RopeLayout::none : RopeLayout::norm});
    b.feed_forward_norms(i, "ffn_norm");
    b.feed_forward(i);
  }
}

}  // namespace tg
