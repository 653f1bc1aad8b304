#include "fft/threads/fft_split.hpp"

#include <algorithm>

#include "base/arithmetic.hpp"
#include "geometry/grid.hpp"

namespace weft {

namespace {

/// The share of the threads' time in use from which on no other cut is considered.
constexpr double good_balance = 0.85;
/// The least gain of that share for which two steps are taken instead of one.
constexpr double worth_two_steps = 1.25;

/// An axis of the data, with strides in bytes. An r2c dimension has fewer points on its complex side.
struct Axis {
  Index from_n, to_n, from, to;
  bool alike() const { return from_n == to_n && from == to; }
};

Axis axis_of(const FftProblem& p, const FftDimension& d) {
  return {d.n, d.n, d.from_stride * side_read(p).element_bytes, d.to_stride * side_written(p).element_bytes};
}

/// All axes longer than 1, except one loop.
std::vector<Axis> other_axes(const FftProblem& p, std::size_t loop) {
  std::vector<Axis> axes;
  for (std::size_t i = 0; i < p.loops.size(); ++i)
    if (i != loop && p.loops[i].n > 1) axes.push_back(axis_of(p, p.loops[i]));
  for (const FftDimension& d : p.dimensions)
    if (d.n > 1) axes.push_back(axis_of(p, d));
  if (p.kind == FftKind::real && p.dimensions.back().n > 1)
    (side_written(p).halved ? axes.back().to_n : axes.back().from_n) = p.dimensions.back().n / 2 + 1;
  return axes;
}

/// Whether, in place, no iteration of a loop writes what another reads. That holds if every point stays in
/// its place, or if each iteration reads and writes a range of memory that no other iteration uses.
bool apart_in_place(const FftProblem& p, std::size_t loop) {
  const Axis cut = axis_of(p, p.loops[loop]);
  std::vector<Axis> axes = other_axes(p, loop);
  if (!cut.alike()) return false;
  if (p.kind != FftKind::real && std::ranges::all_of(axes, &Axis::alike)) return true;
  std::ranges::sort(axes, {}, [](const Axis& a) { return std::min(a.from, a.to); });
  Index from_span = side_read(p).element_bytes, to_span = side_written(p).element_bytes,
        stretch = cut.from * cut.from_n;
  for (const Axis& a : axes) {
    if (std::min(a.from, a.to) < cut.from) {
      from_span += (a.from_n - 1) * a.from;
      to_span += (a.to_n - 1) * a.to;
    } else {
      if (!a.alike() || a.from < stretch) return false;
      stretch = a.from * a.from_n;
    }
  }
  return from_span <= cut.from && to_span <= cut.from;
}

/// A loop cut into pieces of whole units.
struct Cut {
  std::size_t loop = 0;
  Index unit = 1;
  int pieces = 1;
  double balance = 0;  ///< share of the threads' time that is used
};

/// The least number of iterations that steps by multiples of 16 bytes in input and output.
Index aligned_unit(const Axis& a) {
  Index unit = 1;
  while (unit * a.from % 16 != 0 || unit * a.to % 16 != 0) unit *= 2;
  return unit;
}

Cut cut_of(const FftProblem& p, std::size_t loop, int threads) {
  const Index n = p.loops[loop].n;
  Cut cut{loop, 1, 1, balance(n, 1, threads)};
  if (p.aligned) {
    const Index unit = aligned_unit(axis_of(p, p.loops[loop]));
    const double aligned = balance(n, unit, threads);
    if (aligned >= good_balance * cut.balance) cut = {loop, unit, 1, aligned};
  }
  cut.pieces = static_cast<int>(std::min<Index>(threads, divided_up(n, cut.unit)));
  return cut;
}

/// A cut of the outermost loop with a good balance, else of the loop with the best one; one piece if no loop
/// can be cut.
Cut best_cut(const FftProblem& p, int threads) {
  Cut best;
  best.balance = 1.0 / threads;
  Index best_stride = 0;
  for (std::size_t i = 0; i < p.loops.size(); ++i) {
    if (p.loops[i].n < 2 || (p.in_place && !apart_in_place(p, i))) continue;
    const Cut cut = cut_of(p, i, threads);
    const Axis a = axis_of(p, p.loops[i]);
    const Index stride = std::min(a.from, a.to);
    const double mine = std::min(cut.balance, good_balance), its = std::min(best.balance, good_balance);
    if (mine > its || (mine == its && stride > best_stride)) {
      best = cut;
      best_stride = stride;
    }
  }
  return best;
}

/// A step before it is cut: its problem and its arrays.
struct Part {
  FftStep::Sides sides = FftStep::Sides::from_to;
  FftProblem problem;
  Cut cut;
};

/// The transform along one dimension only, in place on the complex (or r2r) side with these strides.
FftProblem one_dimension(const FftProblem& p, std::size_t dimension, Index FftDimension::*stride) {
  FftProblem one = p;
  one.dimensions.clear();
  one.in_place = one.may_destroy_input = true;
  if (p.kind == FftKind::real) one.kind = FftKind::c2c;
  for (FftDimension& d : one.loops) d = {d.n, d.*stride, d.*stride};
  for (std::size_t i = 0; i < p.dimensions.size(); ++i) {
    const FftDimension& d = p.dimensions[i];
    const bool halved = p.kind == FftKind::real && i + 1 == p.dimensions.size();
    if (i == dimension) {
      one.dimensions.push_back({d.n, d.*stride, d.*stride, d.transform});
    } else {
      one.loops.push_back({halved ? d.n / 2 + 1 : d.n, d.*stride, d.*stride});
    }
  }
  return one;
}

/// The transform along the other dimensions, with `dimension` as a loop.
FftProblem other_dimensions(const FftProblem& p, std::size_t dimension) {
  FftProblem others = p;
  const FftDimension d = p.dimensions[dimension];
  others.dimensions.erase(others.dimensions.begin() + static_cast<std::ptrdiff_t>(dimension));
  others.loops.push_back({d.n, d.from_stride, d.to_stride});
  return others;
}

/// The transform as two steps, one of them along `dimension` only. The real dimension comes first in forward
/// and last in backward, so that `dimension` is done on the complex side.
std::vector<Part> two_steps(const FftProblem& p, std::size_t dimension, int threads) {
  std::vector<Part> parts(2);
  if (p.kind == FftKind::real && p.direction == Direction::backward) {
    parts[0] = {FftStep::Sides::from_only, one_dimension(p, dimension, &FftDimension::from_stride), {}};
    parts[1] = {FftStep::Sides::from_to, other_dimensions(p, dimension), {}};
  } else {
    parts[0] = {FftStep::Sides::from_to, other_dimensions(p, dimension), {}};
    parts[1] = {FftStep::Sides::to_only, one_dimension(p, dimension, &FftDimension::to_stride), {}};
  }
  parts[0].problem.scale = 1;
  for (Part& part : parts) part.cut = best_cut(part.problem, threads);
  return parts;
}

std::vector<Part> best_parts(const FftProblem& p, int threads) {
  std::vector<Part> best{{FftStep::Sides::from_to, p, best_cut(p, threads)}};
  if (best[0].cut.balance >= good_balance || p.dimensions.size() < 2) return best;
  const bool real = p.kind == FftKind::real;
  if (real && p.direction == Direction::backward && !p.may_destroy_input && !p.in_place) return best;
  double goal = worth_two_steps * best[0].cut.balance;
  Index best_stride = 0;
  for (std::size_t i = 0; i + (real ? 1 : 0) < p.dimensions.size(); ++i) {
    std::vector<Part> parts = two_steps(p, i, threads);
    const double weakest = std::min({parts[0].cut.balance, parts[1].cut.balance, good_balance});
    const Index stride = std::min(p.dimensions[i].from_stride, p.dimensions[i].to_stride);
    if (weakest > goal || (weakest == goal && stride > best_stride)) {
      best = std::move(parts);
      goal = weakest;
      best_stride = stride;
    }
  }
  return best;
}

FftStep step_of(const Part& part) {
  FftStep step{part.sides, {}};
  if (part.cut.pieces == 1) {
    step.pieces.push_back({part.problem, 0, 0});
    return step;
  }
  const FftDimension loop = part.problem.loops[part.cut.loop];
  const Axis axis = axis_of(part.problem, loop);
  for (int i = 0; i < part.cut.pieces; ++i) {
    const Range range = split_units(loop.n, part.cut.unit, part.cut.pieces, i);
    FftPiece piece{part.problem, range.lo * axis.from, range.lo * axis.to};
    piece.problem.loops[part.cut.loop].n = range.hi - range.lo;
    if (piece.from_offset % 16 != 0 || piece.to_offset % 16 != 0) piece.problem.aligned = false;
    step.pieces.push_back(std::move(piece));
  }
  return step;
}

}  // namespace

std::vector<FftStep> split_fft(const FftProblem& problem, int threads) {
  std::vector<FftStep> steps;
  if (threads <= 1) {
    steps.push_back({FftStep::Sides::from_to, {{problem, 0, 0}}});
  } else {
    for (const Part& part : best_parts(problem, threads)) steps.push_back(step_of(part));
  }
  return steps;
}

}  // namespace weft
