// Qwen 3, dense (qwen3) and with experts (qwen3moe): q and k are normalised per head before rope.
#include "engine/model/families/builder.h"

namespace tg {

void describe_qwen3(FamilyBuilder& b) {
  if (!b.begin()) {
    return;
  }
  const bool mixture = b.model.architecture == "qwen3moe";
  for (int i = 0; i < b.n_layers(); ++i) {
    b.attention_norms(i, "attn_norm");
    b.attention(i, {});
    b.head_norms(i);
    b.feed_forward_norms(i, "ffn_norm");
    if (mixture) {
      b.experts(i, {});
    } else {
      b.feed_forward(i);
    }
  }
}

}  // namespace tg
