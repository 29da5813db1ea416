#include "engine/device/cpu/math.h"

namespace tg::cpu {
namespace {
constexpr double kLn2 = 0.693147180559945309417;
}

double log_d(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  auto exponent = static_cast<int>((bits >> 52) & 0x7ffU) - 1023;
  double m = std::bit_cast<double>((bits & 0xfffffffffffffULL) | 0x3ff0000000000000ULL);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++exponent;
  }
  const double s = (m - 1) / (m + 1), z = s * s;
  double sum = 0;
  for (int k = 21; k >= 1; k -= 2) sum = sum * z + 1.0 / k;
  return 2 * s * sum + exponent * kLn2;
}

double exp_d(double x) {
  if (x < -700) return 0;
  if (x > 700) x = 700;
  const int n = static_cast<int>(x / kLn2 + (x < 0 ? -0.5 : 0.5));
  const double r = x - n * kLn2;
  double sum = 1;
  for (int k = 16; k >= 1; --k) sum = 1 + r / k * sum;
  return sum * std::bit_cast<double>(static_cast<std::uint64_t>(n + 1023) << 52);
}

void cos_sin_d(double angle, double& cosine, double& sine) {
  // pi/2 in three parts: the product with the quadrant number (< 2^26) is exact for the first two.
  constexpr double kHigh = 1.57079632673412561417, kMiddle = 6.07710050630396597660e-11, kLow = 2.02226624879595063154e-21;
  const double q = static_cast<double>(static_cast<long long>(angle * 0.636619772367581343 + (angle < 0 ? -0.5 : 0.5)));
  const double r = ((angle - q * kHigh) - q * kMiddle) - q * kLow, z = r * r;
  double s = 0, c = 0;
  for (int k = 15; k >= 3; k -= 2) s = (1 + s) * -z / (k * (k - 1));
  for (int k = 16; k >= 2; k -= 2) c = (1 + c) * -z / (k * (k - 1));
  s = r * (1 + s);
  c = 1 + c;
  const auto quadrant = static_cast<unsigned long long>(static_cast<long long>(q)) & 3U;
  cosine = quadrant == 0 ? c : quadrant == 1 ? -s : quadrant == 2 ? -c : s;
  sine = quadrant == 0 ? s : quadrant == 1 ? c : quadrant == 2 ? -s : -c;
}

}  // namespace tg::cpu
