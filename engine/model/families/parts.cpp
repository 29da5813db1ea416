// The parts that families share: dimensions, embeddings, attention, feed-forward, experts.
#include <cmath>

#include "engine/model/families/builder.h"

namespace tg {

namespace {

constexpr int kMostLayers = 1024, kMostExperts = 4096;

bool divides(int divisor, int value) { return divisor > 0 && value > 0 && value % divisor == 0; }

}  // namespace

bool FamilyBuilder::begin(NormKind norm_kind, std::string_view output_norm) {
  norm_kind_ = norm_kind;
  n_prediction_blocks_ = integer_or("nextn_predict_layers", 0);
  model.n_layers = integer("block_count") - n_prediction_blocks_;
  model.dim = integer("embedding_length");
  model.context_length = integer("context_length");
  eps_ = static_cast<float>(number(norm_kind == NormKind::rms ? "attention.layer_norm_rms_epsilon" : "attention.layer_norm_epsilon"));
  if (ok() && (model.n_layers < 1 || model.n_layers > kMostLayers || model.dim < 1 || model.context_length < 1)) {
    fail(ErrorCode::bad_file, "The model gives no sensible number of layers, dimensions or tokens.");
  }
  if (ok() && (eps_ < 0.0F || eps_ > 1.0F)) {
    fail(ErrorCode::bad_file, "The norm epsilon of the model makes no sense.");
  }
  if (!ok()) {
    return false;
  }
  model.layers.resize(static_cast<std::size_t>(model.n_layers));
  for (int i = 0; i < model.n_layers; ++i) {
    read_heads(i);
  }
  read_embeddings(output_norm);
  return ok();
}

void FamilyBuilder::read_heads(int i) {
  LayerDescription& l = layer(i);
  l.n_heads = per_layer("attention.head_count", i, 0);
  l.n_kv_heads = per_layer("attention.head_count_kv", i, l.n_heads);
  if (!ok()) {
    return;
  }
  if (l.n_heads < 1) {
    fail(ErrorCode::bad_file, "The model's attention.head_count is zero or missing.");
    return;
  }
  l.head_dim_k = integer_or("attention.key_length", model.dim / l.n_heads);
  l.head_dim_v = integer_or("attention.value_length", model.dim / l.n_heads);
}

void FamilyBuilder::read_embeddings(std::string_view output_norm) {
  const GgufTensor* table = find("token_embd.weight", true);
  if (table == nullptr) {
    return;
  }
  if (table->shape.size() != 2 || table->shape[1] < 1 || table->shape[1] > (1U << 24)) {
    fail(ErrorCode::bad_file, "The tensor token_embd.weight has the wrong shape.");
    return;
  }
  model.vocab = static_cast<int>(table->shape[1]);
  const GgufArray* tokens = file_.array("tokenizer.ggml.tokens");
  if (tokens != nullptr && tokens->size() != static_cast<std::size_t>(model.vocab)) {
    fail(ErrorCode::bad_file, "The token list (tokenizer.ggml.tokens) and the embedding table (token_embd.weight) of the model differ in length.");
  }
  model.token_embedding = matrix("token_embd.weight", model.vocab, model.dim);
  model.output = matrix_if("output.weight", model.vocab, model.dim);
  if (!model.output) {
    model.output = model.token_embedding;
  }
  model.output_bias = vector_if("output.bias", model.vocab);
  model.output_norm = norm(std::string(output_norm), model.dim);
}

void FamilyBuilder::attention_norms(int i, std::string_view before, std::string_view after) {
  if (!before.empty()) {
    layer(i).attention_norm = norm(in_layer(i, before), model.dim);
  }
  if (!after.empty()) {
    layer(i).attention_post_norm = norm(in_layer(i, after), model.dim);
  }
}

void FamilyBuilder::feed_forward_norms(int i, std::string_view before, std::string_view after) {
  if (!before.empty()) {
    layer(i).feed_forward_norm = norm(in_layer(i, before), model.dim);
  }
  if (!after.empty()) {
    layer(i).feed_forward_post_norm = norm(in_layer(i, after), model.dim);
  }
}

void FamilyBuilder::window(int i, int tokens) {
  if (ok() && tokens < 1) {
    fail(ErrorCode::bad_file, "The sliding window of the model is empty.");
  }
  layer(i).window = tokens;
  layer(i).kind = LayerKind::window;
}

void FamilyBuilder::attention(int i, const RopeOptions& options) {
  LayerDescription& l = layer(i);
  if (ok() && (!divides(l.n_kv_heads, l.n_heads) || l.head_dim_k < 1 || l.head_dim_v < 1)) {
    fail(ErrorCode::bad_file, "The number of heads (attention.head_count) is not a multiple of the number of key heads (attention.head_count_kv).");
  }
  if (!ok()) {
    return;
  }
  AttentionDescription& a = l.attention;
  projections(i);
  a.output = matrix(in_layer(i, "attn_output.weight"), model.dim, l.n_heads * l.head_dim_v);
  a.output_bias = vector_if(in_layer(i, "attn_output.bias"), model.dim);
  if (options.layout != RopeLayout::none) {
    a.rope = rope(options, l.head_dim_k);
  }
  a.q_scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(l.head_dim_k)));
}

// Q, K and V as three matrices, or rows of one (attn_qkv: all of Q, then K, then V).
void FamilyBuilder::projections(int i) {
  const LayerDescription& l = layer(i);
  AttentionDescription& a = layer(i).attention;
  const int nq = l.n_heads * l.head_dim_k, nk = l.n_kv_heads * l.head_dim_k, nv = l.n_kv_heads * l.head_dim_v;
  const int all = nq + nk + nv;
  if (const std::string fused = in_layer(i, "attn_qkv.weight"); has_tensor(fused)) {
    a.q = slice(fused, all, model.dim, 0, nq);
    a.k = slice(fused, all, model.dim, nq, nk);
    a.v = slice(fused, all, model.dim, nq + nk, nv);
    if (const VectorRef bias = vector_if(in_layer(i, "attn_qkv.bias"), all)) {
      const auto q = static_cast<std::size_t>(nq), k = static_cast<std::size_t>(nk), v = static_cast<std::size_t>(nv);
      a.q_bias = {bias.name, 0, q};
      a.k_bias = {bias.name, q, k};
      a.v_bias = {bias.name, q + k, v};
    }
    return;
  }
  a.q = matrix(in_layer(i, "attn_q.weight"), nq, model.dim);
  a.k = matrix(in_layer(i, "attn_k.weight"), nk, model.dim);
  a.v = matrix(in_layer(i, "attn_v.weight"), nv, model.dim);
  a.q_bias = vector_if(in_layer(i, "attn_q.bias"), nq);
  a.k_bias = vector_if(in_layer(i, "attn_k.bias"), nk);
  a.v_bias = vector_if(in_layer(i, "attn_v.bias"), nv);
}

void FamilyBuilder::gated_attention(int i, const RopeOptions& options) {
  LayerDescription& l = layer(i);
  if (ok() && (!divides(l.n_kv_heads, l.n_heads) || l.head_dim_k < 1 || l.head_dim_v != l.head_dim_k)) {
    fail(ErrorCode::bad_file, "The number of heads (attention.head_count) is not a multiple of the number of key heads (attention.head_count_kv).");
  }
  if (!ok()) {
    return;
  }
  AttentionDescription& a = l.attention;
  const int d = l.head_dim_k;
  a.q = runs(in_layer(i, "attn_q.weight"), l.n_heads, 2 * d, model.dim, 0, d);
  a.gate = runs(in_layer(i, "attn_q.weight"), l.n_heads, 2 * d, model.dim, d, d);
  a.k = matrix(in_layer(i, "attn_k.weight"), l.n_kv_heads * d, model.dim);
  a.v = matrix(in_layer(i, "attn_v.weight"), l.n_kv_heads * d, model.dim);
  a.output = matrix(in_layer(i, "attn_output.weight"), model.dim, l.n_heads * d);
  a.rope = rope(options, d);
  a.q_scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(d)));
}

void FamilyBuilder::head_norms(int i, bool required) {
  LayerDescription& l = layer(i);
  l.attention.q_norm = norm(in_layer(i, "attn_q_norm"), l.head_dim_k, required);
  l.attention.k_norm = norm(in_layer(i, "attn_k_norm"), l.head_dim_k, required);
}

// Gate and up as two matrices, or both in ffn_up (gate first); families without a gate say so.
void FamilyBuilder::feed_forward(int i, Activation activation, bool gated) {
  FeedForwardDescription f;
  f.width = per_layer("feed_forward_length", i, 0);
  f.activation = activation;
  if (ok() && f.width < 1) {
    fail(ErrorCode::bad_file, "The model does not give " + model.architecture + ".feed_forward_length.");
  }
  if (!ok()) {
    return;
  }
  const std::string up = in_layer(i, "ffn_up.weight");
  const GgufTensor* tensor = file_.tensor(up);
  if (gated && tensor != nullptr && tensor->rows() == 2 * static_cast<std::uint64_t>(f.width)) {
    f.gate = slice(up, 2 * f.width, model.dim, 0, f.width);
    f.up = slice(up, 2 * f.width, model.dim, f.width, f.width);
  } else {
    if (gated) {
      f.gate = matrix(in_layer(i, "ffn_gate.weight"), f.width, model.dim);
    }
    f.up = matrix(up, f.width, model.dim);
    f.gate_bias = vector_if(in_layer(i, "ffn_gate.bias"), f.width);
    f.up_bias = vector_if(in_layer(i, "ffn_up.bias"), f.width);
  }
  f.down = matrix(in_layer(i, "ffn_down.weight"), model.dim, f.width);
  f.down_bias = vector_if(in_layer(i, "ffn_down.bias"), model.dim);
  layer(i).feed_forward = f;
}

void FamilyBuilder::experts(int i, const ExpertsOptions& options) {
  ExpertsDescription e;
  e.n_experts = integer("expert_count");
  e.n_used = integer("expert_used_count");
  e.width = options.width > 0 ? options.width : integer_or("expert_feed_forward_length", per_layer("feed_forward_length", i, 0));
  if (ok() && (e.n_experts < 1 || e.n_experts > kMostExperts || e.n_used < 1 || e.n_used > e.n_experts || e.width < 1)) {
    fail(ErrorCode::bad_file, "The model gives no sensible number or size of experts.");
  }
  if (!ok()) {
    return;
  }
  e.activation = options.activation;
  e.router_kind = options.router;
  e.renormalise = options.renormalise;
  e.weight_scale = static_cast<float>(number_or("expert_weights_scale", 1.0));
  if (e.weight_scale == 0.0F) {
    e.weight_scale = 1.0F;
  }
  e.router = matrix(in_layer(i, "ffn_gate_inp.weight"), e.n_experts, model.dim);
  e.router_bias = vector_if(in_layer(i, "ffn_gate_inp.bias"), e.n_experts);
  e.selection_bias = vector_if(in_layer(i, "exp_probs_b.bias"), e.n_experts);
  e.gate_up = matrix_if(in_layer(i, "ffn_gate_up_exps.weight"), 2 * e.width, model.dim, e.n_experts);
  if (e.gate_up && e.width % 32 != 0) {  // the halves are multiplied in pieces of 32 rows, which may not reach into each other
    fail(ErrorCode::unsupported, "Experts with gate and up in one matrix need a width that is a multiple of 32; this model's is " + std::to_string(e.width) + ".");
  }
  if (!e.gate_up) {
    e.gate = matrix(in_layer(i, "ffn_gate_exps.weight"), e.width, model.dim, e.n_experts);
    e.up = matrix(in_layer(i, "ffn_up_exps.weight"), e.width, model.dim, e.n_experts);
    e.gate_bias = vector_if(in_layer(i, "ffn_gate_exps.bias"), e.width, e.n_experts);
    e.up_bias = vector_if(in_layer(i, "ffn_up_exps.bias"), e.width, e.n_experts);
  }
  e.down = matrix(in_layer(i, "ffn_down_exps.weight"), model.dim, e.width, e.n_experts);
  e.down_bias = vector_if(in_layer(i, "ffn_down_exps.bias"), model.dim, e.n_experts);
  e.expert_scale = vector_if(in_layer(i, "ffn_down_exps.scale"), e.n_experts);
  layer(i).experts = e;
}

void FamilyBuilder::shared_expert(int i, int width) {
  if (!ok() || !layer(i).experts || width < 1) {
    return;
  }
  FeedForwardDescription f;
  f.width = width;
  f.activation = layer(i).experts->activation;
  f.gate = matrix(in_layer(i, "ffn_gate_shexp.weight"), width, model.dim);
  f.up = matrix(in_layer(i, "ffn_up_shexp.weight"), width, model.dim);
  f.down = matrix(in_layer(i, "ffn_down_shexp.weight"), model.dim, width);
  layer(i).experts->shared = f;
  layer(i).experts->shared_gate = matrix_if(in_layer(i, "ffn_gate_inp_shexp.weight"), 1, model.dim);
}

}  // namespace tg
