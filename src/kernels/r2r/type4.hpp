// DCT-IV and DST-IV, by one method for even and another for odd n. The DST is the DCT of the reversed line,
// with every other point of the result negated.
#pragma once

#include "kernels/r2r/complex.hpp"

namespace weft::r2r {

/// Even n, by an FFT of n / 2 points: point m is x(2m) + i x(n - 1 - 2m), and the conjugated result is
/// arranged likewise. Before and after the FFT, points are multiplied by exp(-i pi (8m + 1) / 8n).
struct Type4Even {
  template <class Real, class Position, class Line>
  WEFT_ANYWHERE static Complex<Real> before(Position m, Position n, bool sine, const Line& x) {
    const Complex<Real> point = x(m);
    const Complex<Real> w = conjugate(root<Real>(8 * m + 1, 8 * n));
    return w * (sine ? Complex<Real>{point.im, point.re} : point);
  }

  template <class Real, class Position, class Line>
  WEFT_ANYWHERE static Complex<Real> after(Position m, Position n, bool sine, const Line& v) {
    const Complex<Real> point = Real(2) * (conjugate(root<Real>(8 * m + 1, 8 * n)) * v(m));
    return sine ? point : conjugate(point);
  }
};

/// Odd n, by an FFT of n points. Extend x(j) = f(2j + 1) by f(-u) = f(u) and f(u + 4n) = -f(u). Then every j
/// has exactly one u that is n modulo 8. With u = n + 8p for the input and v = n + 8q for the result, cos(2
/// pi u v / 8n) = cos(2 pi (n / 8 + 8 p q / n)): an FFT over p, of which the result needs point 8q.
struct Type4Odd {
  template <class Real, class Position, class Line>
  WEFT_ANYWHERE static Complex<Real> before(Position p, Position n, bool sine, const Line& x) {
    Position u = n + 8 * p;
    bool negative = false;
    if (u >= 8 * n) u -= 8 * n;
    if (u >= 4 * n) {
      u -= 4 * n;
      negative = true;
    }
    if (u > 2 * n) {
      u = 4 * n - u;
      negative = !negative;
    }
    const Position j = u / 2;
    return negated_if(negative, x(sine ? n - 1 - j : j));
  }

  template <class Real, class Position, class Line>
  WEFT_ANYWHERE static Complex<Real> after(Position k, Position n, bool sine, const Line& v) {
    const Position u = 2 * k + 1;
    // One of u, 4n + u, -u and 4n - u is n modulo 8. It gives 8q modulo n.
    const Position apart = (u + 8 * n - n) % 8, opposite = (6 * n) % 8;
    const bool mirrored = apart % 4 != 0, negative = apart != 0 && apart != opposite;
    const Position r = u < n ? u : u - n, other = r == 0 ? 0 : n - r;
    // exp(-i pi n / 4)
    constexpr Real half = Real(0.70710678118654752440);
    const Position octant = n % 8;
    const Complex<Real> w{octant == 1 || octant == 7 ? half : -half, octant < 4 ? -half : half};
    const Complex<Real> sum = w * v(mirrored ? other : r) + conjugate(w) * v(mirrored ? r : other);
    return negated_if(negative != (sine && k % 2 == 1), sum);
  }
};

}  // namespace weft::r2r
