// Complex numbers for code that runs on host and devices, with the operations that local FFTs need.
#pragma once

#include <cmath>
#include <numbers>
#include <type_traits>

#include "base/anywhere.hpp"

namespace weft::r2r {

template <class Real>
struct alignas(2 * sizeof(Real)) Complex {
  Real re, im;

  WEFT_ANYWHERE friend Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
  WEFT_ANYWHERE friend Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
  WEFT_ANYWHERE friend Complex operator*(Complex a, Complex b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  WEFT_ANYWHERE friend Complex operator*(Real f, Complex a) { return {f * a.re, f * a.im}; }
};

template <class Real>
WEFT_ANYWHERE Complex<Real> conjugate(Complex<Real> a) {
  return {a.re, -a.im};
}

/// -a if `negative`, else a.
template <class Real>
WEFT_ANYWHERE Complex<Real> negated_if(bool negative, Complex<Real> a) {
  return negative ? Complex<Real>{-a.re, -a.im} : a;
}

/// i a
template <class Real>
WEFT_ANYWHERE Complex<Real> turned(Complex<Real> a) {
  return {-a.im, a.re};
}

/// exp(i pi numerator / denominator). Its only error beyond that of a table is one rounding of the fraction,
/// in double.
template <class Real, class Position>
WEFT_ANYWHERE Complex<Real> root(Position numerator, Position denominator) {
  const double half_turns = static_cast<double>(numerator) / static_cast<double>(denominator);
#if defined(WEFT_ON_DEVICE)
  Complex<Real> r;
  if constexpr (std::is_same_v<Real, float>) {
    sincospif(static_cast<float>(half_turns), &r.im, &r.re);
  } else {
    sincospi(half_turns, &r.im, &r.re);
  }
  return r;
#else
  const double angle = std::numbers::pi * half_turns;
  return {static_cast<Real>(std::cos(angle)), static_cast<Real>(std::sin(angle))};
#endif
}

}  // namespace weft::r2r
