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

/// The real part alone.
template <class Real>
WEFT_ANYWHERE Complex<Real> real_part(Complex<Real> a) {
  return {a.re, 0};
}
template <class Real>
WEFT_ANYWHERE Pair<Real> real_part(Pair<Real> a) {
  return {real_part(a.first), real_part(a.second)};
}

/// Calls `run` with the column, its first line and k for all modes k up to n / 2 of so many columns of a
/// block. Adjacent threads have adjacent modes. Parameters as of `run_first_by_points`.
template <class Value, class Form, AtOnce at_once, class Run>
WEFT_INLINE void for_half_of_modes(const Form& form, std::uint32_t number, std::uint32_t columns,
                                   std::uint32_t thread, std::uint32_t threads,
                                   const Line<real_of<Value>, at_once>& start, const Run& run) {
  const std::uint32_t count = form.points() / 2 + 1;
  for (std::uint32_t i = thread; i < count * columns; i += threads) {
    const std::uint32_t column = i / count;
    Line<real_of<Value>, at_once> line = start;
    go_to<lines_in<Value>>(form, number + column, line);
    run(column, line, i - column * count);
  }
}

/// Behind the last stage, which has left its results in the tile: stores the modes of so many rows of a
/// block.
template <class Form, class Value, AtOnce at_once>
WEFT_INLINE void store_modes_of_reals(const Form& form, std::uint32_t number, std::uint32_t columns,
                                      std::uint32_t thread, std::uint32_t threads, Tile at, Value* tile,
                                      const Line<real_of<Value>, at_once>& start,
                                      const Roots<real_of<Value>>& roots) {
  const std::uint32_t n = form.points();
  const auto half = static_cast<real_of<Value>>(form.factor / 2);
  for_half_of_modes<Value>(form, number, columns, thread, threads, start,
                           [&](std::uint32_t column, const auto& line, std::uint32_t k) {
                             const Places places = places_of(form, k);
                             const auto mine = at.column<true>(tile, column);
                             const Value a = mine[places.mode], b = conjugate(mine[places.opposite]);
                             const Value even = half * (a + b),
                                         odd = half * turned_back(a - b) * roots.reals[k];
                             store(line, line.to + k, form.to_apart, even + odd);
                             if (2 * k < n)
                               store(line, line.to + (n - k), form.to_apart, conjugate(even - odd));
                           });
}

/// Before the first stage: makes the points of so many columns of a block, whose rows of modes it reads. The
/// imaginary parts of the first and of the last mode of a row do not count.
template <class Form, class Value, AtOnce at_once>
WEFT_INLINE void read_modes_of_reals(const Form& form, std::uint32_t number, std::uint32_t columns,
                                     std::uint32_t thread, std::uint32_t threads, Tile at, Value* tile,
                                     const Line<real_of<Value>, at_once>& start,
                                     const Roots<real_of<Value>>& roots) {
  const std::uint32_t n = form.points();
  for_half_of_modes<Value>(form, number, columns, thread, threads, start,
                           [&](std::uint32_t column, const auto& line, std::uint32_t k) {
                             Value a, b;
                             read(line, line.from + k, form.from_apart, a);
                             read(line, line.from + (n - k), form.from_apart, b);
                             b = conjugate(b);
                             if (k == 0) a = real_part(a), b = real_part(b);
                             const Value sum = a + b,
                                         other = (a - b) * exchanged(roots.reals[k]);  // by i conj(w)
                             const auto mine = at.column<true>(tile, column);
                             mine[k] = exchanged(sum + other);  // a transform backward
                             if (k > 0 && 2 * k < n) mine[n - k] = exchanged(conjugate(sum - other));
                           });
}

}  // namespace weft::lines
