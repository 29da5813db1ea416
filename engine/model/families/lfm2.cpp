// LFM2: short gated convolutions, and attention with normalised heads where a layer has key heads.
#include "engine/model/families/builder.h"

namespace tg {

namespace {

void describe_short_conv(FamilyBuilder& b, int i) {
  ShortConvDescription conv;
  const int dim = b.model.dim;
  conv.width = b.integer("shortconv.l_cache");
  if (b.ok() && (conv.width < 2 || conv.width > 64)) {
    b.fail(ErrorCode::bad_file, "The convolution width of the model makes no sense.");
  }
  conv.input = b.matrix(FamilyBuilder::in_layer(i, "shortconv.in_proj.weight"), 3 * dim, dim);
  conv.output = b.matrix(FamilyBuilder::in_layer(i, "shortconv.out_proj.weight"), dim, dim);
  conv.conv = b.vector(FamilyBuilder::in_layer(i, "shortconv.conv.weight"), conv.width, dim);
  b.layer(i).kind = LayerKind::short_conv;
  b.layer(i).short_conv = conv;
}

}  // namespace

void describe_lfm2(FamilyBuilder& b) {
  if (!b.begin(NormKind::rms, b.has_tensor("token_embd_norm.weight") ? "token_embd_norm" : "output_norm")) {
    return;
  }
  for (int i = 0; i < b.n_layers(); ++i) {
    b.attention_norms(i, "attn_norm");
    if (b.layer(i).n_kv_heads == 0) {
      describe_short_conv(b, i);
    } else {
      b.attention(i, {});
      b.head_norms(i);
    }
    b.feed_forward_norms(i, "ffn_norm");
    b.feed_forward(i);
  }
}

}  // namespace tg
