// The computation of one complex number of a step of a DCT or DST, on host or device: where it lies, and how
// the formulas read the other numbers of its line.
#pragma once

#include <algorithm>
#include <array>

#include "kernels/r2r/methods.hpp"
#include "kernels/r2r/step.hpp"

namespace weft::r2r {

/// Calls `f` with the formulas of a method.
template <class F>
auto with_method(R2rMethod method, const F& f) {
  switch (method) {
    case R2rMethod::type1:
      return f(Type1{});
    case R2rMethod::type2:
      return f(Type2{});
    case R2rMethod::type3:
      return f(Type3{});
    case R2rMethod::type4_even:
      return f(Type4Even{});
    case R2rMethod::type4_odd:
      break;
  }
  return f(Type4Odd{});
}

/// The number of complex numbers that a step writes.
inline Index count_of(const R2rStep& step) {
  Index total = 1;
  for (int i = 0; i < step.count; ++i) total *= step.loops[static_cast<std::size_t>(i)].n;
  return total;
}

/// An upper bound of all positions that a step computes.
inline Index bound_of(const R2rStep& step) {
  Index array = step.n * std::max(step.first_step, Index{1}) + step.second, aside = 1;
  for (int i = 0; i < step.count; ++i) {
    const R2rLoop& loop = step.loops[static_cast<std::size_t>(i)];
    array += loop.n * loop.array;
    aside += loop.n * loop.aside;
  }
  // Extended lines are longer than those of the array, and methods compute with up to 16 times the length.
  return std::max({count_of(step), array, aside + 2 * step.n, 16 * step.n});
}

/// A step in the form that kernels need. Positions and strides are unsigned; a negative stride works by
/// wrapping around. `Divisor` divides by a number known in advance.
template <class Position, class Divisor>
struct View {
  static constexpr int most_loops = R2rStep::most_loops;

  explicit View(const R2rStep& step)
      : count(step.count),
        along(step.along),
        odd(step.odd),
        n(static_cast<Position>(step.n)),
        first_step(static_cast<Position>(step.first_step)),
        second(static_cast<Position>(step.second)),
        second_step(static_cast<Position>(step.second_step)),
        aside_step(static_cast<Position>(step.loops[static_cast<std::size_t>(step.along)].aside)),
        total(static_cast<Position>(count_of(step))),
        sine(step.sine) {
    for (int i = 0; i < count; ++i) {
      const R2rLoop& loop = step.loops[static_cast<std::size_t>(i)];
      lengths[i] = Divisor(static_cast<Position>(loop.n));
      array[i] = static_cast<Position>(loop.array);
      aside[i] = static_cast<Position>(loop.aside);
    }
  }

  int count, along, odd;
  Position n, first_step, second, second_step, aside_step, total;
  bool sine;
  Divisor lengths[most_loops];
  Position array[most_loops]{}, aside[most_loops]{};
};

/// The place of one number of a step: the starts of its lines, and its index in them.
template <class Position>
struct Place {
  Position along = 0, array = 0, aside = 0;
  bool unpaired = false;  ///< the complex line holds only one line of the array
};

template <class Position, class Divisor>
WEFT_ANYWHERE Place<Position> place_of(const View<Position, Divisor>& v, Position position) {
  Place<Position> place;
  for (int i = 0; i < v.count; ++i) {
    const Position n = v.lengths[i].divisor();
    const Position rest = i + 1 == v.count ? 0 : v.lengths[i].divide(position);
    const Position at = position - rest * n;
    position = rest;
    if (i == v.along) {
      place.along = at;
      continue;
    }
    place.array += at * v.array[i];
    place.aside += at * v.aside[i];
    place.unpaired = place.unpaired || (i == v.odd && at + 1 == n);
  }
  return place;
}

/// Computes number `position` of a step from the array to work memory.
template <class Method, class Real, class Position, class Divisor>
WEFT_ANYWHERE void to_aside(const View<Position, Divisor>& v, Position position, Complex<Real>* aside,
                            const Real* array, Real factor) {
  const Place<Position> place = place_of(v, position);
  const Position first = place.array, second = first + v.second;
  const auto line = [&](Position j) {
    const Real im = place.unpaired ? Real(0) : array[second + j * v.second_step];
    return Complex<Real>{array[first + j * v.first_step], im};
  };
  aside[place.aside + place.along * v.aside_step] =
      factor * Method::template before<Real>(place.along, v.n, v.sine, line);
}

/// Computes number `position` of a step from work memory to the array.
template <class Method, class Real, class Position, class Divisor>
WEFT_ANYWHERE void to_array(const View<Position, Divisor>& v, Position position, Real* array,
                            const Complex<Real>* aside, Real factor) {
  const Place<Position> place = place_of(v, position);
  const auto line = [&](Position k) { return aside[place.aside + k * v.aside_step]; };
  const Complex<Real> result = factor * Method::template after<Real>(place.along, v.n, v.sine, line);
  array[place.array + place.along * v.first_step] = result.re;
  if (!place.unpaired) array[place.array + v.second + place.along * v.second_step] = result.im;
}

}  // namespace weft::r2r
