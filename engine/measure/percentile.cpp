#include "engine/measure/percentile.h"

#include <algorithm>
#include <cmath>

namespace tg {

double percentile(std::vector<double> values, double fraction) {
  if (values.empty()) return 0;
  const double rank = std::ceil(std::clamp(fraction, 0.0, 1.0) * static_cast<double>(values.size()));
  const auto index = static_cast<std::ptrdiff_t>(std::max(rank, 1.0)) - 1;
  std::nth_element(values.begin(), values.begin() + index, values.end());
  return values[static_cast<std::size_t>(index)];
}

}  // namespace tg
