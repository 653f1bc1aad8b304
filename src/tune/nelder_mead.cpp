// Nelder and Mead's search. Coordinates are positions in the lists of values, continuous while the simplex
// moves, and rounded to a point that is executed. A tuner has only a few trials for each dimension. The
// textbook's method would spend most of them on its first simplex and the rest on turning it. Therefore this
// search works in rounds:
//
// Each vertex of a simplex is a move from the best point so far, not from the first one. What helped is kept
// while the other moves are tried, and the vertices still span all directions.
//
// If a move leads to a point that is not feasible, one other coordinate is changed by the least amount that
// makes it feasible. Points that are not feasible cost no trial, so limits such as sub-tile <= tile do not
// stop the search.
//
// Reflection, expansion and contraction follow while they help. Better vertices have more weight in the
// centroid.
//
// The next round, in place of a shrink, begins with a simplex around the best point with moves of half the
// length. Moves that did not help are reversed, and those that changed the score most come first. A shrink
// would need as many trials and keep wrong directions. With moves of one position, rounds go on until all
// neighbours of the best point are known.
#include <algorithm>
#include <cmath>

#include "tune/tried_points.hpp"
#include "weft/error.hpp"

namespace weft {
namespace {

using Position = std::vector<double>;

struct Vertex {
  Position at;
  double score;
};

/// A move from the best point, and how much it changed the score when it was last tried.
struct Move {
  Position by;
  double effect = 0;
};

/// Thrown when the limits allow no further trial.
struct Stop {};

/// The number of steps in a row without a better best vertex after which the next round begins.
constexpr int patience = 3;

/// The position of the value nearest to `wanted`; of two equally near values the smaller one.
double nearest(const std::vector<Index>& values, Index wanted) {
  const auto above = std::lower_bound(values.begin(), values.end(), wanted);
  const bool below =
      above != values.begin() && (above == values.end() || wanted - *(above - 1) <= *above - wanted);
  return static_cast<double>(above - values.begin() - (below ? 1 : 0));
}

/// a + factor * b
Position sum(const Position& a, double factor, const Position& b) {
  Position c = a;
  for (std::size_t d = 0; d < c.size(); ++d) c[d] += factor * b[d];
  return c;
}

class NelderMead {
 public:
  NelderMead(std::span<const Dimension> dimensions, const Score& score, const SearchLimits& limits)
      : dimensions_(dimensions), longest_(limits.longest_move), trials_(dimensions, score, limits) {}

  SearchResult search(const std::vector<Point>& starts) {
    try {
      best_ = evaluate(position(starts.front()));
      for (const Point& start : starts) {
        const Vertex vertex = evaluate(position(start));
        if (vertex.score < best_.score) best_ = vertex;
      }
      make_moves();
      while (round()) {
      }
    } catch (const Stop&) {
      return std::move(trials_).result(false);
    }
    return std::move(trials_).result(true);
  }

 private:
  double last(std::size_t d) const { return static_cast<double>(dimensions_[d].values.size() - 1); }

  Position position(const Point& point) const {
    if (point.size() != dimensions_.size())
      throw Error("search", "a point of " + std::to_string(point.size()) + " values",
                  std::to_string(dimensions_.size()) + ", one per dimension");
    Position at;
    for (std::size_t d = 0; d < point.size(); ++d) at.push_back(nearest(dimensions_[d].values, point[d]));
    return at;
  }

  /// The first moves, one along each dimension with more than one value: half of the way to the farther end
  /// of its values. Of the lengths compared (one position, a fifth to two fifths of the range, a third to
  /// half of the way) this one found good points most often, from good starts and from random ones.
  void make_moves() {
    for (std::size_t d = 0; d < dimensions_.size(); ++d) {
      if (last(d) == 0) continue;
      const double at = best_.at[d];
      double step = std::ceil(std::max(at, last(d) - at) / 2);
      if (longest_ > 0) step = std::min<double>(step, longest_);
      moves_.push_back({Position(dimensions_.size(), 0.0)});
      moves_.back().by[d] = 2 * at <= last(d) ? step : -step;
    }
  }

  Position inside(Position at) const {
    for (std::size_t d = 0; d < at.size(); ++d) at[d] = std::clamp(at[d], 0.0, last(d));
    return at;
  }

  Point point(const Position& at) const {
    Point point;
    for (std::size_t d = 0; d < at.size(); ++d)
      point.push_back(dimensions_[d].values[static_cast<std::size_t>(std::lround(at[d]))]);
    return point;
  }

  Vertex evaluate(const Position& wanted) {
    Position at = inside(wanted);
    const std::optional<double> score = trials_.run(point(at));
    if (!score) throw Stop{};
    return {std::move(at), *score};
  }

  /// The vertex at `at`, moved half of the way to `feasible` until it is feasible.
  Vertex evaluate_towards(Position at, const Position& feasible) {
    Vertex vertex = evaluate(at);
    for (int i = 0; i < 3 && std::isinf(vertex.score); ++i) {
      at = sum(sum(at, -0.5, at), 0.5, feasible);
      vertex = evaluate(at);
    }
    return vertex;
  }

  /// The vertex at `at`. If it is not feasible, one coordinate that `move` does not change is changed by the
  /// least amount that makes it feasible.
  Vertex evaluate_beside(const Position& at, const Move& move) {
    Vertex vertex = evaluate(at);
    if (std::isfinite(vertex.score) || std::isinf(best_.score)) return vertex;
    std::size_t most = 0;
    for (const Dimension& d : dimensions_) most = std::max(most, d.values.size());
    for (std::size_t distance = 1; distance < most; ++distance)
      for (std::size_t d = 0; d < at.size(); ++d)
        for (const double sign : {-1.0, 1.0}) {
          const double change = sign * static_cast<double>(distance);
          if (move.by[d] != 0 || at[d] + change < 0 || at[d] + change > last(d)) continue;
          Position beside = at;
          beside[d] += change;
          Vertex found = evaluate(beside);
          if (std::isfinite(found.score)) return found;
        }
    return evaluate_towards(at, best_.at);
  }

  void sort() {
    std::stable_sort(simplex_.begin(), simplex_.end(),
                     [](const Vertex& a, const Vertex& b) { return a.score < b.score; });
  }

  /// Makes a vertex for each move from the best point so far. A move that did not help is reversed for the
  /// next round.
  void build() {
    simplex_.assign(1, best_);
    for (Move& move : moves_) {
      const int before = trials_.executed();
      Position to = inside(sum(best_.at, 1, move.by));
      if (trials_.seen(point(to))) {
        const Position other = inside(sum(best_.at, -1, move.by));
        if (!trials_.seen(point(other))) {
          to = other;
          for (double& x : move.by) x = -x;
        }
      }
      const Vertex vertex = evaluate_beside(to, move);
      simplex_.push_back(vertex);
      const bool compares = std::isfinite(vertex.score) && std::isfinite(best_.score);
      move.effect = trials_.executed() == before ? move.effect / 2
                    : compares                   ? std::abs(vertex.score - best_.score)
                                                 : 0;
      if (vertex.score < best_.score) {
        best_ = vertex;
      } else {
        for (double& x : move.by) x = -x;
      }
    }
    sort();
  }

  Position centroid() const {
    const std::size_t n = simplex_.size() - 1;
    Position centre(dimensions_.size(), 0.0);
    double weights = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (i > 0 && std::isinf(simplex_[i].score)) break;  // the rest is not feasible either
      const auto weight = static_cast<double>(n - i);
      weights += weight;
      centre = sum(centre, weight, simplex_[i].at);
    }
    for (double& x : centre) x /= weights;
    return centre;
  }

  /// Reflects, expands or contracts the worst vertex; false if none of these helps.
  bool step() {
    const Position centre = centroid();
    Vertex& worst = simplex_.back();
    const Position away = sum(centre, -1, worst.at);
    const Vertex reflected = evaluate_towards(sum(centre, 1, away), centre);
    if (reflected.score < simplex_.front().score) {
      const Vertex expanded = evaluate(sum(centre, 2, away));
      worst = expanded.score < reflected.score ? expanded : reflected;
    } else if (reflected.score < simplex_[simplex_.size() - 2].score) {
      worst = reflected;
    } else {
      const bool outside = reflected.score < worst.score;
      const Vertex contracted = evaluate(sum(centre, outside ? 0.5 : -0.5, away));
      if (!(contracted.score < (outside ? reflected.score : worst.score))) return false;
      worst = contracted;
    }
    sort();
    return true;
  }

  void descend() {
    for (int idle = 0; simplex_.size() > 1 && idle < patience;) {
      const double before = simplex_.front().score;
      if (!step()) break;
      idle = simplex_.front().score < before ? 0 : idle + 1;
    }
    best_ = {position(trials_.best().point), trials_.best().score};
  }

  /// False if the search has converged: all moves are of one position, none led to a new point, and none
  /// helped.
  bool round() {
    const double score = best_.score;
    const std::size_t seen = trials_.points_seen();
    build();
    descend();
    bool shorter = false;
    for (Move& move : moves_)
      for (double& x : move.by) {
        if (std::abs(x) <= 1) continue;
        x = std::copysign(std::max(1.0, std::round(std::abs(x) / 2)), x);
        shorter = true;
      }
    std::stable_sort(moves_.begin(), moves_.end(),
                     [](const Move& a, const Move& b) { return a.effect > b.effect; });
    return shorter || trials_.points_seen() > seen || best_.score < score;
  }

  std::span<const Dimension> dimensions_;
  int longest_;
  TriedPoints trials_;
  std::vector<Move> moves_;
  std::vector<Vertex> simplex_;  // sorted, the best first
  Vertex best_;                  // the best trial, at its rounded position
};

}  // namespace

SearchResult nelder_mead(std::span<const Dimension> dimensions, const std::vector<Point>& starts,
                         const Score& score, const SearchLimits& limits) {
  if (starts.empty()) throw Error("search", "no point to start from", "at least one");
  return NelderMead(dimensions, score, limits).search(starts);
}

}  // namespace weft
