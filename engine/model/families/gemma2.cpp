// Gemma 2: every other layer has a window; scores and logits are capped; norms before and after.
#include <cmath>

#include "engine/model/families/builder.h"

namespace tg {

void describe_gemma2(FamilyBuilder& b) {
  if (!b.begin()) {
    return;
  }
  constexpr int kLayersOf27B = 46;  // the one size whose scores are scaled by dim / heads instead of the head size
  b.model.embedding_scale = std::sqrt(static_cast<float>(b.model.dim));
  b.model.final_softcap = static_cast<float>(b.number_or("final_logit_softcapping", 30.0));
  const auto softcap = static_cast<float>(b.number_or("attn_logit_softcapping", 50.0));
  const int window = b.integer_or("attention.sliding_window", 4096);
  const double window_base = b.number_or("rope.freq_base_swa", 0.0);  // 0: as the full layers
  for (int i = 0; i < b.n_layers(); ++i) {
    const bool windowed = b.is_window_layer(i, 2);
    b.attention_norms(i, "attn_norm", "post_attention_norm");
    b.attention(i, {.base = windowed ? window_base : 0.0});
    LayerDescription& layer = b.layer(i);
    layer.attention.softcap = softcap;
    if (b.n_layers() == kLayersOf27B) {
      layer.attention.q_scale = 1.0F / std::sqrt(static_cast<float>(b.model.dim) / static_cast<float>(layer.n_heads));
    }
    if (windowed) {
      b.window(i, window);
    }
    b.feed_forward_norms(i, "ffn_norm", "post_ffw_norm");
    b.feed_forward(i, Activation::gelu_tanh);
  }
}

}  // namespace tg
