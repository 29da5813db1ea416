// A model as data: what the one forward walk needs to know. Filled from GGUF metadata by one small file per architecture in families/.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/types.h"
#include "engine/gguf/reader.h"

namespace tg {

enum class LayerKind : std::uint8_t { full, window, delta_net, short_conv };

// First version: the walk's owner extends it (norms, rope, experts, per-layer parts) without changing what stands here.
struct LayerDescription {
  LayerKind kind = LayerKind::full;
  int n_heads = 0, n_kv_heads = 0, head_dim_k = 0, head_dim_v = 0;
  int window = 0;  // tokens; 0: none
};

struct ModelDescription {
  std::string architecture, name;
  int n_layers = 0, dim = 0, vocab = 0, context_length = 0;
  std::uint64_t n_parameters = 0;
  std::vector<LayerDescription> layers;
};

// Describes the model of FILE, or refuses it by name (unknown architecture, missing tensor, contradicting shapes).
// CONTEXT: the configured context (chooses long rope factors); 0: the model's.
Result<ModelDescription> describe_model(const GgufFile& file, int context);

}  // namespace tg
