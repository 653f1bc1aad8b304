// The work of an element step on one element, on host or device. Each step has a form for kernels, made once
// for a launch: `Divisor` divides by a number known in advance.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "base/anywhere.hpp"
#include "kernels/elements/steps.hpp"
#include "kernels/r2r/complex.hpp"

namespace weft::elements {

using r2r::Complex;

/// Where a walk through a box is.
template <class Position>
struct Spot {
  Position at = 0, other = 0;
};

/// The loops of a box.
template <class Position, class Divisor>
struct Walk {
  static constexpr int most = ElementLoops::most;

  explicit Walk(const ElementLoops& loops) : count(loops.count), total(static_cast<Position>(loops.total())) {
    for (int i = 0; i < count; ++i) {
      lengths[i] = Divisor(static_cast<Position>(loops[i].n));
      stride[i] = static_cast<Position>(loops[i].stride);
      other[i] = static_cast<Position>(loops[i].other);
    }
  }

  /// The element of a position; calls index(loop, i) for every loop.
  template <class F>
  WEFT_ANYWHERE Spot<Position> spot(Position position, const F& index) const {
    Spot<Position> s;
    WEFT_UNROLL for (int i = 0; i < most; ++i) {
      if (i >= count) break;
      const Position rest = i + 1 == count ? 0 : lengths[i].divide(position);
      const Position k = i + 1 == count ? position : position - rest * lengths[i].divisor();
      position = rest;
      s.at += k * stride[i];
      s.other += k * other[i];
      index(i, k);
    }
    return s;
  }
  WEFT_ANYWHERE Spot<Position> spot(Position position) const {
    return spot(position, [](int, Position) {});
  }

  int count;
  Position total;
  Divisor lengths[most];
  Position stride[most]{}, other[most]{};
};

/// `T` is what an element is; of all steps at most two addresses are used.
template <class T, class Position, class Divisor>
struct Clear {
  explicit Clear(const ClearElements& s) : walk(s.loops) {}
  WEFT_ANYWHERE void operator()(Position i, std::byte* at, std::byte*) const {
    reinterpret_cast<T*>(at)[walk.spot(i).at] = T{};
  }
  Walk<Position, Divisor> walk;
};

template <class T, class Real, class Position, class Divisor>
struct Scale {
  explicit Scale(const ScaleElements& s) : walk(s.loops), factor(static_cast<Real>(s.factor)) {}
  WEFT_ANYWHERE void operator()(Position i, std::byte* at, std::byte*) const {
    T& u = reinterpret_cast<T*>(at)[walk.spot(i).at];
    u = factor * u;
  }
  Walk<Position, Divisor> walk;
  Real factor;
};

template <class Real, class Position, class Divisor>
struct Fold {
  explicit Fold(const FoldModes& s)
      : walk(s.loops), other(static_cast<Position>(s.other)), forward(s.forward) {}
  WEFT_ANYWHERE void operator()(Position i, std::byte* at, std::byte*) const {
    Complex<Real>* const positive = reinterpret_cast<Complex<Real>*>(at) + walk.spot(i).at;
    Complex<Real>* const negative = positive + other;
    if (other == 0) {
      *positive = {forward ? 2 * positive->re : positive->re / 2, 0};
    } else if (forward) {
      *negative = *negative + *positive;
    } else {
      *positive = *negative = Real(0.5) * *negative;
    }
  }
  Walk<Position, Divisor> walk;
  Position other;
  bool forward;
};

template <class Real, class Position, class Divisor>
struct Turn {
  explicit Turn(const TurnLine& s) : walk(s.loops), n(s.n), sign(s.forward ? -1 : 1) {
    for (int i = 0; i < 2; ++i) {
      line[i] = s.line[static_cast<std::size_t>(i)];
      first[i] = s.first[static_cast<std::size_t>(i)];
    }
  }
  WEFT_ANYWHERE void operator()(Position i, std::byte* at, std::byte*) const {
    Index j = first[0], k = first[1];
    const Spot<Position> spot = walk.spot(i, [&](int loop, Position index) {
      if (loop == line[0]) j += static_cast<Index>(index);
      if (loop == line[1]) k += static_cast<Index>(index);
    });
    Complex<Real>& u = reinterpret_cast<Complex<Real>*>(at)[spot.at];
    // In double, as jk/n has more digits than a float.
    const Complex<double> factor = r2r::root<double>(2 * j * k, n);
    u = u * Complex<Real>{static_cast<Real>(factor.re), static_cast<Real>(sign * factor.im)};
  }
  Walk<Position, Divisor> walk;
  int line[2];
  Index first[2], n;
  double sign;
};

/// Positions are unsigned, and sums of negative strides right once `start` is added.
template <class Real, class Position, class Divisor>
struct Mirror {
  explicit Mirror(const MirrorModes& s)
      : walk(s.loops),
        start(static_cast<Position>(s.start)),
        re(static_cast<Real>(s.scale)),
        im(static_cast<Real>(s.conjugates ? -s.scale : s.scale)) {}
  WEFT_ANYWHERE void operator()(Position i, std::byte* at, std::byte* other) const {
    const Spot<Position> spot = walk.spot(i);
    const Complex<Real>& u =
        reinterpret_cast<const Complex<Real>*>(other)[static_cast<Position>(start + spot.other)];
    reinterpret_cast<Complex<Real>*>(at)[spot.at] = {re * u.re, im * u.im};
  }
  Walk<Position, Divisor> walk;
  Position start;
  Real re, im;
};

/// Positions are in elements of the array and of work memory; a column is never long.
template <class Real, class Position, class Divisor>
struct Columns {
  explicit Columns(const CopyColumns& s)
      : walk(inner(s)),
        columns(s.columns),
        column_stride(static_cast<Position>(s.column_stride)),
        work_column(static_cast<Position>(s.work_column)),
        work_mode(static_cast<Position>(s.work_mode)),
        length(s.length),
        lines(s.lines),
        in(s.in),
        scale(static_cast<Real>(s.scale)) {}
  WEFT_ANYWHERE void operator()(Position i, std::byte* at, std::byte* other) const {
    Position mode = 0, column = 0;
    const Spot<Position> spot = walk.spot(i, [&](int loop, Position index) {
      if (loop == 0) mode = index;
      if (loop == 1) column = index;
    });
    const DeviceColumn c = columns[column];
    const auto place = static_cast<Position>(c.place);
    auto* const users = reinterpret_cast<Complex<Real>*>(at);
    auto* const work = reinterpret_cast<Complex<Real>*>(other);
    if (!lines) return move(users[spot.at + column * column_stride], work[spot.other + place]);
    const Index to = c.first + static_cast<Index>(mode);
    Complex<Real>& there = work[spot.other + column * work_column +
                                static_cast<Position>(to < length ? to : to - length) * work_mode];
    if (static_cast<Index>(mode) < c.count) {
      move(users[spot.at + place + mode], there);
    } else if (in) {
      there = {0, 0};
    }
  }

  /// The modes of a column, and the columns, are the first two loops.
  static ElementLoops inner(const CopyColumns& s) {
    ElementLoops loops;
    loops.add({s.lines ? s.length : 1, 0, 0});
    loops.add({s.count, 0, 0});
    for (int i = 0; i < s.loops.count; ++i) loops.add(s.loops[i]);
    return loops;
  }
  WEFT_ANYWHERE void move(Complex<Real>& user, Complex<Real>& there) const {
    if (in) {
      there = scale * user;
    } else {
      user = scale * there;
    }
  }

  Walk<Position, Divisor> walk;

  const DeviceColumn* columns;
  Position column_stride, work_column, work_mode;
  Index length;
  bool lines, in;
  Real scale;
};

}  // namespace weft::elements
