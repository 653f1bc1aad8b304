// The record of a search: the scores of all points seen, so that no point is executed twice (the second
// technique of section 4.4 in the paper of search.hpp), the trials executed, and the limits.
#pragma once

#include <map>
#include <optional>

#include "tune/search.hpp"

namespace weft {

class TriedPoints {
 public:
  /// The arguments must outlive the object. Throws `weft::Error` if a dimension has no values or they do not
  /// ascend.
  TriedPoints(std::span<const Dimension> dimensions, const Score& score, const SearchLimits& limits);

  /// The score of a point, executed now or earlier; nothing if the limits do not allow to execute it.
  std::optional<double> run(const Point& point);
  bool seen(const Point& point) const { return scores_.contains(point); }
  /// Whether all points of the space have been seen.
  bool exhausted() const;
  /// The number of points executed, and of points seen, those that are not feasible included.
  int executed() const { return static_cast<int>(history_.size()); }
  std::size_t points_seen() const { return scores_.size(); }
  /// The best trial so far, of equal ones the first; score infinity if no point was feasible.
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

}  // namespace weft
