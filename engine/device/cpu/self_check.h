// Inputs of `selfcheck` and the device tests: random and adversarial matrices in every format, and the distance between two results.
#pragma once
#include <cstdint>
#include <vector>

#include "engine/device/device.h"

namespace tg::cpu {

class CpuDevice;

// The same numbers on every machine (splitmix64).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  float uniform(float low, float high);
  float normal();  // sum of 12 uniforms: bell enough

 private:
  std::uint64_t state_;
};

enum class Payload { random, all_ones, zero_scale, largest_scale, subnormal_scale, negative_zero };
// Bytes of a [rows x cols] matrix. Quantised formats: random bits with finite scales of ordinary size (or the named extreme).
std::vector<std::byte> make_weight(Format format, int rows, int cols, Payload payload, Random& random);

// Normalised mean square error; infinite where one is not finite and the other is.
double nmse(const std::vector<float>& value, const std::vector<float>& reference);

// Gated delta net and short convolution against formulas in double.
std::vector<SelfCheck> check_recurrent(CpuDevice& device);

}  // namespace tg::cpu
