// What the files in families/ are written with: reads metadata and names tensors, checking presence, shape and format at once.
// The first fault is kept and ends the description; after it every call is harmless, so families need no error handling.
#pragma once
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/description.h"

namespace tg {

struct RopeOptions {
  RopeLayout layout = RopeLayout::neox;
  int n_dims = 0;                // 0: rope.dimension_count, or the head size
  double base = 0.0;             // 0: rope.freq_base, or 10000
  bool scaled = true;            // apply rope.scaling.* (off for the window layers of gemma3 and others)
  bool factors = true;           // apply the file's factor tensors (rope_freqs, rope_factors_long / short)
};

struct ExpertsOptions {
  Activation activation = Activation::silu;
  RouterKind router = RouterKind::softmax_then_topk;
  bool renormalise = true;
  int width = 0;                 // 0: expert_feed_forward_length, or feed_forward_length
};

class FamilyBuilder {
 public:
  FamilyBuilder(const GgufFile& file, int context) : file_(file), context_(context) {}

  ModelDescription model;

  // ---- Faults -----------------------------------------------------------------------------------------------------------
  void fail(ErrorCode code, std::string message);
  bool ok() const { return !error_; }
  const std::optional<Error>& error() const { return error_; }

  // ---- Metadata: keys without the architecture's prefix -----------------------------------------------------------------
  bool has(std::string_view key) const;
  int integer(std::string_view key);                            // required, 0 ... 2^24
  int integer_or(std::string_view key, int fallback);
  double number_or(std::string_view key, double fallback);      // finite
  double number(std::string_view key);                          // required, finite
  bool flag_or(std::string_view key, bool fallback);
  std::string text_or(std::string_view key, std::string fallback);
  int per_layer(std::string_view key, int layer, int fallback);  // scalar or array with an entry for each layer
  // Layers with a sliding window: key attention.sliding_window_pattern as an array of flags, or n (every n-th layer is full).
  bool is_window_layer(int layer, int default_period);

  // ---- Tensors ----------------------------------------------------------------------------------------------------------
  bool has_tensor(const std::string& name) const;
  static std::string in_layer(int layer, std::string_view part);                 // "blk.3.attn_q.weight"
  VectorRef vector(const std::string& name, int cols, int rows = 1);             // required
  VectorRef vector_if(const std::string& name, int cols, int rows = 1);
  MatrixRef matrix(const std::string& name, int rows, int cols, int experts = 1);
  MatrixRef matrix_if(const std::string& name, int rows, int cols, int experts = 1);
  // Rows [first, first + rows) of a matrix that holds `file_rows`.
  MatrixRef slice(const std::string& name, int file_rows, int cols, int first, int rows);
  // From each `step` rows of the matrix the `run` rows after `first`; groups > 1 are told apart as experts when `stacked`.
  MatrixRef runs(const std::string& name, int n_runs, int step, int cols, int first, int run, bool stacked = false);
  NormDescription norm(const std::string& name, int size, bool required = true);  // name without ".weight" / ".bias"
  NormDescription norm_without_weight() const;

  // ---- Parts shared by families -----------------------------------------------------------------------------------------
  // Reads the dimensions, embeddings and output; makes the layers with their heads. False when a fault was found.
  bool begin(NormKind norm_kind = NormKind::rms, std::string_view output_norm = "output_norm");
  LayerDescription& layer(int i) { return model.layers[static_cast<std::size_t>(i)]; }
  int n_layers() const { return model.n_layers; }
  void attention_norms(int i, std::string_view before, std::string_view after = {});
  void feed_forward_norms(int i, std::string_view before, std::string_view after = {});
  void window(int i, int tokens);
  void attention(int i, const RopeOptions& rope);                // projections, biases, output, rope, scale 1/sqrt(head)
  void gated_attention(int i, const RopeOptions& rope);          // as attention; attn_q holds q and gate, head by head
  void head_norms(int i, bool required = true);                  // attn_q_norm, attn_k_norm per head
  void feed_forward(int i, Activation activation = Activation::silu, bool gated = true);
  void experts(int i, const ExpertsOptions& options);
  void shared_expert(int i, int width);                          // ffn_*_shexp, with gate where the file has one
  RopeDescription rope(const RopeOptions& options, int head_dim);

  // Every tensor of the file has been named by the description; else the model holds a part that would be left out.
  void check_all_used();

  const GgufFile& file() const { return file_; }
  float eps() const { return eps_; }

 private:
  std::string key(std::string_view name) const { return model.architecture + "." + std::string(name); }
  const GgufTensor* find(const std::string& name, bool required);
  bool check_shape(const GgufTensor& tensor, std::initializer_list<int> shape);
  VectorRef vector_of(const std::string& name, int cols, int rows, bool required);
  MatrixRef matrix_of(const std::string& name, int rows, int cols, int experts, bool required);
  float tensor_scale(const std::string& name);
  bool is_prediction_block(std::string_view name) const;
  void read_heads(int i);
  void read_embeddings(std::string_view output_norm);
  void projections(int i);
  std::vector<float> read_floats(const std::string& name, int size);
  std::vector<float> rope_factors(int n_dims);       // divisors of the frequencies; empty: none
  double rope_factor(const std::string& type, bool scaled);
  struct YarnRamp {
    double low = 0.0, high = 0.0;                    // dimensions
  };
  YarnRamp yarn_ramp(int n_dims, double base);

  const GgufFile& file_;
  int context_ = 0;
  NormKind norm_kind_ = NormKind::rms;
  float eps_ = 1e-5F;
  int n_prediction_blocks_ = 0;
  std::optional<Error> error_;
  std::set<std::string, std::less<>> used_;
};

}  // namespace tg
