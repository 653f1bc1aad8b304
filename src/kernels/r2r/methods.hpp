// The formulas of the methods of DCTs and DSTs, before and after the complex FFT of a line, for host and
// devices.
#pragma once

#include "kernels/r2r/complex.hpp"

namespace weft::r2r {

/// DCT-I and DST-I: the line is extended to an even sequence of 2 (n - 1) points, or an odd one of 2 (n + 1).
/// The FFT does twice the necessary work; shorter methods lose accuracy by the square root of n.
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

// DCT-II and DCT-III by an FFT of the same length, after Makhoul. The FFT's input is the points of even index
// in order, then those of odd index in reverse. With its result V and w = exp(-i pi / 2n), w^k V(k) + w^-k
// V(n - k) is the DCT-II. DCT-III does the inverse steps in reverse. The DSTs are the DCTs of x(0), -x(1),
// x(2), ..., with the result in reverse order.
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

// DCT-IV and DST-IV, by one method for even and another for odd n. The DST is the DCT of the reversed line,
// with every other point of the result negated.

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
