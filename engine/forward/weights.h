// A model's weights on a device: what the description names, uploaded once. Null pointers stand for parts the model does not have.
#pragma once
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/types.h"
#include "engine/device/device.h"
#include "engine/model/description.h"

namespace tg {

using OptionalNorm = std::optional<NormSpec>;

struct AttentionWeights {
  const Weight *q = nullptr, *k = nullptr, *v = nullptr, *output = nullptr, *gate = nullptr;
  const float *q_bias = nullptr, *k_bias = nullptr, *v_bias = nullptr, *output_bias = nullptr, *sinks = nullptr;
  OptionalNorm q_norm, k_norm, v_norm;
  RopeSpec rope;
};

struct MlaWeights {
  const Weight *q_a = nullptr, *q_nope = nullptr, *q_rope = nullptr, *k_rope = nullptr, *latent = nullptr, *k_b = nullptr, *v_b = nullptr;
  OptionalNorm q_a_norm, latent_norm;
};

struct DeltaNetWeights {
  const Weight *qkv = nullptr, *z = nullptr, *beta = nullptr, *alpha = nullptr, *output = nullptr;
  const float *conv = nullptr, *a = nullptr, *dt_bias = nullptr;
  OptionalNorm norm;
};

struct ShortConvWeights {
  const Weight *input = nullptr, *output = nullptr;
  const float* conv = nullptr;
};

struct FeedForwardWeights {
  const Weight *gate = nullptr, *up = nullptr, *down = nullptr;
  const float *gate_bias = nullptr, *up_bias = nullptr, *down_bias = nullptr;
};

struct ExpertsWeights {
  const Weight *router = nullptr, *gate = nullptr, *up = nullptr, *gate_up = nullptr, *down = nullptr, *shared_gate = nullptr;
  const float *router_bias = nullptr, *gate_bias = nullptr, *up_bias = nullptr, *down_bias = nullptr;
  const float *selection_bias = nullptr, *expert_scale = nullptr;
  FeedForwardWeights shared;
  OptionalNorm pre_norm, post_norm, dense_post_norm, router_norm;
};

struct LayerWeights {
  OptionalNorm attention_norm, attention_post_norm, feed_forward_norm, feed_forward_post_norm, per_layer_post_norm;
  AttentionWeights attention;
  MlaWeights mla;
  DeltaNetWeights delta_net;
  ShortConvWeights short_conv;
  FeedForwardWeights feed_forward;
  ExpertsWeights experts;
  const Weight *per_layer_gate = nullptr, *per_layer_projection = nullptr;
  float output_scale = 1.0F;
};

struct ModelWeights {
  const Weight *token_embedding = nullptr, *output = nullptr, *per_layer_table = nullptr, *per_layer_projection = nullptr;
  const float* output_bias = nullptr;
  OptionalNorm output_norm, per_layer_norm;
  std::vector<LayerWeights> layers;
  std::uint64_t bytes = 0;                                       // of all weights on the device
  // Set when weights that were left in the file cannot be read any more: what was computed since is worth nothing.
  std::shared_ptr<std::atomic<bool>> unreadable = std::make_shared<std::atomic<bool>>(false);

  // Keeps what the pointers above point to.
  std::map<std::string, std::unique_ptr<Weight>> matrices;       // by reference into the file
  std::map<std::string, std::shared_ptr<std::byte>> vectors;
  std::vector<std::shared_ptr<std::vector<std::byte>>> gathered;  // rows picked from the file for the device
};

// Moves weights that upload left in the file into the device's own layout, a little at a time between steps.
// Thread: the one that drives the device. DEVICE and the weights outlive it.
class Settler {
 public:
  Settler(const ModelWeights& weights, Device& device);
  // Works for about BUDGET; a zero budget does nothing.
  void work(std::chrono::nanoseconds budget, const CancelToken& cancel);
  bool done() const { return left_.empty(); }

 private:
  Device& device_;
  std::vector<Weight*> left_;
};

using LoadProgress = std::function<void(std::uint64_t done, std::uint64_t total)>;

Result<ModelWeights> upload_weights(const std::shared_ptr<const GgufFile>& file, const ModelDescription& description, Device& device,
                                    const LoadProgress& progress, const CancelToken& cancel);

}  // namespace tg
