// Gemma 3: five window layers with their own unscaled rope base to one full layer; q and k normalised per head.
#include <cmath>

#include "engine/model/families/builder.h"

namespace tg {

void describe_gemma3(FamilyBuilder& b) {
  if (!b.begin()) {
    return;
  }
  constexpr int kLayersOf27B = 62;  // the one size whose scores are scaled by dim / heads instead of the head size
  b.model.embedding_scale = std::sqrt(static_cast<float>(b.model.dim));
  b.model.final_softcap = static_cast<float>(b.number_or("final_logit_softcapping", 0.0));
  const int window = b.integer_or("attention.sliding_window", 0);
  const double window_base = b.number_or("rope.freq_base_swa", 10000.0);
  for (int i = 0; i < b.n_layers(); ++i) {
    const bool windowed = window > 0 && b.is_window_layer(i, 6);
    b.attention_norms(i, "attn_norm", "post_attention_norm");
    b.attention(i, {.base = windowed ? window_base : 0.0, .scaled = !windowed});
    b.head_norms(i);
    LayerDescription& layer = b.layer(i);
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
