#include "statistics.hpp"

#include <algorithm>
#include <cmath>

namespace weft::bench {

Summary summarise(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    const double position = share * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(std::floor(position));
    const std::size_t above = std::min(below + 1, values.size() - 1);
    return values[below] + (position - std::floor(position)) * (values[above] - values[below]);
  };
  return {at(0.5), values.front(), at(0.25), at(0.75)};
}

}  // namespace weft::bench
