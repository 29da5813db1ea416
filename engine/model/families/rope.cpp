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
  std::string name = "rope_freqs.weight";
  if (!has_tensor(name)) {
    if (!has_tensor("rope_factors_long.weight") || !has_tensor("rope_factors_short.weight")) {
      return {};
    }
    const int original = integer_or("rope.scaling.original_context_length", model.context_length);
    const int configured = context_ > 0 ? std::min(context_, model.context_length) : model.context_length;
    name = configured > original ? "rope_factors_long.weight" : "rope_factors_short.weight";
  }
  std::vector<float> factors = read_floats(name, n_dims / 2);
  if (std::any_of(factors.begin(), factors.end(), [](float f) { return !(f > 0.0F); })) {
    fail(ErrorCode::bad_file, "The rope factors of the model are not positive.");
  }
  return factors;
}

double FamilyBuilder::rope_factor(const std::string& type, bool scaled) {
  if (type != "none" && type != "linear" && type != "yarn" && type != "longrope") {
    fail(ErrorCode::unsupported, "The rope scaling " + type + " is not known.");
  }
  const double factor = number_or("rope.scaling.factor", number_or("rope.scale_linear", 1.0));
  if (factor < 0.0) {
    fail(ErrorCode::bad_file, "The rope scaling factor is negative.");
  }
  return factor <= 0.0 || type == "none" || !scaled ? 1.0 : factor;
}

// Fast dimensions keep their frequency, slow ones are interpolated, a ramp lies between.
FamilyBuilder::YarnRamp FamilyBuilder::yarn_ramp(int n_dims, double base) {
  const double original = integer_or("rope.scaling.original_context_length", model.context_length);
  const double fast = number_or("rope.scaling.yarn_beta_fast", 32.0), slow = number_or("rope.scaling.yarn_beta_slow", 1.0);
  if (ok() && (original < 1.0 || fast <= 0.0 || slow <= 0.0)) {
    fail(ErrorCode::bad_file, "The rope scaling of the model makes no sense.");
  }
  return {std::max(0.0, std::floor(yarn_dimension(n_dims, original, fast, base))),
          std::min(n_dims - 1.0, std::ceil(yarn_dimension(n_dims, original, slow, base)))};
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
  const double factor = rope_factor(type, options.scaled);
  const bool yarn = type == "yarn" && options.scaled;
  const YarnRamp ramp = yarn && ok() ? yarn_ramp(rope.n_dims, base) : YarnRamp{};
  const std::vector<float> divisors = options.factors ? rope_factors(rope.n_dims) : std::vector<float>{};
  if (!ok()) {
    return {};
  }
  double magnitude = options.scaled ? number_or("rope.scaling.attn_factor", 1.0) : 1.0;
  if (yarn) {
    const double multiplier = number_or("rope.scaling.yarn_log_multiplier", 0.0);
    magnitude *= yarn_magnitude(factor, 1.0) / (multiplier != 0.0 ? yarn_magnitude(factor, multiplier) : 1.0);
  }
  rope.magnitude = static_cast<float>(magnitude);
  for (int i = 0; i < rope.n_dims / 2; ++i) {
    const double kept = yarn ? 1.0 - std::clamp((i - ramp.low) / std::max(0.001, ramp.high - ramp.low), 0.0, 1.0) : 0.0;
    double frequency = std::pow(base, -2.0 * i / rope.n_dims) * (kept + (1.0 - kept) / factor);
    if (!divisors.empty()) {
      frequency /= static_cast<double>(divisors[static_cast<std::size_t>(i)]);
    }
    rope.inv_freq.push_back(static_cast<float>(frequency));
  }
  return rope;
}

}  // namespace tg
