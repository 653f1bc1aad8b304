// What is computed in a step of line FFTs, for host and devices.
//
// The lines of a block of threads, which are adjacent, are its columns. Their points are held in a tile of
// memory that the block shares: point by point, of each the number of every column. With decimation in
// frequency a butterfly of radix R takes R points of a column, and leaves its results in their places: nothing
// but the order of the stages has to be kept. The first stage reads its points where they lie, and the last
// one stores what it has where it belongs, so that no points are moved for the sake of their order. With
// points in a tile,
// - below a stage with radix R are L points: the product of the later radices. Its butterflies are those of
//   points j, j + L, ... of each run of R L points, and result k is multiplied by exp(-2 pi i j k / R L);
// - position k0 (n / R0) + k1 (n / R0 R1) + ... at the end has mode k0 + k1 R0 + k2 R0 R1 + ...
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/lines/butterflies.hpp"
#include "kernels/lines/step.hpp"

namespace weft::lines {

/// A step as kernels need it; `Divisor` divides by a number known in advance. Strides are in values.
template <class Divisor>
struct Form {
  struct Stage {
    std::uint32_t radix = 1, below = 1;
    std::uint32_t turn = 1;  ///< n / (radix below): by how many roots result 1 of butterfly 1 is turned
    Divisor runs;            ///< by `below`
    Divisor digit;           ///< by `below` over the last radix, for all stages but the last one
  };
  struct Loop {
    Divisor n;
    std::int64_t from = 0, to = 0;
  };

  /// `values`: how many lines there are in a value.
  Form(const LineStep& step, int values)
      : n(static_cast<std::uint32_t>(step.n)),
        stages(step.stages),
        loops(step.count),
        from_stride(step.from_stride / values),
        to_stride(step.to_stride / values),
        backward(!step.forward),
        factor(step.factor) {
    const auto last = static_cast<std::uint32_t>(step.radices[static_cast<std::size_t>(stages - 1)]);
    std::uint32_t below = n;
    for (int i = 0; i < stages; ++i) {
      Stage& s = stage[i];
      s.radix = static_cast<std::uint32_t>(step.radices[static_cast<std::size_t>(i)]);
      s.turn = n / below;
      s.below = below /= s.radix;
      s.runs = Divisor(s.below);
      if (i + 1 < stages) s.digit = Divisor(s.below / last);
    }
    Index count = 1;
    for (int i = 0; i < loops; ++i) {
      const LineLoop& given = step.loops[static_cast<std::size_t>(i)];
      const Index of = i == 0 ? given.n / values : given.n;
      loop[i] = {Divisor(static_cast<std::uint32_t>(of)), i == 0 ? given.from : given.from / values,
                 i == 0 ? given.to : given.to / values};
      count *= of;
    }
    lines = static_cast<std::uint32_t>(count);
  }

  std::uint32_t n;
  int stages, loops;
  Stage stage[LineStep::most_stages];
  std::int64_t from_stride, to_stride;
  Loop loop[LineStep::most_loops];
  std::uint32_t lines = 1;  ///< values across all loops
  bool backward;
  double factor;
};

/// How many values of the tile lie between two points of a column.
struct Tile {
  std::uint32_t shift;  ///< a power of two
  WEFT_ANYWHERE std::uint32_t operator()(std::uint32_t point) const { return point << shift; }
};

/// Whether two adjacent lines can be one value: of single precision, adjacent on both sides, with all strides
/// even. Arrays have to begin on multiples of a value as well.
inline bool are_pairs(const LineStep& step) {
  if (step.real_bytes != 4 || step.count == 0 || step.from_stride % 2 != 0 || step.to_stride % 2 != 0)
    return false;
  if (step.loops[0].from != 1 || step.loops[0].to != 1 || step.loops[0].n % 2 != 0) return false;
  for (int i = 1; i < step.count; ++i) {
    const LineLoop& loop = step.loops[static_cast<std::size_t>(i)];
    if (loop.from % 2 != 0 || loop.to % 2 != 0) return false;
  }
  return true;
}

/// Moves both pointers from the first line to the given one.
template <class Divisor, class Value>
WEFT_INLINE void go_to_line(const Form<Divisor>& form, std::uint32_t line, const Value*& from, Value*& to) {
  for (int i = 0; i < form.loops; ++i) {
    const std::uint32_t rest = form.loop[i].n.divide(line), at = line - rest * form.loop[i].n.divisor();
    from += at * form.loop[i].from;
    to += at * form.loop[i].to;
    line = rest;
  }
}

/// What is read once does not take the place of roots in the first-level cache.
template <class Value>
WEFT_INLINE Value read_once(const Value* at) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(Value) == 16) {
    const float4 raw = __ldcg(reinterpret_cast<const float4*>(at));
    Value value;
    memcpy(&value, &raw, sizeof value);
    return value;
  } else {
    const float2 raw = __ldcg(reinterpret_cast<const float2*>(at));
    Value value;
    memcpy(&value, &raw, sizeof value);
    return value;
  }
#else
  return *at;
#endif
}

enum class Role { first, middle, last };

/// Butterfly `b` of a stage for one column. `tile` is the first point of the column, `from` and `to` its line.
template <int Radix, Role role, class Divisor, class Value>
WEFT_INLINE void butterfly(const Form<Divisor>& form, const typename Form<Divisor>::Stage& stage,
                           std::uint32_t b, Tile at, Value* tile, const Value* from, Value* to,
                           const Complex<real_of<Value>>* roots) {
  const std::uint32_t below = role == Role::last ? 1 : stage.below;
  const std::uint32_t run = role == Role::first ? 0 : role == Role::last ? b : stage.runs.divide(b);
  const std::uint32_t j = role == Role::last ? 0 : b - run * below;
  const std::uint32_t point = run * Radix * below + j;
  Value x[Radix];
  if constexpr (role == Role::first) {
    const Value* source = from + point * form.from_stride;
    const std::int64_t step = below * form.from_stride;
    WEFT_UNROLL for (int k = 0; k < Radix; ++k) {
      const Value value = read_once(source);
      x[k] = form.backward ? exchanged(value) : value;
      source += step;
    }
  } else {
    WEFT_UNROLL for (int k = 0; k < Radix; ++k) x[k] = tile[at(point + k * below)];
  }
  transform<Radix>(x);
  if constexpr (role == Role::last) {
    std::uint32_t rest = b, mode = 0, unit = 1;
    for (int i = 0; i + 1 < form.stages; ++i) {
      const std::uint32_t digit = form.stage[i].digit.divide(rest);
      rest -= digit * form.stage[i].digit.divisor();
      mode += digit * unit;
      unit *= form.stage[i].radix;
    }
    Value* target = to + mode * form.to_stride;
    const std::int64_t step = unit * form.to_stride;
    const auto factor = static_cast<real_of<Value>>(form.factor);
    WEFT_UNROLL for (int k = 0; k < Radix; ++k) {
      const Value value = factor * x[k];
      *target = form.backward ? exchanged(value) : value;
      target += step;
    }
  } else {
    const std::uint32_t turn = j * stage.turn;
    std::uint32_t root = 0;
    WEFT_UNROLL for (int k = 1; k < Radix; ++k) x[k] = x[k] * roots[root += turn];
    WEFT_UNROLL for (int k = 0; k < Radix; ++k) tile[at(point + k * below)] = x[k];
  }
}

/// All butterflies `first`, `first + apart`, ... of a stage, for one column.
template <Role role, class Divisor, class Value>
WEFT_INLINE void run_stage(const Form<Divisor>& form, int number, std::uint32_t first, std::uint32_t apart,
                           Tile at, Value* tile, const Value* from, Value* to,
                           const Complex<real_of<Value>>* roots) {
  const auto& stage = form.stage[number];
  const std::uint32_t count = form.n / stage.radix;
  switch (stage.radix) {
#define WEFT_RADIX(radix)                                                                       \
  case radix:                                                                                   \
    for (std::uint32_t b = first; b < count; b += apart)                                        \
      butterfly<radix, role>(form, stage, b, at, tile, from, to, roots);                        \
    break;
    WEFT_RADIX(2)
    WEFT_RADIX(3)
    WEFT_RADIX(4)
    WEFT_RADIX(5)
    WEFT_RADIX(6)
    WEFT_RADIX(7)
    WEFT_RADIX(8)
    WEFT_RADIX(9)
    WEFT_RADIX(10)
    WEFT_RADIX(12)
    WEFT_RADIX(15)
    WEFT_RADIX(16)
#undef WEFT_RADIX
  }
}

}  // namespace weft::lines
