// An input whose transform is known without a second FFT: a sum of two products of functions of one axis
// each, random or smooth ones. Its transform is the sum of the products of their one-dimensional transforms,
// which are computed as direct sums in long double. So are transforms of cut points or modes, and what comes
// back of them.
#pragma once

#include <complex>
#include <vector>

#include "weft/plan_types.hpp"
#include "weft/problem.hpp"

namespace weft::bench {

class KnownAnswer {
 public:
  /// Of a problem without a line and without modes by columns.
  explicit KnownAnswer(const Problem& problem, bool smooth = false);

  /// What an execution in a direction is given: the value of array `item` of the batch at a point, or mode.
  std::complex<double> given(Direction direction, const Shape& at, Index item) const {
    return value(gives_points(direction) ? points_ : modes_, at, item);
  }
  /// What it leaves if nothing is scaled.
  std::complex<double> result(Direction direction, const Shape& at, Index item) const;

 private:
  using Axis = std::vector<std::complex<double>>;
  using Terms = std::vector<std::vector<Axis>>;  ///< [term][axis]

  bool gives_points(Direction direction) const;
  static std::complex<double> value(const Terms& terms, const Shape& at, Index item);

  Between between_;
  Terms points_, modes_;  ///< modes are the transform of points
  Terms back_;            ///< modes transformed backward; with points between also forward again
};

}  // namespace weft::bench
