// Discrete Fourier transforms of a few numbers in registers, forward, unscaled, in natural order. All lengths
// are known to the compiler, and so are their roots.
#pragma once

#include <numbers>

#include "kernels/lines/values.hpp"

namespace weft::lines {

/// cos(x) and sin(x) for 0 <= x <= pi/4, by their series.
constexpr WEFT_ANYWHERE double cosine_near_0(double x) {
  double term = 1, sum = 1;
  for (int k = 1; k < 12; ++k) sum += term *= -x * x / ((2 * k - 1) * (2 * k));
  return sum;
}
constexpr WEFT_ANYWHERE double sine_near_0(double x) {
  double term = x, sum = x;
  for (int k = 1; k < 12; ++k) sum += term *= -x * x / ((2 * k) * (2 * k + 1));
  return sum;
}

/// cos(2 pi k / n) and sin(2 pi k / n), from the first octant.
constexpr WEFT_ANYWHERE double cosine(int k, int n) {
  k %= n;
  if (2 * k > n) k = n - k;
  const bool left = 4 * k > n;
  // 2 pi k / n is now 2 pi m / 2n, in the first quadrant.
  const int m = left ? n - 2 * k : 2 * k;
  const double value = 4 * m > n ? sine_near_0(std::numbers::pi * (n - 2 * m) / (2 * n))
                                 : cosine_near_0(std::numbers::pi * m / n);
  return left ? -value : value;
}
constexpr WEFT_ANYWHERE double sine(int k, int n) {
  return cosine(4 * k + 3 * n, 4 * n);
}

/// a exp(-2 pi i K / N)
template <int K, int N, class Value>
WEFT_INLINE Value turned_by(Value a) {
  using Real = real_of<Value>;
  constexpr int k = K % N;
  if constexpr (k == 0) {
    return a;
  } else if constexpr (4 * k == N) {
    return turned_back(a);
  } else if constexpr (2 * k == N) {
    return Real(-1) * a;
  } else if constexpr (4 * k == 3 * N) {
    return Real(-1) * turned_back(a);
  } else if constexpr (8 * k == N) {
    return Real(std::numbers::sqrt2 / 2) * (a + turned_back(a));
  } else if constexpr (8 * k == 3 * N) {
    return Real(std::numbers::sqrt2 / 2) * (turned_back(a) - a);
  } else {
    constexpr Real re = Real(cosine(k, N)), im = Real(-sine(k, N));
    return a * Complex<Real>{re, im};
  }
}

template <int N, class Value>
WEFT_INLINE void transform(Value (&x)[N]);

/// Odd prime N: with the sums and differences of x(j) and x(N - j).
template <int N, class Value>
WEFT_INLINE void transform_prime(Value (&x)[N]) {
  using Real = real_of<Value>;
  constexpr int half = (N - 1) / 2;
  struct Roots {
    Real re[N], im[N];
    constexpr WEFT_ANYWHERE Roots() : re(), im() {
      for (int k = 0; k < N; ++k) {
        re[k] = Real(cosine(k, N));
        im[k] = Real(sine(k, N));
      }
    }
  };
  constexpr Roots roots;
  const Value first = x[0];
  Value sum[half], difference[half], all = first;
  WEFT_UNROLL for (int j = 0; j < half; ++j) {
    sum[j] = x[j + 1] + x[N - 1 - j];
    difference[j] = x[j + 1] - x[N - 1 - j];
    all = all + sum[j];
  }
  x[0] = all;
  WEFT_UNROLL for (int k = 1; k <= half; ++k) {
    Value even = first + roots.re[k] * sum[0], odd = roots.im[k] * difference[0];
    WEFT_UNROLL for (int j = 1; j < half; ++j) {
      even = even + roots.re[(j + 1) * k % N] * sum[j];
      odd = odd + roots.im[(j + 1) * k % N] * difference[j];
    }
    const Value rest = turned_back(odd);
    x[k] = even + rest;
    x[N - k] = even - rest;
  }
}

/// The first of the two factors that a composite N is divided into.
constexpr WEFT_ANYWHERE int first_factor(int n) {
  if (n % 4 == 0 && n > 4) return 4;
  return n % 2 == 0 ? 2 : n % 3 == 0 ? 3 : n % 5 == 0 ? 5 : 7;
}

/// Column J of P rows of Q numbers: its transform, multiplied by exp(-2 pi i I J / PQ) in row I.
template <int P, int Q, int J, int I, class Value>
WEFT_INLINE void turn_column(Value (&y)[P]) {
  if constexpr (I < P) {
    y[I] = turned_by<I * J, P * Q>(y[I]);
    turn_column<P, Q, J, I + 1>(y);
  }
}
template <int P, int Q, int J, class Value>
WEFT_INLINE void transform_columns(Value (&x)[P * Q]) {
  if constexpr (J < Q) {
    Value y[P];
    WEFT_UNROLL for (int i = 0; i < P; ++i) y[i] = x[i * Q + J];
    transform<P>(y);
    turn_column<P, Q, J, 0>(y);
    WEFT_UNROLL for (int i = 0; i < P; ++i) x[i * Q + J] = y[i];
    transform_columns<P, Q, J + 1>(x);
  }
}

template <int N, class Value>
WEFT_INLINE void transform(Value (&x)[N]) {
  if constexpr (N == 2) {
    const Value a = x[0], b = x[1];
    x[0] = a + b;
    x[1] = a - b;
  } else if constexpr (N == 4) {
    const Value a = x[0] + x[2], b = x[0] - x[2], c = x[1] + x[3], d = turned_back(x[1] - x[3]);
    x[0] = a + c;
    x[1] = b + d;
    x[2] = a - c;
    x[3] = b - d;
  } else if constexpr (N == 3 || N == 5 || N == 7) {
    transform_prime<N>(x);
  } else {
    constexpr int rows = first_factor(N), columns = N / rows;
    transform_columns<rows, columns, 0>(x);
    Value result[N];
    WEFT_UNROLL for (int i = 0; i < rows; ++i) {
      Value y[columns];
      WEFT_UNROLL for (int j = 0; j < columns; ++j) y[j] = x[i * columns + j];
      transform<columns>(y);
      WEFT_UNROLL for (int j = 0; j < columns; ++j) result[i + rows * j] = y[j];
    }
    WEFT_UNROLL for (int i = 0; i < N; ++i) x[i] = result[i];
  }
}

}  // namespace weft::lines
