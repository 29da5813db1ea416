// Order statistics of the gaps between tokens.
#pragma once
#include <vector>

namespace tg {

// The smallest value that at least FRACTION of VALUES do not exceed (nearest rank); 0 for no values.
double percentile(std::vector<double> values, double fraction);

}  // namespace tg
