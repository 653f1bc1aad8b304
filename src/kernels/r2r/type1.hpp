// DCT-I and DST-I: the line is extended to an even sequence of 2 (n - 1) points, or an odd one of 2 (n + 1).
// The FFT does twice the necessary work; shorter methods lose accuracy by the square root of n.
#pragma once

#include "kernels/r2r/complex.hpp"

namespace weft::r2r {

struct Type1 {
  /// Point i of the extended line; x(j) are the points of the line.
  template <class Real, class Position, class Line>
  WEFT_ANYWHERE static Complex<Real> before(Position i, Position n, bool sine, const Line& x) {
    if (!sine) return x(i < n ? i : 2 * (n - 1) - i);
    if (i == 0 || i == n + 1) return {0, 0};
    return i <= n ? x(i - 1) : negated_if(true, x(2 * n + 1 - i));
  }

  /// Point k of the result; v(k) are the points of the FFT.
  template <class Real, class Position, class Line>
  WEFT_ANYWHERE static Complex<Real> after(Position k, Position, bool sine, const Line& v) {
    return sine ? turned(v(k + 1)) : v(k);
  }
};

}  // namespace weft::r2r
