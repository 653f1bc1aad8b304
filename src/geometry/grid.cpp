#include "geometry/grid.hpp"

#include <algorithm>
#include <utility>

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

/// Whether a grid leaves ranks without points, and the surface of its largest cell.
std::pair<bool, double> score_of(const Shape& shape, const Grid& grid) {
  bool leaves_empty = false;
  double surface = 0;
  AxisVector<double> side;
  for (int a = 0; a < shape.size(); ++a) {
    leaves_empty = leaves_empty || grid[a] > shape[a];
    side.push_back(static_cast<double>(divided_up<Index>(shape[a], grid[a])));
  }
  for (int a = 0; a < shape.size(); ++a) {
    double face = 1;
    for (int b = 0; b < shape.size(); ++b)
      if (b != a) face *= side[b];
    surface += face;
  }
  return {leaves_empty, surface};
}

}  // namespace

Grid min_surface_grid(const Shape& shape, int ranks, const AxisVector<int>& cut) {
  Grid grid(shape.size(), 1), best;
  std::pair<bool, double> least;
  const auto search = [&](const auto& deeper, int depth, int left) -> void {
    const bool last = depth + 1 == cut.size();
    for (int f = last ? left : 1; f <= left; ++f) {
      if (left % f != 0) continue;
      grid[cut[depth]] = f;
      if (!last) {
        deeper(deeper, depth + 1, left / f);
      } else if (const auto score = score_of(shape, grid); best.empty() || score < least) {
        best = grid;
        least = score;
      }
    }
  };
  search(search, 0, ranks);
  return best;
}

}  // namespace weft
