// StarCoder 2: LayerNorm with bias, biases on every matrix, GELU without a gate.
#include "engine/model/families/builder.h"

namespace tg {

void describe_starcoder2(FamilyBuilder& b) {
  if (!b.begin(NormKind::layer)) {
    return;
  }
  for (int i = 0; i < b.n_layers(); ++i) {
    b.attention_norms(i, "attn_norm");
    b.attention(i, {});
    b.feed_forward_norms(i, "ffn_norm");
    b.feed_forward(i, Activation::gelu_tanh, false);
  }
}

}  // namespace tg
