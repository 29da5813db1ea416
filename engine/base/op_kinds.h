// Kinds of operation that a model description names and a device computes: data shared by model/ and device/.
#pragma once
#include <cstdint>

namespace tg {

enum class NormKind : std::uint8_t { rms, layer };

// swiglu_clamped is gpt-oss's: alpha 1.702, limit 7, (up + 1).
enum class Activation : std::uint8_t { none, silu, gelu_tanh, gelu_erf, relu_squared, swiglu_clamped };

// Which two elements of a head turn together: norm i, i + 1; neox i, i + n_dims / 2.
enum class RopeLayout : std::uint8_t { none, norm, neox };

enum class RouterKind : std::uint8_t { softmax_then_topk, topk_then_softmax, sigmoid };

}  // namespace tg
