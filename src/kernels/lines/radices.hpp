// The radices of the stages of line FFTs, the first stage first: measured ones where there are some
// (measured_radices.cpp), else by rule.
#pragma once

#include <array>
#include <optional>

#include "kernels/lines/step.hpp"

namespace weft {

using LineRadices = std::array<int, LineStep::most_stages>;

/// By rule those of lines of n points, two at least; none if n has another factor than 2, 3, 5 and 7, or is
/// prime, or has more than `most_points`. They are at most `most`, which is 7 or more.
std::optional<LineRadices> line_radices(Index n, int most = LineStep::largest_radix);

/// What radices are measured for.
enum class LineKind {
  apart,        ///< lines, each of one block of threads, that are adjacent on one side at least
  rows,         ///< rows of complex numbers
  rows_read,    ///< rows of real numbers that are read (`RealRows`)
  rows_stored,  ///< and that are stored
  /// Either axis of planes, both of which are complex. Of an even number of points the last stage has an even
  /// number of butterflies, as cells ask for (`LineStep::diverted_bits`): no other kind stores in cells.
  planes,
};
/// None where others are at most 1.025 times as fast as those by rule, or where nothing has been measured.
std::optional<LineRadices> measured_radices(Index n, LineKind kind);

/// Those of lines of complex numbers, `apart` or `rows`, if lines of n points have any. What is measured are
/// lines whose points lie apart on both sides, and rows all of whose modes are stored elsewhere.
LineRadices complex_line_radices(Index n, LineKind kind);

/// Those of n points of rows of real numbers, if lines have any. The stage next to the modes has a small one
/// (`lines::largest_small_radix`), as its threads do two butterflies at a time, unless a pass behind it makes
/// the modes (`lines::leaves_results`).
LineRadices real_row_radices(Index n, RealRows reals);

/// Those of both steps of planes, whose lines have so many points. Three blocks of threads that share a
/// multiprocessor have registers for small radices alone, two for all (ADR 0070): so both are small, or
/// either may be large. Of an even number of points the last stage has an even number of butterflies.
struct PlaneRadices {
  LineRadices first, second;
};
PlaneRadices plane_radices(Index first, Index second, bool of_reals);

/// Those of lines that several blocks of threads share (ADR 0076): the first one is the number of blocks, at
/// most `most_parts`. None for lines for which one block is as fast, and where no number divides them into
/// parts that have radices and are not too long.
std::optional<LineRadices> part_radices(Index n, int most_parts);

}  // namespace weft
