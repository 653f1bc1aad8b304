// Random points, uniformly distributed. Small spaces are searched completely; in large ones hardly any point
// is drawn twice.
#include <random>

#include "tune/tried_points.hpp"

namespace weft {
namespace {

/// The number of draws in a row without a new feasible point after which the search ends.
constexpr int fruitless_draws = 10'000;

}  // namespace

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
