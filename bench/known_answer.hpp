// An input whose transform is known without a second FFT: a sum of two products of functions of one axis
// each, random or smooth ones. Its transform is the sum of the products of their one-dimensional transforms,
// which are computed as direct sums in long double.
#pragma once

#include <complex>
#include <vector>

#include "weft/plan_types.hpp"
#include "weft/problem.hpp"

namespace weft::bench {

class KnownAnswer {
 public:
  explicit KnownAnswer(const Problem& problem, bool smooth = false);

  /// The value of array `item` of the batch at a point of the input, and of the unscaled transform.
  std::complex<double> input(const Shape& at, Index item) const { return value(input_, at, item); }
  std::complex<double> spectrum(const Shape& at, Index item) const { return value(spectrum_, at, item); }

 private:
  using Axis = std::vector<std::complex<double>>;
  using Terms = std::vector<std::vector<Axis>>;  ///< [term][axis]

  static std::complex<double> value(const Terms& terms, const Shape& at, Index item);

  Terms input_, spectrum_;
};

}  // namespace weft::bench
