// A model as data: what the one forward walk needs to know. Filled from GGUF metadata by one small file per architecture in families/.
// Everything is checked while it is filled: what a description names is in the file, in the right shape and in a usable format.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/op_kinds.h"
#include "engine/base/result.h"
#include "engine/base/types.h"
#include "engine/gguf/reader.h"

namespace tg {

// ---- References into the file. An empty name means: the model has no such part. -----------------------------------------
// A vector of floats (norm weight, bias, convolution taps): elements [first, first + size) of the tensor.
struct VectorRef {
  std::string name;
  std::size_t first = 0, size = 0;
  explicit operator bool() const { return !name.empty(); }
};

// `experts` stacked matrices of [rows x cols], cols contiguous. Their rows are taken from the tensor's rows (all its dimensions but
// the first) in runs: `run` rows from `first` on, then again each `step` rows further. run == step: one piece.
struct MatrixRef {
  std::string name;
  int rows = 0, cols = 0, experts = 1;
  int first = 0, run = 0, step = 0;
  float scale = 1.0F;            // factor of the whole tensor (NVFP4 files carry one)
  explicit operator bool() const { return !name.empty(); }
};

// ---- Parts of a layer ---------------------------------------------------------------------------------------------------
struct NormDescription {
  bool present = false;
  NormKind kind = NormKind::rms;
  VectorRef weight, bias;        // absent weight: ones
  float eps = 1e-5F;
};

struct RopeDescription {
  RopeLayout layout = RopeLayout::none;
  int n_dims = 0;                // leading dimensions of a head that turn
  std::vector<float> inv_freq;   // [n_dims / 2], with every scaling and factor in it
  float magnitude = 1.0F;        // of cos and sin (YaRN, long rope)
};

// Attention by the layer's own K and V heads; absent in MLA layers but for rope, q_scale and output.
struct AttentionDescription {
  MatrixRef q, k, v, output, gate;             // gate: sigmoid gate of the heads' output (qwen35, qwen3next)
  VectorRef q_bias, k_bias, v_bias, output_bias, sinks;
  NormDescription q_norm, k_norm, v_norm;      // per head, or over the whole row
  bool norm_whole_row = false;
  RopeDescription rope;
  float q_scale = 1.0F;
  float softcap = 0.0F;                        // 0: none
  float temperature_coefficient = 0.0F;        // 1 + coefficient * log(1 + floor(position / base))
  int temperature_base = 0;                    // 0: none
  int kv_source = -1;                          // layer whose K and V are read instead of own ones; -1: own
};

// Multi-head latent attention (DeepSeek): one latent K head [rope_dim + latent_dim] for all heads, rope part first; V is its latent part.
struct MlaDescription {
  int nope_dim = 0, rope_dim = 0, latent_dim = 0, value_dim = 0;
  MatrixRef q_a;                               // absent: q directly from the layer's input
  NormDescription q_a_norm, latent_norm;
  MatrixRef q_nope, q_rope;                    // one expert per head: [nope_dim or rope_dim rows]
  MatrixRef k_rope, latent;                    // of the layer's input
  MatrixRef k_b, v_b;                          // one expert per head: nope_dim -> latent_dim, latent_dim -> value_dim
};

// Gated delta net (qwen35, qwen3next).
struct DeltaNetDescription {
  int conv_width = 0, n_k_heads = 0, n_v_heads = 0, head_k = 0, head_v = 0;
  bool k_heads_interleaved = false;
  MatrixRef qkv, z, beta, alpha, output;
  VectorRef conv, a, dt_bias;
  NormDescription norm;                        // per v head, before the gate z
  int channels() const { return 2 * n_k_heads * head_k + n_v_heads * head_v; }
};

// Short gated convolution (lfm2).
struct ShortConvDescription {
  int width = 0;
  MatrixRef input, output;
  VectorRef conv;
};

// down(activation(gate x) * (up x)), or down(activation(up x)) where there is no gate.
struct FeedForwardDescription {
  int width = 0;
  Activation activation = Activation::silu;
  MatrixRef gate, up, down;
  VectorRef gate_bias, up_bias, down_bias;
};

struct ExpertsDescription {
  int n_experts = 0, n_used = 0, width = 0, n_groups = 1, n_groups_used = 1;
  Activation activation = Activation::silu;
  RouterKind router_kind = RouterKind::softmax_then_topk;
  bool renormalise = true;
  float weight_scale = 1.0F;
  MatrixRef router, gate, up, gate_up, down;   // gate_up: both in one, gate first
  VectorRef router_bias, gate_bias, up_bias, down_bias, selection_bias, expert_scale;
  std::optional<FeedForwardDescription> shared;
  MatrixRef shared_gate;                       // [1 x dim]: sigmoid gate of the shared expert
  // Experts beside the dense feed-forward (gemma4): own norms, and a router that reads the normalised residual times router_scale.
  NormDescription pre_norm, post_norm, dense_post_norm;
  VectorRef router_scale;
  float router_input_scale = 1.0F;
};

enum class LayerKind : std::uint8_t { full, window, delta_net, short_conv };

struct LayerDescription {
  LayerKind kind = LayerKind::full;
  int n_heads = 0, n_kv_heads = 0, head_dim_k = 0, head_dim_v = 0;  // as the KV cache stores them (MLA: one latent head)
  int window = 0;                              // tokens; 0: none
  NormDescription attention_norm, attention_post_norm, feed_forward_norm, feed_forward_post_norm;
  AttentionDescription attention;
  std::optional<MlaDescription> mla;
  std::optional<DeltaNetDescription> delta_net;
  std::optional<ShortConvDescription> short_conv;
  std::optional<FeedForwardDescription> feed_forward;
  std::optional<ExpertsDescription> experts;
  VectorRef output_scale;                      // one value, times the layer's output
  MatrixRef per_layer_gate, per_layer_projection;  // gemma4 E-models
  NormDescription per_layer_post_norm;

  bool has_own_kv() const { return (kind == LayerKind::full || kind == LayerKind::window) && attention.kv_source < 0; }
  std::size_t conv_state_floats() const;       // recurrent and conv state of one sequence
  std::size_t delta_state_floats() const;
};

// Embeddings of each token for each layer (gemma4 E-models): table row * sqrt(dim), mixed with a projection of the input.
struct PerLayerEmbeddings {
  int dim = 0;
  MatrixRef table, projection;                 // [vocab x layers * dim], [layers * dim x model dim]
  NormDescription norm;                        // per layer
};

struct ModelDescription {
  std::string architecture, name;
  int n_layers = 0, dim = 0, vocab = 0, context_length = 0;
  std::uint64_t n_parameters = 0;
  std::vector<LayerDescription> layers;

  MatrixRef token_embedding, output;           // the same tensor where the model is tied
  VectorRef output_bias;
  NormDescription output_norm;
  std::optional<PerLayerEmbeddings> per_layer;
  float embedding_scale = 1.0F, residual_scale = 1.0F, logit_scale = 1.0F;
  float final_softcap = 0.0F;                  // 0: none
  bool parallel_residual = false;              // feed-forward reads the same normalised input as the attention (Cohere)

  std::size_t state_bytes() const;             // recurrent and conv state of one sequence, f32; 0: none
};

// Describes the model of FILE, or refuses it by name (unknown architecture, missing tensor, contradicting shapes).
// CONTEXT: the configured context (chooses long rope factors); 0: the model's.
Result<ModelDescription> describe_model(const GgufFile& file, int context);

}  // namespace tg
