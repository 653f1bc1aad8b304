// Grids of ranks and even splits of an axis. A grid says into how many parts each axis is cut. Ranks are
// numbered in C order (last axis fastest), so that consecutive pencil grids share rows or columns of ranks.
#pragma once

#include "weft/axis_vector.hpp"

namespace weft {

/// Parts per axis.
using Grid = AxisVector<int>;

/// Number of cells of a grid, at most 2^31.
Index cells(const Grid& grid);

struct Range {
  Index lo = 0, hi = 0;
  friend bool operator==(const Range&, const Range&) = default;
};

/// Part `i` of `parts` of the indices 0..n-1: sizes differ by at most one, the larger parts first.
Range split(Index n, int parts, int i);

/// `split` in whole units: parts begin on multiples of `unit`, and only the last unit may be shorter.
Range split_units(Index n, Index unit, int parts, int i);

/// How evenly `split_units` splits: n / (parts * largest part). 1 at best, 1/parts if one part has all.
double balance(Index n, Index unit, int parts);

/// The part of `split` that holds index `position`, 0 <= position < n.
int part_of(Index n, int parts, Index position);

/// The factors p <= q of ranks = p * q with p as large as possible.
AxisVector<int> near_square(int ranks);

/// The grid of `ranks` cells, on the axes listed in `cut` (at most three), whose largest cell has the
/// smallest surface (communication-tuning, "minimum-surface partition"). Grids that leave no rank without
/// points are preferred; of equal ones the first in ascending order is taken.
Grid min_surface_grid(const Shape& shape, int ranks, const AxisVector<int>& cut);

}  // namespace weft
