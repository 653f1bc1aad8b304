// DCT-II and DCT-III by an FFT of the same length, after Makhoul. The FFT's input is the points of even index
// in order, then those of odd index in reverse. With its result V and w = exp(-i pi / 2n), w^k V(k) + w^-k
// V(n - k) is the DCT-II. DCT-III does the inverse steps in reverse. The DSTs are the DCTs of x(0), -x(1),
// x(2), ..., with the result in reverse order.
#pragma once

#include "kernels/r2r/complex.hpp"

namespace weft::r2r {

struct Type2 {
  template <class Real, class Position, class Line>
  WEFT_ANYWHERE static Complex<Real> before(Position i, Position n, bool sine, const Line& x) {
    const bool even = 2 * i < n;
    return negated_if(sine && !even, x(even ? 2 * i : 2 * n - 1 - 2 * i));
  }

  template <class Real, class Position, class Line>
  WEFT_ANYWHERE static Complex<Real> after(Position k, Position n, bool sine, const Line& v) {
    const Position at = sine ? n - 1 - k : k;
    const Complex<Real> w = root<Real>(at, 2 * n);
    return conjugate(w) * v(at) + w * v(at == 0 ? 0 : n - at);
  }
};

struct Type3 {
  template <class Real, class Position, class Line>
  WEFT_ANYWHERE static Complex<Real> before(Position k, Position n, bool sine, const Line& x) {
    if (k == 0) return x(sine ? n - 1 : 0);
    const Complex<Real> here = x(sine ? n - 1 - k : k), mirrored = x(sine ? k - 1 : n - k);
    return root<Real>(k, 2 * n) * (here + negated_if(true, turned(mirrored)));
  }

  template <class Real, class Position, class Line>
  WEFT_ANYWHERE static Complex<Real> after(Position j, Position n, bool sine, const Line& v) {
    const bool even = j % 2 == 0;
    return negated_if(sine && !even, v(even ? j / 2 : n - 1 - j / 2));
  }
};

}  // namespace weft::r2r
