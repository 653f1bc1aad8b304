// The numbers that a thread computes with: a point of one line, or those of two adjacent lines of single
// precision, so that threads always load and store 16 bytes at once.
#pragma once

#include "base/anywhere.hpp"
#include "kernels/r2r/complex.hpp"

namespace weft::lines {

using r2r::Complex;

template <class Real>
struct alignas(4 * sizeof(Real)) Pair {
  Complex<Real> first, second;

  WEFT_ANYWHERE friend Pair operator+(Pair a, Pair b) { return {a.first + b.first, a.second + b.second}; }
  WEFT_ANYWHERE friend Pair operator-(Pair a, Pair b) { return {a.first - b.first, a.second - b.second}; }
  WEFT_ANYWHERE friend Pair operator*(Pair a, Complex<Real> w) { return {a.first * w, a.second * w}; }
  WEFT_ANYWHERE friend Pair operator*(Real f, Pair a) { return {f * a.first, f * a.second}; }
};

/// -i a
template <class Real>
WEFT_ANYWHERE Complex<Real> turned_back(Complex<Real> a) {
  return {a.im, -a.re};
}
template <class Real>
WEFT_ANYWHERE Pair<Real> turned_back(Pair<Real> a) {
  return {turned_back(a.first), turned_back(a.second)};
}

/// i conj(a)
template <class Real>
WEFT_ANYWHERE Complex<Real> exchanged(Complex<Real> a) {
  return {a.im, a.re};
}

using r2r::conjugate;
template <class Real>
WEFT_ANYWHERE Pair<Real> conjugate(Pair<Real> a) {
  return {conjugate(a.first), conjugate(a.second)};
}

template <class Value>
struct RealOf;
template <class Real>
struct RealOf<Complex<Real>> {
  using type = Real;
};
template <class Real>
struct RealOf<Pair<Real>> {
  using type = Real;
};
template <class Value>
using real_of = typename RealOf<Value>::type;

/// How many lines there are in a value.
template <class Value>
inline constexpr int lines_in = 1;
template <class Real>
inline constexpr int lines_in<Pair<Real>> = 2;

}  // namespace weft::lines
