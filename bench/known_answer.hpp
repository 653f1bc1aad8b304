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

/// Calls `f(point, position)` for every point of a box. The first point is at position `offset`.
template <class F>
void for_points(const Box& box, const Strides& strides, Index offset, const F& f) {
  if (box.empty()) return;
  Shape at = box.lo;
  for (;;) {
    Index position = offset;
    for (int a = 0; a < at.size(); ++a) position += (at[a] - box.lo[a]) * strides[a];
    f(at, static_cast<std::size_t>(position));
    int a = at.size() - 1;
    for (; a >= 0 && ++at[a] == box.hi[a]; --a) at[a] = box.lo[a];
    if (a < 0) return;
  }
}

}  // namespace weft::bench
