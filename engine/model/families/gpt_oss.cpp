// gpt-oss: a window in every other layer, attention sinks, experts with biases, router softmax after the choice.
#include "engine/model/families/builder.h"

namespace tg {

void describe_gpt_oss(FamilyBuilder& b) {
  if (!b.begin()) {
    return;
  }
  const int window = b.integer("attention.sliding_window");
  const double window_base = b.number_or("rope.freq_base_swa", 0.0);  // 0: as the full layers
  for (int i = 0; i < b.n_layers(); ++i) {
    const bool windowed = b.is_window_layer(i, 2);
    b.attention_norms(i, "attn_norm");
    b.attention(i, {.base = windowed ? window_base : 0.0});
    LayerDescription& layer = b.layer(i);
    layer.attention.sinks = b.vector_if(FamilyBuilder::in_layer(i, "attn_sinks.weight"), layer.n_heads);
    if (windowed) {
      b.window(i, window);
    }
    b.feed_forward_norms(i, "post_attention_norm");
    b.experts(i, {.activation = Activation::swiglu_clamped, .router = RouterKind::topk_then_softmax});
  }
}

}  // namespace tg
