// Medians and quartiles of repeated timings.
#pragma once

#include <vector>

namespace weft::bench {

struct Summary {
  double median = 0, min = 0, first_quartile = 0, third_quartile = 0;
};

/// The summary of at least one value, with linear interpolation between values.
Summary summarise(std::vector<double> values);

}  // namespace weft::bench
