#include "geometry/grid.hpp"

#include <algorithm>
#include <tuple>

#include "base/arithmetic.hpp"

namespace weft {

Index cells(const Grid& grid) {
  Index n = 1;
  for (int p : grid) n = std::min(n * p, Index{1} << 31);
  return n;
}

Range split(Index n, int parts, int i) {
  const Index quotient = n / parts, remainder = n % parts;
  const auto start = [&](Index k) { return k * quotient + (k < remainder ? k : remainder); };
  return {start(i), start(i + 1)};
}

Range split_units(Index n, Index unit, int parts, int i) {
  const Range r = split(divided_up(n, unit), parts, i);
  return {std::min(n, r.lo * unit), std::min(n, r.hi * unit)};
}

double balance(Index n, Index unit, int parts) {
  const Index units = divided_up(n, unit), largest = std::min(n, unit * divided_up<Index>(units, parts));
  return static_cast<double>(n) / (static_cast<double>(parts) * static_cast<double>(largest));
}

int part_of(Index n, int parts, Index position) {
  const Index quotient = n / parts, remainder = n % parts;
  const Index large = remainder * (quotient + 1);
  if (position < large) return static_cast<int>(position / (quotient + 1));
  return static_cast<int>(remainder + (position - large) / quotient);
}

AxisVector<int> near_square(int ranks) {
  int p = 1;
  for (int f = 1; static_cast<Index>(f) * f <= ranks; ++f)
    if (ranks % f == 0) p = f;
  return {p, ranks / p};
}

namespace {

struct Score {
  bool leaves_empty = false;
  double surface = 0;
  bool better_than(const Score& o) const {
    return std::tie(leaves_empty, surface) < std::tie(o.leaves_empty, o.surface);
  }
};

Score score_of(const Shape& shape, const Grid& grid) {
  Score score;
  AxisVector<double> side;
  for (int a = 0; a < shape.size(); ++a) {
    score.leaves_empty = score.leaves_empty || grid[a] > shape[a];
    const Range largest = split(shape[a], grid[a], 0);
    side.push_back(static_cast<double>(largest.hi - largest.lo));
  }
  for (int a = 0; a < shape.size(); ++a) {
    double face = 1;
    for (int b = 0; b < shape.size(); ++b)
      if (b != a) face *= side[b];
    score.surface += face;
  }
  return score;
}

void search(const Shape& shape, const AxisVector<int>& cut, int depth, int ranks, Grid& grid, Grid& best,
            Score& best_score) {
  if (depth == cut.size() - 1) {
    grid[cut[depth]] = ranks;
    const Score score = score_of(shape, grid);
    if (best.empty() || score.better_than(best_score)) {
      best = grid;
      best_score = score;
    }
    return;
  }
  for (int f = 1; f <= ranks; ++f) {
    if (ranks % f != 0) continue;
    grid[cut[depth]] = f;
    search(shape, cut, depth + 1, ranks / f, grid, best, best_score);
  }
}

}  // namespace

Grid min_surface_grid(const Shape& shape, int ranks, const AxisVector<int>& cut) {
  Grid grid(shape.size(), 1), best;
  Score best_score;
  search(shape, cut, 0, ranks, grid, best, best_score);
  return best;
}

}  // namespace weft
