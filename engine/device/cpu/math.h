// Elementary functions of our own, so that results do not depend on which libm variant a machine picks.
// Error bounds are relative to the exact value and were measured over the whole range by tst_cpu_math.
#pragma once
#include <bit>
#include <cstdint>

#include "engine/base/op_kinds.h"

namespace tg::cpu {

inline constexpr float kLog2e = 1.44269504088896341F;
inline constexpr float kLn2High = 0.693359375F, kLn2Low = -2.12194440054690583e-4F;  // ln 2 in two parts (Cody, Waite)
inline constexpr float kExpMin = -87.3F, kExpMax = 88.3F;
// exp(r) - 1 - r over r^2 on [-ln2/2, ln2/2]: Taylor coefficients 1/2! to 1/8!, remainder below 3e-10.
inline constexpr float kExpC[7] = {0.5F, 1.0F / 6, 1.0F / 24, 1.0F / 120, 1.0F / 720, 1.0F / 5040, 1.0F / 40320};

// Relative error below 2e-7. Below kExpMin exactly 0 (so exp(-inf) = 0), above kExpMax the value at kExpMax.
[[gnu::always_inline]] inline float exp_f(float x) {
  if (x < kExpMin) return 0.0F;
  if (x > kExpMax) x = kExpMax;
  const float n = static_cast<float>(static_cast<int>(x * kLog2e + (x < 0 ? -0.5F : 0.5F)));
  const float r = (x - n * kLn2High) - n * kLn2Low;
  float p = kExpC[6];
  for (int i = 5; i >= 0; --i) p = p * r + kExpC[i];
  const float e = (p * r) * r + r + 1.0F;
  return e * std::bit_cast<float>((static_cast<std::int32_t>(n) + 127) << 23);
}

// Absolute error below 2e-7; relative too for small x, where (1 - t) / (1 + t) would cancel.
[[gnu::always_inline]] inline float tanh_f(float x) {
  const float a = x < 0 ? -x : x;
  if (a < 0.25F) {
    const float z = x * x;
    return x + x * z * (-1.0F / 3 + z * (2.0F / 15 + z * (-17.0F / 315 + z * (62.0F / 2835))));
  }
  const float t = exp_f(-2.0F * a), r = (1.0F - t) / (1.0F + t);
  return x < 0 ? -r : r;
}

[[gnu::always_inline]] inline float sigmoid_f(float x) { return 1.0F / (1.0F + exp_f(-x)); }

// Abramowitz and Stegun 7.1.26: absolute error below 2e-7.
[[gnu::always_inline]] inline float erf_f(float x) {
  const float a = x < 0 ? -x : x, t = 1.0F / (1.0F + 0.3275911F * a);
  const float p = t * (0.254829592F + t * (-0.284496736F + t * (1.421413741F + t * (-1.453152027F + t * 1.061405429F))));
  const float r = 1.0F - p * exp_f(-a * a);
  return x < 0 ? -r : r;
}

// Natural logarithm of a positive finite double, error about 1e-16: ln m by the atanh series around 1.
double log_d(double x);
// exp of a double, relative error about 1e-15.
double exp_d(double x);
// cos and sin of an angle in radians, |angle| < 1e8, absolute error below 1e-9 (the angle's own rounding aside).
void cos_sin_d(double angle, double& cosine, double& sine);
inline double softplus_d(double x) { return x > 30 ? x : log_d(1.0 + exp_d(x)); }

[[gnu::always_inline]] inline float activate_f(float x, Activation activation) {
  switch (activation) {
    case Activation::none: return x;
    case Activation::silu: return x * sigmoid_f(x);
    case Activation::gelu_tanh: return 0.5F * x * (1.0F + tanh_f(0.797884560802865F * x * (1.0F + 0.044715F * x * x)));
    case Activation::gelu_erf: return 0.5F * x * (1.0F + erf_f(x * 0.707106781186548F));
    case Activation::relu_squared: return x > 0 ? x * x : 0.0F;
    case Activation::swiglu_clamped: return x;  // only defined for a gate with its up value
  }
  return x;
}

// act(gate) * up; gpt-oss clamps both and adds one to up.
[[gnu::always_inline]] inline float glu_f(float gate, float up, Activation activation) {
  if (activation != Activation::swiglu_clamped) return activate_f(gate, activation) * up;
  const float g = gate > 7.0F ? 7.0F : gate, u = up > 7.0F ? 7.0F : up < -7.0F ? -7.0F : up;
  return g * sigmoid_f(1.702F * g) * (u + 1.0F);
}

}  // namespace tg::cpu
