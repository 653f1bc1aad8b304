// What every search keeps: the scores of all points it has seen, so that none is run twice (the second
// technique of 4.4 in the paper of search.hpp), the trials executed, and whether the limits allow another.
#pragma once

#include <map>
#include <optional>

#include "tune/search.hpp"

namespace weft {

class TriedPoints {
 public:
  /// All three must outlive it.
  TriedPoints(std::span<const Dimension> dimensions, const Score& score, const SearchLimits& limits);

  /// The score of a point, now or from before; nothing if the limits do not allow to run it.
  std::optional<double> run(const Point& point);
  bool seen(const Point& point) const { return scores_.contains(point); }
  /// Whether all points there are have been seen.
  bool exhausted() const;
  /// How many have been executed, or seen in all.
  int executed() const { return static_cast<int>(history_.size()); }
  std::size_t points_seen() const { return scores_.size(); }
  /// The first of the best so far; infinity before one was feasible.
  const Trial& best() const { return best_; }
  SearchResult result(bool converged) &&;

 private:
  const Score& score_;
  const SearchLimits& limits_;
  double space_ = 1;  // a product of many sizes, compared with a count that stays small
  std::map<Point, double> scores_;
  std::vector<Trial> history_;
  Trial best_;
};

/// Throws `weft::Error` if a dimension has no values or they do not ascend.
void check_dimensions(std::span<const Dimension> dimensions);

}  // namespace weft
