// What is computed in a step of line FFTs, for host and devices.
//
// The lines of a block of threads, which are adjacent, are its columns. Their points are held in a tile of
// memory that the block shares: point by point, of each the number of every column. With decimation in
// frequency a butterfly of radix R takes R points of a column, and leaves its results in their places:
// nothing but the order of the stages has to be kept. The first stage reads its points where they lie, and
// the last one stores what it has where it belongs, so that no points are moved for the sake of their order.
// With points in a tile,
// - below a stage with radix R are L points: the product of the later radices. Its butterflies are those of
//   points j, j + L, ... of each run of R L points, and result k is multiplied by exp(-2 pi i j k / R L);
// - position k0 (n / R0) + k1 (n / R0 R1) + ... at the end has mode k0 + k1 R0 + k2 R0 R1 + ...
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/lines/butterflies.hpp"
#include "kernels/lines/form.hpp"

namespace weft::lines {

/// What mode `k` is multiplied by, at this index along the loop of the factors.
template <class Form, class Real>
WEFT_INLINE Complex<Real> turn_root(const Form& form, const Complex<Real>* turns, std::uint32_t k,
                                    std::uint32_t index) {
  const std::uint32_t exponent = k * index, low = 1U << form.turn_bits;
  const Complex<Real> root = turns[low + (exponent >> form.turn_bits)] * turns[exponent & (low - 1)];
  return form.backward ? conjugate(root) : root;
}
template <class Form, class Real, AtOnce at_once>
WEFT_INLINE Complex<Real> turned(const Form& form, const Line<Real, at_once>& line,
                                 const Complex<Real>* turns, std::uint32_t k, Complex<Real> value) {
  return value * turn_root(form, turns, k, line.turned);
}
template <class Form, class Real, AtOnce at_once>
WEFT_INLINE Pair<Real> turned(const Form& form, const Line<Real, at_once>& line, const Complex<Real>* turns,
                              std::uint32_t k, Pair<Real> value) {
  const Complex<Real> root = turn_root(form, turns, k, line.turned);
  return {value.first * root,
          value.second *
              (form.turn_apart == 0 ? root : turn_root(form, turns, k, line.turned + form.turn_apart))};
}

enum class Role {
  first,
  first_of_reals,  ///< the same of lines of real numbers
  middle,
  last,
  last_turned,     ///< the last stage, which multiplies by the step's factors
  last_by_points,  ///< the last stage where the modes of a line are adjacent, not lines
  last_kept,       ///< the last stage, which leaves its results in their places
};
constexpr WEFT_ANYWHERE bool is_last(Role role) {
  return role == Role::last || role == Role::last_turned || role == Role::last_by_points ||
         role == Role::last_kept;
}

/// Tables of roots in memory of the device: `LineStep::roots`, `LineTurn::roots` and `LineStep::real_roots`.
template <class Real>
struct Roots {
  Roots(const LineStep& step)
      : line(reinterpret_cast<const Complex<Real>*>(step.roots)),
        turns(reinterpret_cast<const Complex<Real>*>(step.turn.roots)),
        reals(reinterpret_cast<const Complex<Real>*>(step.real_roots)) {}
  const Complex<Real>*line, *turns, *reals;
};

/// What a block has of its lines: all points, or, of a cluster of as many blocks as the first radix, the
/// results of the first stage with its number. These are lines by themselves from then on.
struct Whole {
  static constexpr bool is_part = false;
  static constexpr std::uint32_t parts = 1, number = 0;
};
struct Part {
  static constexpr bool is_part = true;
  std::uint32_t parts, number;
};

/// The butterfly of the last stage whose first result is this mode forward, among those that a block has.
template <class Share, class Form>
WEFT_INLINE std::uint32_t last_butterfly_of(const Form& form, std::uint32_t mode) {
  std::uint32_t b = 0;
  if constexpr (Share::is_part) mode = form.over_radix(0, mode);
  for (int i = Share::is_part ? 1 : 0; i + 1 < form.stage_count(); ++i) {
    const std::uint32_t rest = form.over_radix(i, mode);
    b += (mode - rest * form.radix(i)) * form.digit(i);
    mode = rest;
  }
  return b;
}

constexpr WEFT_ANYWHERE bool is_first(Role role) {
  return role == Role::first || role == Role::first_of_reals;
}

/// Where the points of a butterfly are: `point`, and all that are multiples of `below` behind it.
struct Place {
  std::uint32_t point, below, j;
};
template <int Radix, Role role, class Share = Whole, class Form>
WEFT_INLINE Place place_of(const Form& form, int stage, std::uint32_t b) {
  constexpr bool last = is_last(role);
  const std::uint32_t below = last ? 1 : form.below(stage);
  const std::uint32_t run = is_first(role)            ? 0
                            : role == Role::last_kept ? b
                            : last                    ? last_butterfly_of<Share>(form, b)
                                                      : form.over_below(stage, b);
  const std::uint32_t j = last ? 0 : b - run * below;
  return {run * Radix * below + j, below, j};
}

/// Reads the points of a butterfly.
template <int Radix, Role role, class Form, class Value, bool Spread, AtOnce at_once>
WEFT_INLINE void read_points(const Form& form, Place place, Column<Value, Spread> column,
                             const Line<real_of<Value>, at_once>& line, Value (&x)[Radix]) {
  const auto [point, below, j] = place;
  if constexpr (role == Role::first) {
    const auto* source = line.from + point * form.from_stride;
    const std::int64_t step = below * form.from_stride;
    WEFT_UNROLL for (int k = 0; k < Radix; ++k) {
      read(line, source, form.from_apart, x[k]);
      source += step;
    }
  } else if constexpr (role == Role::first_of_reals) {
    const auto* source = reinterpret_cast<const real_of<Value>*>(line.from) + point;
    WEFT_UNROLL for (int k = 0; k < Radix; ++k) read_reals(form, line, source + k * below, x[k]);
  } else {
    WEFT_UNROLL for (int k = 0; k < Radix; ++k) x[k] = column[point + k * below];
  }
}

/// Multiplies result k by the k-th power of a root. To read a root for each result takes longer than to
/// multiply: what is read from the first-level cache goes the way of what is read from the tile.
template <int Radix, class Value>
WEFT_INLINE void turn_results(Complex<real_of<Value>> root, Value (&x)[Radix]) {
  Complex<real_of<Value>> powers[Radix];
  powers[1] = root;
  WEFT_UNROLL for (int k = 2; k < Radix; ++k) powers[k] = powers[k / 2] * powers[k - k / 2];
  WEFT_UNROLL for (int k = 1; k < Radix; ++k) x[k] = x[k] * powers[k];
}

/// Stores the results of a butterfly of the last stage, of which this is the least mode. Backward, mode k is
/// what is mode n - k forward: results are in falling order, but for mode 0, which is the first result of the
/// butterfly that has it. Where no modes go elsewhere, no store waits for the choice of a place.
template <int Radix, Role role, class Form, class Value, AtOnce at_once>
WEFT_INLINE void store_results(const Form& form, std::uint32_t least,
                               const Line<real_of<Value>, at_once>& line, const Roots<real_of<Value>>& roots,
                               Value (&x)[Radix]) {
  const auto factor = static_cast<real_of<Value>>(form.factor),
             diverted_factor = static_cast<real_of<Value>>(form.diverted_factor);
  if (form.backward && least == 0) {
    const Value zero = x[0];
    WEFT_UNROLL for (int k = 1; k < Radix; ++k) x[k - 1] = x[k];
    x[Radix - 1] = zero;
  }
  const std::uint32_t lasts = form.lasts(), unit = form.backward ? 0 - lasts : lasts;
  std::uint32_t mode = form.backward ? least + (Radix - 1) * lasts : least;
  if constexpr (role == Role::last_turned)
    WEFT_UNROLL for (int k = 0; k < Radix; ++k) x[k] =
        turned(form, line, roots.turns, mode + static_cast<std::uint32_t>(k) * unit, x[k]);
  auto* target = line.to + mode * form.to_stride;
  const std::int64_t step = static_cast<std::int32_t>(unit) * form.to_stride;
  constexpr bool by_points = role == Role::last_by_points;
  if (form.diverted_count == 0) {
    WEFT_UNROLL for (int k = 0; k < Radix; ++k) {
      store(line, target, by_points ? form.to_apart : 1, factor * x[k]);
      target += step;
    }
    return;
  }
  // Modes before the first one that is diverted count as very large numbers.
  mode -= form.diverted_first;
  auto* diverted = line.diverted + form.diverted_at(static_cast<std::int32_t>(mode));
  const std::int64_t diverted_step = form.backward ? -form.diverted_step : form.diverted_step;
  WEFT_UNROLL for (int k = 0; k < Radix; ++k) {
    const bool diverts = mode < form.diverted_count;
    const std::int64_t apart = !by_points ? 1 : diverts ? form.diverted_apart : form.to_apart;
    store(line, diverts ? diverted + form.shift_of(mode) : target, apart,
          (diverts ? diverted_factor : factor) * x[k]);
    target += step;
    diverted += diverted_step;
    mode += unit;
  }
}

/// Transforms the points of a butterfly, which are at `place`, and leaves or stores its results. `b`: of a
/// last stage that stores the least mode.
template <int Radix, Role role, class Share = Whole, class Form, class Value, bool Spread, AtOnce at_once>
WEFT_INLINE void finish_butterfly(const Form& form, int stage, std::uint32_t b, Place place,
                                  Column<Value, Spread> column, const Line<real_of<Value>, at_once>& line,
                                  const Roots<real_of<Value>>& roots, Value (&x)[Radix]) {
  const auto [point, below, j] = place;
  transform<Radix>(x);
  if constexpr (role == Role::last_kept) {
    WEFT_UNROLL for (int k = 0; k < Radix; ++k) column[point + k] = x[k];
  } else if constexpr (is_last(role)) {
    store_results<Radix, role>(form, b, line, roots, x);
  } else {
    const std::uint32_t turn = Share::is_part ? form.over_radix(0, form.turn(stage)) : form.turn(stage);
    turn_results(roots.line[j * turn], x);
    WEFT_UNROLL for (int k = 0; k < Radix; ++k) column[point + k * below] = x[k];
  }
}

/// A butterfly of a stage for one column: number `b`, or, of a last stage that stores, the one whose least
/// mode is `b`, so that adjacent threads store adjacent modes.
template <int Radix, Role role, class Share = Whole, class Form, class Value, bool Spread, AtOnce at_once>
WEFT_INLINE void butterfly(const Form& form, int stage, std::uint32_t b, Column<Value, Spread> column,
                           const Line<real_of<Value>, at_once>& line, const Roots<real_of<Value>>& roots) {
  constexpr bool stores = is_last(role) && role != Role::last_kept;
  const std::uint32_t number = stores && form.backward && b > 0 ? form.lasts() - b : b;
  const Place place = place_of<Radix, role, Share>(form, stage, number);
  Value x[Radix];
  read_points<Radix, role>(form, place, column, line, x);
  finish_butterfly<Radix, role, Share>(form, stage, b, place, column, line, roots, x);
}

/// Whether a thread reads the points of two butterflies of the first stage before it transforms them, so that
/// more is under way from memory. Larger ones take too many registers, as do kernels without large radices,
/// of which more share a multiprocessor. With three stages it pays for values of two lines whose points are
/// adjacent (ADR 0069).
template <class Form, class Value, int Radix, Role role, bool by_points>
inline constexpr bool in_pairs = is_first(role) && Radix <= 8 && Form::known&& Form::most == largest_radix &&
                                 (Form::Radices::count == 2 || (by_points && lines_in<Value> == 2));

/// Calls `run` with a radix as a constant. A radix of more than `most` is none: who launches a kernel looks.
template <int most, class Run>
WEFT_INLINE void with_radix(std::uint32_t radix, const Run& run) {
  const auto call = [&]<int Radix>(std::integral_constant<int, Radix> constant) {
    if constexpr (Radix <= most) run(constant);
  };
  switch (radix) {
    case 2:
      return call(std::integral_constant<int, 2>{});
    case 3:
      return call(std::integral_constant<int, 3>{});
    case 4:
      return call(std::integral_constant<int, 4>{});
    case 5:
      return call(std::integral_constant<int, 5>{});
    case 6:
      return call(std::integral_constant<int, 6>{});
    case 7:
      return call(std::integral_constant<int, 7>{});
    case 8:
      return call(std::integral_constant<int, 8>{});
    case 9:
      return call(std::integral_constant<int, 9>{});
    case 10:
      return call(std::integral_constant<int, 10>{});
    case 12:
      return call(std::integral_constant<int, 12>{});
    case 15:
      return call(std::integral_constant<int, 15>{});
    case 16:
      return call(std::integral_constant<int, 16>{});
  }
}

/// The same with that of a stage. Those between the first and the last one have the same, if they are known.
template <Role role, class Form, class Run>
WEFT_INLINE void with_radix_of(const Form& form, int number, const Run& run) {
  if constexpr (Form::known) {
    using Known = typename Form::Radices;
    constexpr int stage = is_first(role) ? 0 : is_last(role) ? Known::count - 1 : 1;
    run(std::integral_constant<int, static_cast<int>(Known::points(stage) / Known::points(stage + 1))>{});
  } else {
    with_radix<Form::most>(form.stage[number].radix, run);
  }
}

/// All butterflies `first`, `first + apart`, ... of a stage, for one column. Of a part, not the first stage.
template <Role role, class Form, class Value, bool Spread, AtOnce at_once, class Share = Whole>
WEFT_INLINE void run_stage(const Form& form, int number, std::uint32_t first, std::uint32_t apart,
                           Column<Value, Spread> column, const Line<real_of<Value>, at_once>& line,
                           const Roots<real_of<Value>>& roots, const Share& share = {}) {
  with_radix_of<role>(form, number, [&]<int Radix>(std::integral_constant<int, Radix>) {
    const std::uint32_t count = (Share::is_part ? form.below(0) : form.points()) / Radix;
    if constexpr (in_pairs<Form, Value, Radix, role, false>) {
      for (std::uint32_t b = first; b < count; b += 2 * apart) {
        const std::uint32_t next = b + apart;
        const Place place = place_of<Radix, role>(form, number, b),
                    behind = place_of<Radix, role>(form, number, next);
        Value x[Radix], y[Radix];
        read_points<Radix, role>(form, place, column, line, x);
        if (next < count) read_points<Radix, role>(form, behind, column, line, y);
        finish_butterfly<Radix, role>(form, number, b, place, column, line, roots, x);
        if (next < count) finish_butterfly<Radix, role>(form, number, next, behind, column, line, roots, y);
      }
    } else {
      // A last stage counts by modes. A part has those that are its number, modulo the number of parts;
      // backward those that are minus its number.
      const std::uint32_t least =
          form.backward && share.number > 0 ? share.parts - share.number : share.number;
      for (std::uint32_t b = first; b < count; b += apart)
        butterfly<Radix, role, Share>(form, number, is_last(role) ? b * share.parts + least : b, column, line,
                                      roots);
    }
  });
}

/// The first stage of so many columns of a block where points are adjacent: threads take butterflies in the
/// order of a column's points, so that adjacent threads read adjacent points. `start`: the first line of all;
/// `number`: that of the first column.
template <Role role = Role::first, class Form, class Value, AtOnce at_once>
WEFT_INLINE void run_first_by_points(const Form& form, std::uint32_t number, std::uint32_t columns,
                                     std::uint32_t thread, std::uint32_t threads, Tile at, Value* tile,
                                     const Line<real_of<Value>, at_once>& start,
                                     const Roots<real_of<Value>>& roots) {
  const std::uint32_t count = form.firsts();
  with_radix_of<role>(form, 0, [&]<int Radix>(std::integral_constant<int, Radix>) {
    const auto line_of = [&](std::uint32_t column) {
      Line<real_of<Value>, at_once> line = start;
      go_to<lines_in<Value>>(form, number + column, line);
      return line;
    };
    if constexpr (in_pairs<Form, Value, Radix, role, true>) {
      for (std::uint32_t i = thread; i < count * columns; i += 2 * threads) {
        const std::uint32_t next = i + threads, a = form.over_firsts(i), c = form.over_firsts(next);
        const bool both = next < count * columns;
        const Place place = place_of<Radix, role>(form, 0, i - a * count),
                    behind = place_of<Radix, role>(form, 0, next - c * count);
        const auto first = at.column<true>(tile, a), second = at.column<true>(tile, c);
        const auto line = line_of(a), other = line_of(both ? c : a);
        Value x[Radix], y[Radix];
        read_points<Radix, role>(form, place, first, line, x);
        if (both) read_points<Radix, role>(form, behind, second, other, y);
        finish_butterfly<Radix, role>(form, 0, i - a * count, place, first, line, roots, x);
        if (both) finish_butterfly<Radix, role>(form, 0, next - c * count, behind, second, other, roots, y);
      }
    } else {
      for (std::uint32_t i = thread; i < count * columns; i += threads) {
        const std::uint32_t column = form.over_firsts(i);
        butterfly<Radix, role>(form, 0, i - column * count, at.column<true>(tile, column), line_of(column),
                               roots);
      }
    }
  });
}

/// Where a column has a mode after the last stage, and the one that is as many before n.
struct Places {
  std::uint32_t mode = 0, opposite = 0;
};
template <class Form>
WEFT_INLINE Places places_of(const Form& form, std::uint32_t mode) {
  Places places;
  std::uint32_t carry = 0;  // subtracted from the next digit of the opposite mode
  for (int i = 0; i < form.stage_count(); ++i) {
    const std::uint32_t rest = form.over_radix(i, mode), digit = mode - rest * form.radix(i);
    places.mode += digit * form.below(i);
    if (digit + carry > 0) {
      if (digit + carry < form.radix(i)) places.opposite += (form.radix(i) - digit - carry) * form.below(i);
      carry = 1;
    }
    mode = rest;
  }
  return places;
}

/// Stores the same mode of two real lines, `a` and `b` being modes k and n - k of what was made of them.
template <class Real, AtOnce at_once>
WEFT_INLINE void store_of_reals(const Line<Real, at_once>&, Complex<Real>* at, Complex<Real> a,
                                Complex<Real> b) {
  constexpr Real half = Real(0.5);
  at[0] = {half * (a.re + b.re), half * (a.im - b.im)};
  at[1] = {half * (a.im + b.im), half * (b.re - a.re)};
}
template <class Real, AtOnce at_once>
WEFT_INLINE void store_of_reals(const Line<Real, at_once>& line, Complex<Real>* at, Pair<Real> a,
                                Pair<Real> b) {
  store_of_reals(line, at, a.first, b.first);
  if (!line.half) store_of_reals(line, at + 2, a.second, b.second);
}

/// Behind the last stage of lines of real numbers: takes both apart, modes `first`, `first + apart`, ... of a
/// column.
template <class Form, class Value, bool Spread, AtOnce at_once>
WEFT_INLINE void take_apart(const Form& form, std::uint32_t first, std::uint32_t apart,
                            Column<Value, Spread> column, const Line<real_of<Value>, at_once>& line) {
  for (std::uint32_t k = first; 2 * k <= form.n; k += apart) {
    const Places at = places_of(form, k);
    store_of_reals(line, line.to + k * form.to_stride, column[at.mode], column[at.opposite]);
  }
}

/// The last stage of so many columns of a block where the modes of a line are adjacent: threads take
/// butterflies in the order of their least modes, so that adjacent threads store adjacent modes.
template <class Form, class Value, AtOnce at_once>
WEFT_INLINE void run_last_by_points(const Form& form, std::uint32_t number, std::uint32_t columns,
                                    std::uint32_t thread, std::uint32_t threads, Tile at, Value* tile,
                                    const Line<real_of<Value>, at_once>& start,
                                    const Roots<real_of<Value>>& roots) {
  const int stage = form.stage_count() - 1;
  const std::uint32_t count = form.lasts();
  with_radix_of<Role::last_by_points>(form, stage, [&]<int Radix>(std::integral_constant<int, Radix>) {
    for (std::uint32_t i = thread; i < count * columns; i += threads) {
      const std::uint32_t column = i / count;
      Line<real_of<Value>, at_once> line = start;
      go_to<lines_in<Value>>(form, number + column, line);
      butterfly<Radix, Role::last_by_points>(form, stage, i - column * count, at.column<true>(tile, column),
                                             line, roots);
    }
  });
}

}  // namespace weft::lines
