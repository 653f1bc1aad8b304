#include "tune/search.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
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

/// The number of random draws in a row without a new feasible point after which the search ends.
constexpr int fruitless_draws = 10'000;

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
  for (const Dimension& d : dimensions) {
    if (d.values.empty()) throw Error("search", "dimension " + d.name + " without values", "at least one");
    if (std::adjacent_find(d.values.begin(), d.values.end(), std::greater_equal<>()) != d.values.end())
      throw Error("search", "values of " + d.name + " out of order", "ascending values, each once");
    space_ *= static_cast<double>(d.values.size());
  }
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

/// Small spaces are searched completely; in large ones hardly any point is drawn twice.
SearchResult random_search(std::span<const Dimension> dimensions, std::uint64_t seed, const Score& score,
                           const SearchLimits& limits) {
  TriedPoints trials(dimensions, score, limits);
  // The standard specifies the generator's numbers but not those of its distributions. The bias of the
  // remainder does not matter here.
  std::mt19937_64 random(seed);
  Point point(dimensions.size());
  for (int fruitless = 0; fruitless < fruitless_draws && !trials.exhausted(); ++fruitless) {
    for (std::size_t d = 0; d < point.size(); ++d)
      point[d] = dimensions[d].values[random() % dimensions[d].values.size()];
    const int before = trials.executed();
    if (!trials.run(point)) return std::move(trials).result(false);
    if (trials.executed() > before) fruitless = -1;
  }
  return std::move(trials).result(true);
}

}  // namespace weft
