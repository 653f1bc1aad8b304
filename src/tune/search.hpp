// Searches among the values of a few parameters for the point with the least score. They know nothing of
// plans, clocks or ranks: whoever calls them gives a function that scores a point. Every decision follows
// from the scores alone, with an order and random numbers that are the same everywhere, so that ranks that
// agree on the scores run the same search without exchanging anything else.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "weft/axis_vector.hpp"

namespace weft {

/// One parameter and its admissible values, at least one, in ascending order.
struct Dimension {
  std::string name;
  std::vector<Index> values;
};

/// A value for each dimension.
using Point = std::vector<Index>;

/// The powers of two from `least` to `most`, and these two (Song and Hollingsworth 2014, 4.4): 1 to 24 are 1,
/// 2, 4, 8, 16, 24. Throws `weft::Error` if `least` is negative or above `most`.
std::vector<Index> log_values(Index least, Index most);

/// All values from `least` to `most`, for parameters that have few. Throws as `log_values` does.
std::vector<Index> all_values(Index least, Index most);

/// The score of a point, the smaller the better. Infinity (or NaN) means that the point is not feasible;
/// nothing was executed then. Of the same point it is asked once.
using Score = std::function<double(const Point&)>;

struct SearchLimits {
  /// Points executed, at most. Those that are not feasible and those seen before are free.
  int trials = 0;
  /// Asked before each point once one has been executed; empty: never. Must answer alike on all ranks.
  std::function<bool()> out_of_time;
};

/// A point and its score, infinity if it is not feasible.
struct Trial {
  Point point;
  double score;
};

struct SearchResult {
  Trial best;                  ///< the first of the best; infinity if no point was feasible
  std::vector<Trial> history;  ///< the points executed, each once, in this order
  bool converged = false;      ///< stopped because there was nothing more to try
};

/// The point of admissible values nearest to this one; of two as near the smaller value.
Point nearest_point(std::span<const Dimension> dimensions, const Point& point);

/// The first simplex for `nelder_mead`: `start` at its nearest values, and for each dimension of more than
/// one value a point moved from it along that dimension, half of the way to the farther end of its values.
/// That leads towards the middle, stays inside, and is long where the start is far from what it has not seen;
/// the search halves it soon enough. Of the lengths compared (one position, a fifth to two fifths of the
/// range, a third to half of the way) it found good points most often, from good starts and from random ones.
std::vector<Point> simplex_around(std::span<const Dimension> dimensions, const Point& start);

/// Nelder and Mead's search from a first simplex, whose values are taken at the nearest admissible ones. The
/// differences of its points to the first one are the moves of the search: it finds nothing along a dimension
/// in which all agree. The best is never worse than the first feasible point of the simplex, which is run
/// even if the time is out already. Throws `weft::Error` for dimensions without values or not in order, an
/// empty simplex, and points of a different number of values.
SearchResult nelder_mead(std::span<const Dimension> dimensions, const std::vector<Point>& initial_simplex,
                         const Score& score, const SearchLimits& limits);

/// Points drawn evenly from all. It is what another search has to beat. Throws as `nelder_mead` does.
SearchResult random_search(std::span<const Dimension> dimensions, std::uint64_t seed, const Score& score,
                           const SearchLimits& limits);

/// The `count` best of these trials, feasible and of different points, the best first; the earlier of equals.
std::vector<Trial> finalists(const std::vector<Trial>& history, int count);

}  // namespace weft
