// Llama 2 and 3, Mistral, Mixtral, SmolLM2, TinyLlama, Yi and most fine-tunes.
#include "engine/model/families/builder.h"

namespace tg {

void describe_llama(FamilyBuilder& b) {
  if (!b.begin()) {
    return;
  }
  const bool mixture = b.integer_or("expert_count", 0) > 0;
  for (int i = 0; i < b.n_layers(); ++i) {
    b.attention_norms(i, "attn_norm");
    b.attention(i, {.layout = RopeLayout::norm});
    b.feed_forward_norms(i, "ffn_norm");
    if (mixture) {
      b.experts(i, {});
    } else {
      b.feed_forward(i);
    }
  }
}

}  // namespace tg
