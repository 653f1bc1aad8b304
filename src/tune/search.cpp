#include "tune/search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "tune/tried_points.hpp"
#include "weft/error.hpp"

namespace weft {
namespace {

void check_range(Index least, Index most) {
  if (least < 0 || least > most)
    throw Error("search", "values from " + std::to_string(least) + " to " + std::to_string(most),
                "0 <= least <= most");
}

Index nearest_value(const std::vector<Index>& values, Index wanted) {
  const auto above = std::lower_bound(values.begin(), values.end(), wanted);
  if (above == values.begin()) return *above;
  const Index below = *(above - 1);
  return above == values.end() || wanted - below <= *above - wanted ? below : *above;
}

}  // namespace

std::vector<Index> log_values(Index least, Index most) {
  check_range(least, most);
  std::vector<Index> values{least};
  for (Index power = 1; power<most; power = power> most / 2 ? most : 2 * power)
    if (power > least) values.push_back(power);
  if (most > least) values.push_back(most);
  return values;
}

std::vector<Index> all_values(Index least, Index most) {
  check_range(least, most);
  std::vector<Index> values;
  for (Index v = least; v <= most; ++v) values.push_back(v);
  return values;
}

void check_dimensions(std::span<const Dimension> dimensions) {
  for (const Dimension& d : dimensions) {
    if (d.values.empty()) throw Error("search", "dimension " + d.name + " without values", "at least one");
    if (std::adjacent_find(d.values.begin(), d.values.end(), std::greater_equal<>()) != d.values.end())
      throw Error("search", "values of " + d.name + " out of order", "ascending values, each once");
  }
}

Point nearest_point(std::span<const Dimension> dimensions, const Point& point) {
  if (point.size() != dimensions.size())
    throw Error("search", "a point of " + std::to_string(point.size()) + " values",
                std::to_string(dimensions.size()) + ", one per dimension");
  Point nearest;
  for (std::size_t d = 0; d < point.size(); ++d)
    nearest.push_back(nearest_value(dimensions[d].values, point[d]));
  return nearest;
}

std::vector<Point> simplex_around(std::span<const Dimension> dimensions, const Point& start) {
  check_dimensions(dimensions);
  std::vector<Point> simplex{nearest_point(dimensions, start)};
  const Point origin = simplex.front();
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    const std::vector<Index>& values = dimensions[d].values;
    if (values.size() < 2) continue;
    const auto last = static_cast<Index>(values.size()) - 1;
    const Index at = std::lower_bound(values.begin(), values.end(), origin[d]) - values.begin();
    const Index step = (std::max(at, last - at) + 1) / 2;
    simplex.push_back(origin);
    simplex.back()[d] = values[static_cast<std::size_t>(2 * at <= last ? at + step : at - step)];
  }
  return simplex;
}

std::vector<Trial> finalists(const std::vector<Trial>& history, int count) {
  std::vector<Trial> best;
  for (const Trial& t : history)
    if (std::isfinite(t.score)) best.push_back(t);
  std::stable_sort(best.begin(), best.end(),
                   [](const Trial& a, const Trial& b) { return a.score < b.score; });
  std::set<Point> taken;
  std::erase_if(best, [&](const Trial& t) { return !taken.insert(t.point).second; });
  best.resize(std::min(best.size(), static_cast<std::size_t>(std::max(count, 0))));
  return best;
}

TriedPoints::TriedPoints(std::span<const Dimension> dimensions, const Score& score,
                         const SearchLimits& limits)
    : score_(score), limits_(limits), best_{{}, std::numeric_limits<double>::infinity()} {
  check_dimensions(dimensions);
  for (const Dimension& d : dimensions) space_ *= static_cast<double>(d.values.size());
}

std::optional<double> TriedPoints::run(const Point& point) {
  if (const auto known = scores_.find(point); known != scores_.end()) return known->second;
  if (best_.point.empty()) best_.point = point;
  if (executed() >= limits_.trials) return {};
  if (!history_.empty() && limits_.out_of_time && limits_.out_of_time()) return {};
  double score = score_(point);
  if (std::isfinite(score)) {
    history_.push_back({point, score});
  } else {
    score = std::numeric_limits<double>::infinity();
  }
  scores_.emplace(point, score);
  if (score < best_.score) best_ = {point, score};
  return score;
}

bool TriedPoints::exhausted() const {
  return static_cast<double>(scores_.size()) >= space_;
}

SearchResult TriedPoints::result(bool converged) && {
  return {std::move(best_), std::move(history_), converged};
}

}  // namespace weft
