// An input whose transform is known without a second FFT: a sum of two products of functions of one axis
// each, random or smooth ones. Its transform is the sum of the products of their one-dimensional transforms,
// which are computed as direct sums in long double. So are transforms of cut points or modes, and what comes
// back of them. The axes of a line have functions along the line in place of theirs, which need no sums.
#pragma once

#include <array>
#include <complex>
#include <optional>
#include <vector>

#include "line_functions.hpp"
#include "weft/plan_types.hpp"
#include "weft/problem.hpp"

namespace weft::bench {

class KnownAnswer {
 public:
  /// Of a problem without modes by columns.
  explicit KnownAnswer(const Problem& problem, bool smooth = false);

  /// What an execution in a direction is given: the value of array `item` of the batch at a point, or mode.
  std::complex<double> given(Direction direction, const Shape& at, Index item) const {
    return value(gives_points(direction) ? points : modes, at, item);
  }
  /// What it leaves if nothing is scaled.
  std::complex<double> result(Direction direction, const Shape& at, Index item) const;

 private:
  /// `modes` are the transform of `points`; `back` are modes transformed backward, with points between also
  /// forward again.
  enum Side { points, modes, back };
  using Axis = std::vector<std::complex<double>>;
  using Term = std::vector<Axis>;  ///< by axis; empty along those of a line

  bool gives_points(Direction direction) const;
  std::complex<double> value(Side side, const Shape& at, Index item) const;
  std::complex<double> along_line(Side side, int term, const Shape& at) const;

  Between between_;
  std::array<std::vector<Term>, 3> terms_;  ///< of each side
  std::optional<LineFunctions> line_;       ///< one function for each term
};

}  // namespace weft::bench
