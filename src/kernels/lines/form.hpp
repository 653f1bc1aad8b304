// A step of line FFTs as kernels need it, for host and devices: its numbers, where lines and columns lie, and
// how their points are read and stored. work.hpp has what is computed.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "kernels/lines/planes.hpp"
#include "kernels/lines/step.hpp"
#include "kernels/lines/tiles.hpp"
#include "kernels/lines/values.hpp"

namespace weft::lines {

/// Of a stage. Kernels are compiled for all radices up to some number.
inline constexpr int largest_radix = LineStep::largest_radix;

/// The radices of two stages or more that a kernel is compiled for; none: for any. Those between the first
/// and the last one are the same.
template <int... radices>
struct Radices {
  static constexpr int count = sizeof...(radices);
  static_assert(count != 1);
  static_assert([] {
    const std::array<int, count> all{radices...};
    for (int i = 2; i + 1 < count; ++i)
      if (all[static_cast<std::size_t>(i)] != all[1]) return false;
    return true;
  }());
  static constexpr int largest = std::max({0, radices...});

  static bool are_of(const LineStep& step) {
    return std::ranges::equal(std::array<int, count>{radices...},
                              std::span(step.radices).first(static_cast<std::size_t>(step.stages)));
  }

  /// The product of the radices from this stage on.
  static constexpr WEFT_ANYWHERE std::uint32_t points(int stage) {
    std::uint32_t product = 1;
    int i = 0;
    ((product *= i++ < stage ? 1 : radices), ...);
    return product;
  }
};

/// A step as kernels need it; `Divisor` divides by a number known in advance. With `Known` radices, what
/// follows from these is constant.
template <class Divisor, int most_radix = largest_radix, class Known = Radices<>>
struct Form {
  static constexpr int most = most_radix;
  static constexpr bool known = Known::count > 0;
  using Radices = Known;

  struct Stage {
    std::uint32_t radix = 1, below = 1;
    std::uint32_t turn = 1;   ///< n / (radix below): by how many roots result 1 of butterfly 1 is turned
    Divisor runs;             ///< by `below`
    std::uint32_t digit = 0;  ///< `below` over the last radix, of all stages but the last one
    Divisor modes;            ///< by the radix
  };
  struct Loop {
    Divisor n;
    std::int64_t from = 0, to = 0, diverted = 0;
  };

  /// Of diverted modes behind the first piece.
  struct Piece {
    std::uint32_t begin = 0;
    std::int64_t shift = 0;  ///< of its modes, from where they would be if they belonged to the first piece
  };

  /// `values`: how many lines there are in a value.
  Form(const LineStep& step, const LineArrays& arrays, int values)
      : n(static_cast<std::uint32_t>(step.n)),
        stages(step.stages),
        loops(step.count),
        from_stride(step.from_stride),
        to_stride(step.to_stride),
        diverted_stride(step.diverted_stride),
        diverted_beside(step.diverted_beside),
        diverted_bits(step.diverted_bits),
        diverted_first(static_cast<std::uint32_t>(step.diverted.first)),
        diverted_count(static_cast<std::uint32_t>(step.diverted.count)),
        pieces(step.diverted.pieces),
        last_is_half(step.loops[0].n % values != 0),
        backward(!step.forward),
        points_adjacent(step.loops[0].from != 1 && step.from_stride == 1),
        from_apart(step.loops[0].from),
        second_line(step.second_line),
        to_apart(step.loops[0].to),
        diverted_apart(step.loops[0].diverted),
        turn_loop(step.turn.loop),
        turn_apart(step.turn.loop == 0 ? 1 : 0),
        turn_bits(static_cast<std::uint32_t>(step.turn.low_bits)),
        factor(step.factor),
        diverted_factor(step.factor * step.diverted.scale) {
    const auto last_radix_of_step =
        static_cast<std::uint32_t>(step.radices[static_cast<std::size_t>(stages - 1)]);
    std::uint32_t below = n;
    for (int i = 0; i < stages; ++i) {
      Stage& s = stage[i];
      s.radix = static_cast<std::uint32_t>(step.radices[static_cast<std::size_t>(i)]);
      s.turn = n / below;
      s.below = below /= s.radix;
      s.runs = Divisor(s.below);
      s.modes = Divisor(s.radix);
      if (i + 1 < stages) s.digit = s.below / last_radix_of_step;
    }
    first_butterflies = Divisor(stage[0].below);
    last_butterflies = n / last_radix_of_step;
    diverted_step = diverted_at(static_cast<std::int32_t>(last_butterflies));
    for (int i = 0; i < loops; ++i) {
      const LineLoop& given = step.loops[static_cast<std::size_t>(i)];
      const std::int64_t apart = i == 0 ? values : 1;
      const auto count = static_cast<std::uint32_t>((given.n + apart - 1) / apart);
      loop[i] = {Divisor(count), given.from * apart, given.to * apart, given.diverted * apart};
      lines *= count;
    }
    const auto address = [&](int i) {
      return reinterpret_cast<std::uintptr_t>(arrays.diverted[static_cast<std::size_t>(i)]);
    };
    for (int i = 1; i < pieces; ++i) {
      const Index begin = step.diverted.begin[static_cast<std::size_t>(i)];
      piece[i] = {static_cast<std::uint32_t>(begin),
                  static_cast<std::int64_t>(address(i) - address(0)) / (2 * step.real_bytes) -
                      diverted_at(static_cast<std::int32_t>(begin))};
    }
  }

  /// Where this diverted mode is, counted from the first of them.
  WEFT_ANYWHERE std::int64_t diverted_at(std::int32_t mode) const {
    const std::int32_t low = (1 << diverted_bits) - 1;
    return (mode >> diverted_bits) * diverted_stride + (mode & low) * diverted_beside;
  }
  /// Of a diverted mode, counted from the first of them.
  WEFT_ANYWHERE std::int64_t shift_of(std::uint32_t mode) const {
    std::int64_t shift = 0;
    for (int i = 1; i < pieces && mode >= piece[i].begin; ++i) shift = piece[i].shift;
    return shift;
  }

  WEFT_ANYWHERE int stage_count() const { return known ? Known::count : stages; }
  WEFT_ANYWHERE std::uint32_t points() const { return known ? Known::points(0) : n; }
  WEFT_ANYWHERE std::uint32_t radix(int i) const {
    return known ? Known::points(i) / Known::points(i + 1) : stage[i].radix;
  }
  WEFT_ANYWHERE std::uint32_t below(int i) const { return known ? Known::points(i + 1) : stage[i].below; }
  WEFT_ANYWHERE std::uint32_t turn(int i) const {
    return known ? Known::points(0) / Known::points(i) : stage[i].turn;
  }
  WEFT_ANYWHERE std::uint32_t digit(int i) const {
    return known ? Known::points(i + 1) / Known::points(Known::count - 1) : stage[i].digit;
  }
  /// By `below` and by the radix of a stage.
  WEFT_ANYWHERE std::uint32_t over_below(int i, std::uint32_t number) const {
    return known ? number / below(i) : stage[i].runs.divide(number);
  }
  WEFT_ANYWHERE std::uint32_t over_radix(int i, std::uint32_t number) const {
    return known ? number / radix(i) : stage[i].modes.divide(number);
  }
  /// Butterflies of the first and of the last stage.
  WEFT_ANYWHERE std::uint32_t firsts() const { return known ? below(0) : first_butterflies.divisor(); }
  WEFT_ANYWHERE std::uint32_t lasts() const {
    return known ? Known::points(0) / Known::points(Known::count - 1) : last_butterflies;
  }
  WEFT_ANYWHERE std::uint32_t over_firsts(std::uint32_t number) const {
    return known ? number / firsts() : first_butterflies.divide(number);
  }

  std::uint32_t n;
  int stages, loops;
  Stage stage[LineStep::most_stages];
  std::int64_t from_stride, to_stride, diverted_stride;
  std::int64_t diverted_beside, diverted_step = 0;  ///< the latter: of results of a butterfly
  int diverted_bits;                                ///< of so many bits are the modes of a group
  std::uint32_t diverted_first, diverted_count;
  int pieces;
  Piece piece[DivertedModes::most_pieces];
  Loop loop[LineStep::most_loops];
  std::uint32_t lines = 1;  ///< values across all loops
  bool last_is_half;        ///< the last value of the first loop has one line
  bool backward;
  bool points_adjacent;                   ///< in the input it is points that are adjacent, not lines
  std::int64_t from_apart;                ///< of the second line of a value, in the input
  std::int64_t second_line;               ///< `LineStep::second_line`
  std::int64_t to_apart, diverted_apart;  ///< the same where modes are stored by points
  Divisor first_butterflies;
  std::uint32_t last_butterflies = 1;
  int turn_loop;             ///< or -1
  std::uint32_t turn_apart;  ///< of the second line of a value, along that loop
  std::uint32_t turn_bits;
  double factor, diverted_factor;
};

/// Calls `run` with the form of the first of these radices that a step has and that are at most `most`, or
/// with that of any.
template <class Divisor, int most, class First, class... Others, class Run>
auto with_form_among(const LineStep& step, const Run& run) {
  if constexpr (First::largest <= most)
    if (First::are_of(step)) return run(std::type_identity<Form<Divisor, most, First>>{});
  if constexpr (sizeof...(Others) > 0)
    return with_form_among<Divisor, most, Others...>(step, run);
  else
    return run(std::type_identity<Form<Divisor, most>>{});
}

/// Where kernels are to be compiled soon rather than to be fast, few radices have forms of their own.
#if defined(WEFT_FEW_FORMS)
inline constexpr bool few_forms = true;
#else
inline constexpr bool few_forms = false;
#endif

/// Calls `run` with the type of a step's form. Powers of two from 64 to 1024 have types of their own, by
/// which kernels know all but strides when they are compiled.
template <class Divisor, class Run>
auto with_form_of(const LineStep& step, const Run& run) {
  if constexpr (few_forms)
    return with_form_among<Divisor, largest_radix, Radices<8, 8>>(step, run);
  else
    return with_form_among<Divisor, largest_radix, Radices<8, 8>, Radices<8, 16>, Radices<16, 16>,
                           Radices<8, 8, 8>, Radices<8, 16, 8>>(step, run);
}

/// The same of rows of real numbers, which are read or stored.
template <class Divisor, RealRows reals, class Run>
auto with_form_of_real_rows([[maybe_unused]] const LineStep& step, const Run& run) {
  using Of256 = std::conditional_t<reals == RealRows::read, Radices<16, 16>, Radices<8, 4, 8>>;
  if constexpr (few_forms && reals == RealRows::stored)
    return run(std::type_identity<Form<Divisor>>{});
  else if constexpr (few_forms)
    return with_form_among<Divisor, largest_radix, Radices<8, 16>, Of256>(step, run);
  else
    return with_form_among<Divisor, largest_radix, Radices<8, 8>, Radices<8, 16>, Of256, Radices<8, 8, 8>,
                           Radices<8, 16, 8>>(step, run);
}

/// The same of lines with parts.
template <class Divisor, class Run>
auto with_form_of_parts([[maybe_unused]] const LineStep& step, const Run& run) {
  if constexpr (few_forms)
    return run(std::type_identity<Form<Divisor, largest_small_radix>>{});
  else
    return with_form_among<Divisor, largest_small_radix, Radices<4, 8, 8, 4>, Radices<6, 8, 8, 4>,
                           Radices<8, 8, 8, 4>, Radices<8, 8, 8, 8>>(step, run);
}

/// The same for both steps of planes, if these have the same radices. Of so many lines in a value: known
/// radices of four stages take 1.15 times as long as any with one line, 0.93 with two (ADR 0081).
template <class Divisor, int most, int values, class Run>
auto with_form_of(const PlaneLines& step, const Run& run) {
  if (step.first.radices != step.second.radices) return run(std::type_identity<Form<Divisor, most>>{});
  if constexpr (few_forms)
    return with_form_among<Divisor, most, Radices<8, 8>>(step.first, run);
  else if constexpr (values == 1)
    return with_form_among<Divisor, most, Radices<8, 8>, Radices<8, 16>, Radices<8, 4, 8>, Radices<8, 8, 8>>(
        step.first, run);
  else
    return with_form_among<Divisor, most, Radices<8, 8>, Radices<8, 16>, Radices<8, 4, 8>, Radices<8, 8, 8>,
                           Radices<8, 4, 4, 8>>(step.first, run);
}

/// A column of a tile, in which each point has a row with a value for each column. `Spread`: values change
/// places within groups of eight, which fill all banks of a GPU's shared memory, so that adjacent columns of
/// a point are in different banks, adjacent points of a column as well, and those whose distance is a power
/// of two, as adjacent modes have after the last stage.
template <class Value, bool Spread>
struct Column {
  Value* tile;  ///< of all columns if spread, else where this one begins
  std::uint32_t shift, number;

  WEFT_ANYWHERE Value& operator[](std::uint32_t point) const {
    if constexpr (Spread) {
      const std::uint32_t i = (point << shift) + number;
      return tile[i ^ ((i >> 3 ^ i >> 6 ^ i >> 9) & (values_of_banks - 1))];
    } else {
      return tile[point << shift];
    }
  }
};

/// The shape of a tile.
struct Tile {
  std::uint32_t shift;  ///< of the number of columns, a power of two

  WEFT_ANYWHERE std::uint32_t columns() const { return 1U << shift; }
  template <bool Spread, class Value>
  WEFT_ANYWHERE Column<Value, Spread> column(Value* tile, std::uint32_t number) const {
    return {Spread ? tile : tile + number, shift, number};
  }
};

/// Whether every value is stored on a multiple of its size, if the arrays begin on one, and no value has a
/// line less than others: all strides but the first loop's are multiples of a value.
inline bool store_on_values(const LineStep& step, int values) {
  bool all = step.loops[0].n % values == 0 && step.to_stride % values == 0 &&
             step.diverted_stride % values == 0 && step.diverted_beside % values == 0;
  for (int i = 1; i < step.count; ++i) {
    const LineLoop& loop = step.loops[static_cast<std::size_t>(i)];
    all = all && loop.to % values == 0 && loop.diverted % values == 0;
  }
  return all;
}
/// The same of what is read.
inline bool read_on_values(const LineStep& step, int values) {
  bool all = step.loops[0].n % values == 0 && step.loops[0].from == 1 && step.from_stride % values == 0;
  for (int i = 1; i < step.count; ++i)
    all = all && step.loops[static_cast<std::size_t>(i)].from % values == 0;
  return all;
}

/// What is moved a value at once, that is 16 bytes. The rest is moved line by line.
enum class AtOnce { none, stores, all };

/// Where the line, or lines, of a value begin. A kernel that had to ask for each value whether it can be
/// moved at once would wait for each: it took 1.6 times as long (H100, single precision).
template <class Real, AtOnce at_once>
struct Line {
  const Complex<Real>* from;
  Complex<Real>*to, *diverted;
  bool half = false;         ///< there is one line in this value only; never where any are moved at once
  std::uint32_t turned = 0;  ///< index along `LineStep::turn`'s loop
};

template <class Value>
bool begins_on_value(const std::byte* at) {
  return reinterpret_cast<std::uintptr_t>(at) % sizeof(Value) == 0;
}

/// Calls `run` with the first line. Without diverted modes their place is that of the others.
template <class Value, class Run>
auto from_first_line(const LineStep& step, const LineArrays& arrays, const Run& run) {
  using Real = real_of<Value>;
  using Number = Complex<Real>;
  const bool diverts = step.diverted.count > 0;
  const auto* from = reinterpret_cast<const Number*>(arrays.from);
  auto* to = reinterpret_cast<Number*>(arrays.to);
  auto* diverted = reinterpret_cast<Number*>(diverts ? arrays.diverted.front() : arrays.to);
  constexpr int values = lines_in<Value>;
  if constexpr (values > 1) {
    const bool at_once = read_on_values(step, values) && store_on_values(step, values) &&
                         begins_on_value<Value>(arrays.from) && begins_on_value<Value>(arrays.to) &&
                         std::ranges::all_of(arrays.diverted, begins_on_value<Value>);
    if (!at_once) return run(Line<Real, AtOnce::none>{from, to, diverted});
  }
  return run(Line<Real, AtOnce::all>{from, to, diverted});
}

/// Whether both steps of planes can store values of several lines at once.
template <class Value>
bool store_at_once(const PlaneLines& step, const LineArrays& arrays) {
  constexpr int values = lines_in<Value>;
  return store_on_values(step.first, values) && store_on_values(step.second, values) &&
         begins_on_value<Value>(arrays.to) && std::ranges::all_of(arrays.diverted, begins_on_value<Value>);
}

/// Moves from the first line to the given value, of so many lines each.
template <int values, class Form, class Real, AtOnce at_once>
WEFT_INLINE void go_to(const Form& form, std::uint32_t number, Line<Real, at_once>& line) {
  for (int i = 0; i < form.loops; ++i) {
    const std::uint32_t rest = form.loop[i].n.divide(number), at = number - rest * form.loop[i].n.divisor();
    line.from += at * form.loop[i].from;
    line.to += at * form.loop[i].to;
    line.diverted += at * form.loop[i].diverted;
    if (at_once == AtOnce::none && i == 0 && form.last_is_half && at + 1 == form.loop[0].n.divisor())
      line.half = true;
    if (i == form.turn_loop) line.turned = i == 0 ? at * values : at;
    number = rest;
  }
}

/// Reads 8 or 16 bytes. What is read once does not take the place of roots in the first-level cache.
template <class T>
WEFT_INLINE T read_once(const T* at) {
#if defined(__CUDA_ARCH__)
  using Raw = std::conditional_t<sizeof(T) == 16, float4, float2>;
  const Raw raw = __ldcg(reinterpret_cast<const Raw*>(at));
  T value;
  memcpy(&value, &raw, sizeof value);
  return value;
#elif defined(WEFT_ON_DEVICE)
  using Raw = float __attribute__((ext_vector_type(sizeof(T) / sizeof(float))));
  return __builtin_bit_cast(T, __builtin_nontemporal_load(reinterpret_cast<const Raw*>(at)));
#else
  return *at;
#endif
}

/// `apart`: of the second line.
template <class Real, AtOnce at_once>
WEFT_INLINE void read(const Line<Real, at_once>&, const Complex<Real>* at, std::int64_t /*apart*/,
                      Complex<Real>& value) {
  value = read_once(at);
}
template <class Real, AtOnce at_once>
WEFT_INLINE void read(const Line<Real, at_once>& line, const Complex<Real>* at, std::int64_t apart,
                      Pair<Real>& value) {
  if constexpr (at_once == AtOnce::all) {
    value = read_once(reinterpret_cast<const Pair<Real>*>(at));
  } else {
    value.first = read_once(at);
    value.second = line.half ? Complex<Real>{0, 0} : read_once(at + apart);
  }
}
/// Reads a real number.
template <class Real>
WEFT_INLINE Real read_number(const Real* at) {
#if defined(__CUDA_ARCH__)
  return __ldcg(at);
#else
  return *at;
#endif
}
/// A point of two lines of real numbers (`LineStep::of_reals`).
template <class Form, class Real, AtOnce at_once>
WEFT_INLINE void read_reals(const Form& form, const Line<Real, at_once>&, const Real* at,
                            Complex<Real>& value) {
  value = {read_number(at), read_number(at + form.second_line)};
}
template <class Form, class Real, AtOnce at_once>
WEFT_INLINE void read_reals(const Form& form, const Line<Real, at_once>& line, const Real* at,
                            Pair<Real>& value) {
  read_reals(form, line, at, value.first);
  value.second = {0, 0};
  if (!line.half) read_reals(form, line, at + 2 * form.from_apart, value.second);
}

template <class Real, AtOnce at_once>
WEFT_INLINE void store(const Line<Real, at_once>&, Complex<Real>* at, std::int64_t /*apart*/,
                       Complex<Real> value) {
  *at = value;
}
template <class Real, AtOnce at_once>
WEFT_INLINE void store(const Line<Real, at_once>& line, Complex<Real>* at, std::int64_t apart,
                       Pair<Real> value) {
  if constexpr (at_once != AtOnce::none) {
    *reinterpret_cast<Pair<Real>*>(at) = value;
  } else {
    *at = value.first;
    if (!line.half) at[apart] = value.second;
  }
}

}  // namespace weft::lines
