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

/// The butterflies of a stage that a thread does at a time: those with modes, or points, k and n - k. Of
/// `count` butterflies b and count - b are opposite; 0 and count / 2 are opposite to themselves. Where
/// `merged`, one thread does these two, so that a power of two of butterflies fits the threads of a block.
template <bool merged>
struct Opposites {
  WEFT_ANYWHERE Opposites(std::uint32_t b, std::uint32_t count)
      : first(b),
        second(b > 0    ? count - b
               : merged ? count / 2
                        : 0),
        has_second(merged ? b > 0 || count % 2 == 0 : b > 0 && 2 * b < count) {}
  /// Of how many a thread does one or two.
  static WEFT_ANYWHERE std::uint32_t times(std::uint32_t count) {
    return merged ? (count + 1) / 2 : count / 2 + 1;
  }

  std::uint32_t first, second;
  bool has_second;
};

/// Calls `run` with the radix, the column, its first line and opposite butterflies, for all of a stage of
/// `count` and so many columns of a block. Adjacent threads have adjacent ones. Parameters as of
/// `run_first_by_points`.
template <Role role, bool merged, class Value, class Form, AtOnce at_once, class Run>
WEFT_INLINE void for_opposites(const Form& form, int stage, std::uint32_t count, std::uint32_t number,
                               std::uint32_t columns, std::uint32_t thread, std::uint32_t threads,
                               const Line<real_of<Value>, at_once>& start, const Run& run) {
  with_radix_of<role>(form, stage, [&]<int Radix>(std::integral_constant<int, Radix> radix) {
    if constexpr (Radix <= largest_small_radix) {
      const std::uint32_t times = Opposites<merged>::times(count);
      for (std::uint32_t i = thread; i < times * columns; i += threads) {
        const std::uint32_t column = i / times;
        Line<real_of<Value>, at_once> line = start;
        go_to<lines_in<Value>>(form, number + column, line);
        run(radix, column, line, Opposites<merged>(i - column * times, count));
      }
    }
  });
}

/// Stores modes k and n - k of a row, whose modes these are if two numbers are one point. `half` of the
/// step's factor.
template <class Form, class Value, AtOnce at_once>
WEFT_INLINE void store_opposite_modes(const Form& form, const Line<real_of<Value>, at_once>& line,
                                      std::uint32_t k, Value a, Value opposite, Complex<real_of<Value>> root,
                                      real_of<Value> half) {
  const std::uint32_t n = form.points();
  const Value b = conjugate(opposite), even = half * (a + b), odd = half * turned_back(a - b) * root;
  store(line, line.to + k, form.to_apart, even + odd);
  if (2 * k != n) store(line, line.to + (n - k), form.to_apart, conjugate(even - odd));
}

/// Whether a kernel's last stage leaves its results in the tile, as it is too large for a thread to do two of
/// its butterflies: two stages and a pass take less than three stages.
template <class Form>
constexpr WEFT_ANYWHERE bool leaves_results() {
  using Known = typename Form::Radices;
  return Known::count > 0 && Known::points(Known::count - 1) > largest_small_radix;
}

/// Behind such a stage: stores the modes of so many rows of a block. Parameters as of `run_first_by_points`.
template <class Form, class Value, AtOnce at_once>
WEFT_INLINE void store_modes_of_reals(const Form& form, std::uint32_t number, std::uint32_t columns,
                                      std::uint32_t thread, std::uint32_t threads, Tile at, Value* tile,
                                      const Line<real_of<Value>, at_once>& start,
                                      const Roots<real_of<Value>>& roots) {
  const std::uint32_t count = form.points() / 2 + 1;
  const auto half = static_cast<real_of<Value>>(form.factor / 2);
  for (std::uint32_t i = thread; i < count * columns; i += threads) {
    const std::uint32_t column = i / count, k = i - column * count;
    Line<real_of<Value>, at_once> line = start;
    go_to<lines_in<Value>>(form, number + column, line);
    const Places places = places_of(form, k);
    const auto mine = at.column<true>(tile, column);
    store_opposite_modes(form, line, k, mine[places.mode], mine[places.opposite], roots.reals[k], half);
  }
}

/// The last stage of rows of real numbers, and what makes their modes of it.
template <class Form, class Value, AtOnce at_once>
WEFT_INLINE void run_last_to_modes(const Form& form, std::uint32_t number, std::uint32_t columns,
                                   std::uint32_t thread, std::uint32_t threads, Tile at, Value* tile,
                                   const Line<real_of<Value>, at_once>& start,
                                   const Roots<real_of<Value>>& roots) {
  constexpr Role role = Role::last_by_points;
  const int stage = form.stage_count() - 1;
  const std::uint32_t n = form.points(), count = form.lasts();
  const auto half = static_cast<real_of<Value>>(form.factor / 2);
  for_opposites<role, false, Value>(
      form, stage, count, number, columns, thread, threads, start,
      [&]<int Radix>(std::integral_constant<int, Radix>, std::uint32_t column, const auto& line,
                     const Opposites<false>& both) {
        const auto transformed = [&](std::uint32_t b, Value(&x)[Radix]) {
          read_points<Radix, role>(form, place_of<Radix, role>(form, stage, b), at.column<true>(tile, column),
                                   line, x);
          transform<Radix>(x);
        };
        Value x[Radix], y[Radix];
        transformed(both.first, x);
        transformed(both.second, y);
        WEFT_UNROLL for (int r = 0; r < Radix; ++r) {
          const std::uint32_t k = both.first + static_cast<std::uint32_t>(r) * count;
          if (!both.has_second && 2 * k > n) continue;  // both butterflies are one
          store_opposite_modes(form, line, k, x[r],
                               both.first == 0 ? y[(Radix - r) % Radix] : y[Radix - 1 - r], roots.reals[k],
                               half);
        }
      });
}

/// The first stage of rows of modes, and before it what makes their points. The imaginary parts of the first
/// and of the last mode of a row do not count.
template <class Form, class Value, AtOnce at_once>
WEFT_INLINE void run_first_of_modes(const Form& form, std::uint32_t number, std::uint32_t columns,
                                    std::uint32_t thread, std::uint32_t threads, Tile at, Value* tile,
                                    const Line<real_of<Value>, at_once>& start,
                                    const Roots<real_of<Value>>& roots) {
  constexpr Role role = Role::first;
  const std::uint32_t count = form.firsts();
  constexpr bool merged = Form::known;
  for_opposites<role, merged, Value>(
      form, 0, count, number, columns, thread, threads, start,
      [&]<int Radix>(std::integral_constant<int, Radix>, std::uint32_t column, const auto& line,
                     const Opposites<merged>& both) {
        const std::uint32_t n = form.points();
        const auto number_of = [&](std::uint32_t b, int r) {
          return b + static_cast<std::uint32_t>(r) * count;
        };
        // Of modes k and n - k points k and n - k. Where these are one, it is what is left.
        const auto make_points = [&](std::uint32_t k, Value& a, Value& opposite) {
          const Value b = conjugate(opposite), sum = a + b,
                      other = (a - b) * exchanged(roots.reals[k]);  // by i conj(w)
          opposite = conjugate(sum - other);
          a = sum + other;
        };
        Value x[Radix], y[Radix];
        if constexpr (merged) {
          Value end{};
          WEFT_UNROLL for (int r = 0; r < Radix; ++r) {
            read(line, line.from + number_of(both.first, r), form.from_apart, x[r]);
            read(line, line.from + number_of(both.second, r), form.from_apart, y[r]);
          }
          if (both.first == 0) {
            read(line, line.from + n, form.from_apart, end);
            x[0] = real_part(x[0]), end = real_part(end);
            make_points(0, x[0], end);
            WEFT_UNROLL for (int r = 1; 2 * r <= Radix; ++r) make_points(number_of(0, r), x[r], x[Radix - r]);
            WEFT_UNROLL for (int r = 0; 2 * r < Radix; ++r)
                make_points(number_of(both.second, r), y[r], y[Radix - 1 - r]);
          } else {
            WEFT_UNROLL for (int r = 0; r < Radix; ++r)
                make_points(number_of(both.first, r), x[r], y[Radix - 1 - r]);
          }
        } else {
          WEFT_UNROLL for (int r = 0; r < Radix; ++r) {
            read(line, line.from + number_of(both.first, r), form.from_apart, x[r]);
            read(line, line.from + (n - number_of(both.first, r)), form.from_apart, y[Radix - 1 - r]);
          }
          if (both.first == 0) x[0] = real_part(x[0]), y[Radix - 1] = real_part(y[Radix - 1]);
          WEFT_UNROLL for (int r = 0; r < Radix; ++r)
              make_points(number_of(both.first, r), x[r], y[Radix - 1 - r]);
        }
        const auto finish = [&](std::uint32_t b, Value(&points)[Radix]) {
          finish_butterfly<Radix, role>(form, 0, b, place_of<Radix, role>(form, 0, b),
                                        at.column<true>(tile, column), line, roots, points);
        };
        finish(both.first, x);
        if (both.has_second) finish(both.second, y);
      });
}

}  // namespace weft::lines
