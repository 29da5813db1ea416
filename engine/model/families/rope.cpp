// Rotary position embedding as frequencies: linear interpolation, YaRN (arXiv 2309.00071), and factor tensors
// (llama-3.1's rope_freqs, Phi's long and short factors), computed once in double precision.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/model/families/builder.h"

namespace tg {

namespace {

// Dimension whose wavelength makes `turns` full turns over the original context.
double yarn_dimension(int n_dims, double context, double turns, double base) {
  return n_dims * std::log(context / (turns * 2.0 * std::numbers::pi)) / (2.0 * std::log(base));
}

double yarn_magnitude(double factor, double multiplier) {
  return factor <= 1.0 ? 1.0 : 0.1 * multiplier * std::log(factor) + 1.0;
}

}  // namespace

std::vector<float> FamilyBuilder::rope_factors(int n_dims) {
  if (has_tensor("rope_freqs.weight")) {
    return read_floats("rope_freqs.weight", n_dims / 2);
  }
  if (!has_tensor("rope_factors_long.weight") || !has_tensor("rope_factors_short.weight")) {
    return {};
  }
  const int original = integer_or("rope.scaling.original_context_length", model.context_length);
  const int configured = context_ > 0 ? std::min(context_, model.context_length) : model.context_length;
  return read_floats(configured > original ? "rope_factors_long.weight" : "rope_factors_short.weight", n_dims / 2);
}

RopeDescription FamilyBuilder::rope(const RopeOptions& options, int head_dim) {
  RopeDescription rope;
  rope.layout = options.layout;
  rope.n_dims = options.n_dims > 0 ? options.n_dims : integer_or("rope.dimension_count", head_dim);
  const double base = options.base > 0.0 ? options.base : number_or("rope.freq_base", 10000.0);
  if (ok() && (rope.n_dims < 2 || rope.n_dims % 2 != 0 || rope.n_dims > head_dim || base <= 1.0)) {
    fail(ErrorCode::bad_file, "The rotary dimensions or base of the model make no sense.");
  }
  const std::string type = text_or("rope.scaling.type", "linear");
  if (type != "none" && type != "linear" && type != "yarn" && type != "longrope") {
    fail(ErrorCode::unsupported, "The rope scaling " + type + " is not known.");
  }
  double factor = number_or("rope.scaling.factor", number_or("rope.scale_linear", 1.0));
  if (factor == 0.0 || type == "none" || !options.scaled) {
    factor = 1.0;
  }
  if (factor < 0.0) {
    fail(ErrorCode::bad_file, "The rope scaling factor is negative.");
  }
  const std::vector<float> factors = options.factors ? rope_factors(rope.n_dims) : std::vector<float>{};
  if (!ok()) {
    return {};
  }

  // YaRN: fast dimensions keep their frequency, slow ones are interpolated, a ramp lies between.
  const bool yarn = type == "yarn" && options.scaled;
  const double original = integer_or("rope.scaling.original_context_length", model.context_length);
  double low = 0.0, high = 0.0;
  if (yarn) {
    const double fast = number_or("rope.scaling.yarn_beta_fast", 32.0), slow = number_or("rope.scaling.yarn_beta_slow", 1.0);
    low = std::max(0.0, std::floor(yarn_dimension(rope.n_dims, original, fast, base)));
    high = std::min(rope.n_dims - 1.0, std::ceil(yarn_dimension(rope.n_dims, original, slow, base)));
    const double multiplier = number_or("rope.scaling.yarn_log_multiplier", 0.0);
    const double magnitude = yarn_magnitude(factor, 1.0) / (multiplier != 0.0 ? yarn_magnitude(factor, multiplier) : 1.0);
    rope.magnitude = static_cast<float>(magnitude);
  }
  if (options.scaled) {
    rope.magnitude *= static_cast<float>(number_or("rope.scaling.attn_factor", 1.0));
  }
  rope.inv_freq.resize(static_cast<std::size_t>(rope.n_dims / 2));
  for (std::size_t i = 0; i < rope.inv_freq.size(); ++i) {
    const auto dimension = static_cast<double>(i);
    double frequency = std::pow(base, -2.0 * dimension / rope.n_dims);
    if (!factors.empty()) {
      if (!(factors[i] > 0.0F)) {
        fail(ErrorCode::bad_file, "The rope factors of the model are not positive.");
        return {};
      }
      frequency /= static_cast<double>(factors[i]);
    }
    const double ramp = yarn ? 1.0 - std::clamp((dimension - low) / std::max(0.001, high - low), 0.0, 1.0) : 0.0;
    rope.inv_freq[i] = static_cast<float>(frequency * (ramp + (1.0 - ramp) / factor));
  }
  return rope;
}

}  // namespace tg
