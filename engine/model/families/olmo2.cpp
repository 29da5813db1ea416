// OLMo 2: no norms before, only after attention and feed-forward; q and k normalised over the whole row.
#include "engine/model/families/builder.h"

namespace tg {

void describe_olmo2(FamilyBuilder& b) {
  if (!b.begin()) {
    return;
  }
  const int window = b.integer_or("attention.sliding_window", 0);  // OLMo 3
  for (int i = 0; i < b.n_layers(); ++i) {
    const bool windowed = window > 0 && b.is_window_layer(i, 4);
    b.attention_norms(i, {}, "post_attention_norm");
    b.attention(i, {.scaled = !windowed});
    LayerDescription& layer = b.layer(i);
    layer.attention.norm_whole_row = true;
    layer.attention.q_norm = b.norm(FamilyBuilder::in_layer(i, "attn_q_norm"), layer.n_heads * layer.head_dim_k);
    layer.attention.k_norm = b.norm(FamilyBuilder::in_layer(i, "attn_k_norm"), layer.n_kv_heads * layer.head_dim_k);
    if (windowed) {
      b.window(i, window);
    }
    b.feed_forward_norms(i, {}, "post_ffw_norm");
    b.feed_forward(i);
  }
}

}  // namespace tg
