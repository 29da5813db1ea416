// Gemma 4: window layers with their own head size and rope; V normalised without weight; scores not scaled; layer output scale.
// E-models: embeddings per layer, last layers that read the KV of earlier ones. A4B: experts beside the dense feed-forward.
#include <cmath>

#include "engine/model/families/builder.h"

namespace tg {

namespace {

// The last layer of the same kind that has K and V of its own.
int shared_source(FamilyBuilder& b, int i, int n_own) {
  for (int source = n_own - 1; source >= 0; --source) {
    if (b.is_window_layer(source, 6) == b.is_window_layer(i, 6)) {
      return source;
    }
  }
  b.fail(ErrorCode::bad_file, "The model's last layers share keys and values that no layer computes.");
  return -1;
}

void describe_attention(FamilyBuilder& b, int i, bool windowed, int n_own) {
  LayerDescription& layer = b.layer(i);
  AttentionDescription& a = layer.attention;
  const int dim = b.model.dim;
  if (windowed) {
    layer.head_dim_k = b.integer_or("attention.key_length_swa", layer.head_dim_k);
    layer.head_dim_v = b.integer_or("attention.value_length_swa", layer.head_dim_v);
    b.window(i, b.integer("attention.sliding_window"));
  }
  if (b.ok() && (layer.n_kv_heads < 1 || layer.n_heads % layer.n_kv_heads != 0 || layer.head_dim_k != layer.head_dim_v)) {
    b.fail(ErrorCode::bad_file, "The number of heads (attention.head_count) is not a multiple of the number of key heads (attention.head_count_kv).");
  }
  if (!b.ok()) {
    return;
  }
  const int d = layer.head_dim_k;
  a.q = b.matrix(FamilyBuilder::in_layer(i, "attn_q.weight"), layer.n_heads * d, dim);
  a.q_norm = b.norm(FamilyBuilder::in_layer(i, "attn_q_norm"), d);
  a.output = b.matrix(FamilyBuilder::in_layer(i, "attn_output.weight"), dim, layer.n_heads * d);
  // Files of E-models may keep K and V of the sharing layers; they are not used.
  const MatrixRef k = b.matrix_if(FamilyBuilder::in_layer(i, "attn_k.weight"), layer.n_kv_heads * d, dim);
  const MatrixRef v = b.matrix_if(FamilyBuilder::in_layer(i, "attn_v.weight"), layer.n_kv_heads * d, dim);
  const NormDescription k_norm = b.norm(FamilyBuilder::in_layer(i, "attn_k_norm"), d, i < n_own);
  if (i < n_own) {
    a.k = k ? k : b.matrix(FamilyBuilder::in_layer(i, "attn_k.weight"), layer.n_kv_heads * d, dim);
    a.v = v ? v : a.k;
    a.k_norm = k_norm;
    a.v_norm = b.norm_without_weight();
  } else {
    a.kv_source = shared_source(b, i, n_own);
  }
  if (windowed) {
    a.rope = b.rope({.n_dims = b.integer_or("rope.dimension_count_swa", d), .base = b.number_or("rope.freq_base_swa", 10000.0),
                     .scaled = false, .factors = false}, d);
  } else {
    a.rope = b.rope({}, d);
  }
  a.q_scale = 1.0F;
}

void describe_experts(FamilyBuilder& b, int i) {
  b.experts(i, {.activation = Activation::gelu_tanh});
  if (!b.ok()) {
    return;
  }
  ExpertsDescription& e = *b.layer(i).experts;
  const int dim = b.model.dim;
  e.router_scale = b.vector(FamilyBuilder::in_layer(i, "ffn_gate_inp.scale"), dim);
  e.router_input_scale = 1.0F / std::sqrt(static_cast<float>(dim));
  e.pre_norm = b.norm(FamilyBuilder::in_layer(i, "pre_ffw_norm_2"), dim);
  e.post_norm = b.norm(FamilyBuilder::in_layer(i, "post_ffw_norm_2"), dim);
  e.dense_post_norm = b.norm(FamilyBuilder::in_layer(i, "post_ffw_norm_1"), dim);
}

void describe_per_layer_embeddings(FamilyBuilder& b, int size) {
  PerLayerEmbeddings p;
  const int dim = b.model.dim, n = b.n_layers() * size;
  p.dim = size;
  p.table = b.matrix("per_layer_token_embd.weight", b.model.vocab, n);
  p.projection = b.matrix("per_layer_model_proj.weight", n, dim);
  p.norm = b.norm("per_layer_proj_norm", size);
  b.model.per_layer = p;
  for (int i = 0; i < b.n_layers(); ++i) {
    LayerDescription& layer = b.layer(i);
    layer.per_layer_gate = b.matrix(FamilyBuilder::in_layer(i, "inp_gate.weight"), size, dim);
    layer.per_layer_projection = b.matrix(FamilyBuilder::in_layer(i, "proj.weight"), dim, size);
    layer.per_layer_post_norm = b.norm(FamilyBuilder::in_layer(i, "post_norm"), dim);
  }
}

}  // namespace

void describe_gemma4(FamilyBuilder& b) {
  if (!b.begin()) {
    return;
  }
  b.model.embedding_scale = std::sqrt(static_cast<float>(b.model.dim));
  b.model.final_softcap = static_cast<float>(b.number_or("final_logit_softcapping", 30.0));  // as all published ones
  const int n_own = b.n_layers() - b.integer_or("attention.shared_kv_layers", 0);
  for (int i = 0; i < b.n_layers(); ++i) {
    b.attention_norms(i, "attn_norm", "post_attention_norm");
    describe_attention(b, i, b.is_window_layer(i, 6), n_own);
    b.feed_forward_norms(i, "ffn_norm", "post_ffw_norm");
    b.feed_forward(i, Activation::gelu_tanh);
    if (b.has_tensor(FamilyBuilder::in_layer(i, "ffn_gate_inp.weight"))) {
      describe_experts(b, i);
    }
    b.layer(i).output_scale = b.vector_if(FamilyBuilder::in_layer(i, "layer_output_scale.weight"), 1);
  }
  if (const int size = b.integer_or("embedding_length_per_layer_input", 0); size > 0) {
    describe_per_layer_embeddings(b, size);
  }
}

}  // namespace tg
