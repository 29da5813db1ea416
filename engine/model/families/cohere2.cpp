// Command R7B, Command A: as Command R, with three window layers that turn by rope to one full layer that does not.
#include "engine/model/families/builder.h"

namespace tg {

void describe_cohere2(FamilyBuilder& b) {
  if (!b.begin(NormKind::layer)) {
    return;
  }
  b.model.parallel_residual = true;
  b.model.logit_scale = static_cast<float>(b.number("logit_scale"));
  const int window = b.integer("attention.sliding_window");
  for (int i = 0; i < b.n_layers(); ++i) {
    const bool windowed = b.is_window_layer(i, 4);
    b.attention_norms(i, "attn_norm");
    b.attention(i, {.layout = windowed ? RopeLayout::norm : RopeLayout::none});
    if (windowed) {
      b.window(i, window);
    }
    b.feed_forward(i);
  }
}

}  // namespace tg
