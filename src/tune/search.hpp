// Searches for the point with the least score among the values of a few parameters. The caller provides a
// function that scores a point; searches know nothing of plans, clocks or ranks. All decisions follow from
// the scores and from random numbers that are the same everywhere, so that ranks with equal scores run equal
// searches without communication.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "weft/axis_vector.hpp"

namespace weft {

/// A parameter and its admissible values, at least one, in ascending order.
struct Dimension {
  std::string name;
  std::vector<Index> values;
};

/// A value for each dimension.
using Point = std::vector<Index>;

/// `least`, `most`, and the powers of two between them (Song and Hollingsworth 2014, 4.4): 1, 2, 4, 8, 16, 24
/// for 1 and 24. Throws `weft::Error` if `least` is negative or above `most`.
std::vector<Index> log_values(Index least, Index most);

/// All values from `least` to `most`, for parameters with few values. Throws as `log_values` does.
std::vector<Index> all_values(Index least, Index most);

/// The score of a point; smaller is better. Infinity (or NaN) means that the point is not feasible and was
/// not executed. Searches ask once for each point.
using Score = std::function<double(const Point&)>;

struct SearchLimits {
  /// The most points that are executed. Points that are not feasible do not count.
  int trials = 0;
  /// Asked before each point once one has been executed. Must answer alike on all ranks. Empty: no limit.
  std::function<bool()> out_of_time;
  /// Nelder and Mead's first moves change a parameter by at most so many of its values. 0: as far as they
  /// like.
  int longest_move = 0;
};

/// A point and its score; infinity if it is not feasible.
struct Trial {
  Point point;
  double score;
};

struct SearchResult {
  Trial best;                  ///< of equal ones the first; score infinity if no point was feasible
  std::vector<Trial> history;  ///< the points executed, in order
  bool converged = false;      ///< ended with nothing left to try, not by the limits
};

/// Nelder and Mead's search. `starts` are rounded to admissible values, the smaller one of two equally near
/// ones; the search begins at the best of them. At least the first point is executed, even if the time is
/// over. Throws `weft::Error` for dimensions without values or not in order, no point to start from, and
/// points with a wrong number of values.
SearchResult nelder_mead(std::span<const Dimension> dimensions, const std::vector<Point>& starts,
                         const Score& score, const SearchLimits& limits);

/// Random points, uniformly distributed: the reference for other searches. Throws as `nelder_mead` does.
SearchResult random_search(std::span<const Dimension> dimensions, std::uint64_t seed, const Score& score,
                           const SearchLimits& limits);

/// The `count` best feasible trials with different points, the best first; of equal ones the earlier.
std::vector<Trial> finalists(const std::vector<Trial>& history, int count);

}  // namespace weft
