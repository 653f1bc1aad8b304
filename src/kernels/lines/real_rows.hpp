// Rows of real numbers, two adjacent ones of which are transformed as one complex number (ADR 0079), for host
// and devices. Of 2 n real numbers z[j] = x[2 j] + i x[2 j + 1] has n points and modes Z[k]. With
// w = exp(-pi i k / n) the modes of x are
//   X[k] = E + w O and X[n - k] = conj(E - w O), where 2 E = Z[k] + conj(Z[n - k]) and 2 i O = Z[k] -
//   conj(Z[n - k]),
// and backward, without a factor, Z[k] = X[k] + conj(X[n - k]) + i conj(w) (X[k] - conj(X[n - k])), of which
// Z[n - k] is the conjugate with the other sign.
#pragma once

#include <cstdint>

#include "kernels/lines/work.hpp"

namespace weft::lines {

template <class Real>
WEFT_ANYWHERE Pair<Real> conjugate(Pair<Real> a) {
  return {r2r::conjugate(a.first), r2r::conjugate(a.second)};
}
using r2r::conjugate;

/// The real part alone.
template <class Real>
WEFT_ANYWHERE Complex<Real> real_part(Complex<Real> a) {
  return {a.re, 0};
}
template <class Real>
WEFT_ANYWHERE Pair<Real> real_part(Pair<Real> a) {
  return {real_part(a.first), real_part(a.second)};
}

/// Behind the last stage, which has left its results in the tile: stores the modes of so many rows of a
/// block. Adjacent threads store adjacent modes.
template <class Form, class Value, AtOnce at_once>
WEFT_INLINE void store_modes_of_reals(const Form& form, std::uint32_t number, std::uint32_t columns,
                                      std::uint32_t thread, std::uint32_t threads, Tile at, Value* tile,
                                      const Line<real_of<Value>, at_once>& start,
                                      const Roots<real_of<Value>>& roots) {
  const std::uint32_t n = form.points(), count = n / 2 + 1;
  const auto half = static_cast<real_of<Value>>(form.factor / 2);
  for (std::uint32_t i = thread; i < count * columns; i += threads) {
    const std::uint32_t column = i / count, k = i - column * count;
    Line<real_of<Value>, at_once> line = start;
    go_to<lines_in<Value>>(form, number + column, line);
    const Places places = places_of(form, k);
    const auto mine = at.column<true>(tile, column);
    const Value a = mine[places.mode], b = conjugate(mine[places.opposite]);
    const Value even = half * (a + b), odd = half * turned_back(a - b) * roots.reals[k];
    store(line, line.to + k, form.to_apart, even + odd);
    if (2 * k < n) store(line, line.to + (n - k), form.to_apart, conjugate(even - odd));
  }
}

/// Before the first stage: makes the points of so many columns of a block, whose rows of modes it reads. The
/// imaginary parts of the first and of the last mode of a row do not count.
template <class Form, class Value, AtOnce at_once>
WEFT_INLINE void read_modes_of_reals(const Form& form, std::uint32_t number, std::uint32_t columns,
                                     std::uint32_t thread, std::uint32_t threads, Tile at, Value* tile,
                                     const Line<real_of<Value>, at_once>& start,
                                     const Roots<real_of<Value>>& roots) {
  const std::uint32_t n = form.points(), count = n / 2 + 1;
  for (std::uint32_t i = thread; i < count * columns; i += threads) {
    const std::uint32_t column = i / count, k = i - column * count;
    Line<real_of<Value>, at_once> line = start;
    go_to<lines_in<Value>>(form, number + column, line);
    Value a, b;
    read(line, line.from + k, form.from_apart, a);
    read(line, line.from + (n - k), form.from_apart, b);
    b = conjugate(b);
    if (k == 0) a = real_part(a), b = real_part(b);
    const Value sum = a + b, other = (a - b) * exchanged(roots.reals[k]);  // by i conj(w)
    const auto mine = at.column<true>(tile, column);
    mine[k] = exchanged(sum + other);  // a transform backward
    if (k > 0 && 2 * k < n) mine[n - k] = exchanged(conjugate(sum - other));
  }
}

}  // namespace weft::lines
