#include "engine/measure/limits.h"

#include <algorithm>

namespace tg {

PhaseWork& PhaseWork::operator+=(const PhaseWork& more) {
  bytes += more.bytes;
  ops += more.ops;
  seconds += more.seconds;
  cpu_seconds += more.cpu_seconds;
  steps += more.steps;
  return *this;
}

double gb_per_s(const PhaseWork& work) { return work.seconds > 0 ? work.bytes / work.seconds / 1e9 : 0; }
double gop_per_s(const PhaseWork& work) { return work.seconds > 0 ? work.ops / work.seconds / 1e9 : 0; }

std::optional<double> percent_of_limit(const PhaseWork& work, const DeviceLimits& limits, bool int8) {
  const double peak = int8 ? limits.int8_gop_per_s : limits.f32_gop_per_s;
  if (work.seconds <= 0 || peak <= 0 || limits.read_gb_per_s <= 0) return std::nullopt;
  const double least = std::max(work.bytes / (limits.read_gb_per_s * 1e9), work.ops / (peak * 1e9));
  return 100 * least / work.seconds;
}

}  // namespace tg
