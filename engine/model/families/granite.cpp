// Granite 3: Llama with multipliers on embeddings, residuals, attention and logits.
#include "engine/model/families/builder.h"

namespace tg {

void describe_llama(FamilyBuilder& b);

void describe_granite(FamilyBuilder& b) {
  describe_llama(b);
  if (!b.ok()) {
    return;
  }
  b.model.embedding_scale = static_cast<float>(b.number_or("embedding_scale", 1.0));
  b.model.residual_scale = static_cast<float>(b.number_or("residual_scale", 1.0));
  if (const double scale = b.number_or("logit_scale", 1.0); scale != 0.0) {
    b.model.logit_scale = static_cast<float>(1.0 / scale);
  }
  if (const double scale = b.number_or("attention.scale", 0.0); scale != 0.0) {
    for (LayerDescription& layer : b.model.layers) {
      layer.attention.q_scale = static_cast<float>(scale);
    }
  }
}

}  // namespace tg
