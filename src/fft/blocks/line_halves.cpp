#include "fft/blocks/line_halves.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/arithmetic.hpp"
#include "geometry/transform.hpp"

namespace weft {

namespace {

using Side = BlockPlace::Side;

/// Some elements along one axis of an array: where they begin, and the step to the next one, in bytes.
struct Along {
  BlockPlace begin;
  Index step;
};

/// Copies along the other axes, `n` elements along the one.
MirrorStep mirror(Index n, const Along& from, const Along& to, std::vector<FftDimension> others,
                  double scale) {
  MirrorStep step;
  step.loops = std::move(others);
  step.loops.push_back({n, from.step, to.step});
  std::erase_if(step.loops, [](const FftDimension& d) { return d.n == 1; });
  std::ranges::stable_sort(step.loops, std::greater{}, &FftDimension::to_stride);
  step.from = from.begin;
  step.to = to.begin;
  step.scale = scale;
  return step;
}

}  // namespace

void split_halves(const ResizedProblem& p, bool in, const std::vector<HalvesAxis>& axes, Index user_offset,
                  Index work_offset, double scale, std::vector<BlockStep>& steps) {
  const Index unit = 2 * real_bytes(p.precision);
  Index n = 1, user_step = unit, work_step = unit;
  std::vector<FftDimension> others, first_column;
  for (const HalvesAxis& a : axes) {
    if (a.is_line) {
      n = a.n;
      user_step = a.user_stride;
      work_step = a.work_stride;
      continue;
    }
    const FftDimension d{a.n, in ? a.user_stride : a.work_stride, in ? a.work_stride : a.user_stride};
    others.push_back(d);
    if (a.number != p.halves.first_axis) first_column.push_back(d);
  }
  const Index kept = n / 2 + 1, direct = (n + 1) / 2;
  const auto user = [&](Index half, Index k, Index sign) {
    return Along{
        {in ? Side::input : Side::output, user_offset + half * p.halves.stride * unit + k * user_step},
        sign * user_step};
  };
  const auto work = [&](Index k, Index sign) {
    return Along{{Side::work, work_offset + k * work_step}, sign * work_step};
  };
  if (!in) {
    steps.emplace_back(mirror(kept, work(0, 1), user(0, 0, 1), others, scale));
    MirrorStep other = mirror(kept, work(n - 1, -1), user(1, 0, 1), others, scale);
    other.conjugates = true;
    steps.emplace_back(std::move(other));
    return;
  }
  steps.emplace_back(mirror(direct, user(0, 0, 1), work(0, 1), others, scale));
  MirrorStep other = mirror(n - direct, user(1, n / 2 - 1, -1), work(direct, 1), others, scale);
  // The column 0 is its own mirror.
  MirrorStep own = mirror(n - direct, user(0, n / 2, -1), work(direct, 1), first_column, scale);
  other.conjugates = own.conjugates = true;
  own.only_at_zero = p.halves.first_axis;
  steps.emplace_back(std::move(other));
  steps.emplace_back(std::move(own));
}

BlockSteps write_join(const ResizedProblem& p, const std::vector<ResizedLoop>& loops) {
  const Index unit = 2 * real_bytes(p.precision);
  const bool joins = p.direction == Direction::forward;
  const ResizedAxis& axis = p.axes.front();
  std::vector<FftDimension> others;
  for (const ResizedLoop& d : loops) others.push_back({d.from, d.from_stride * unit, d.to_stride * unit});
  const Index n = axis.length, kept = n / 2 + 1;
  const Index half_step = (joins ? axis.from_stride : axis.to_stride) * unit,
              whole_step = (joins ? axis.to_stride : axis.from_stride) * unit;
  const auto half = [&](Index which, Index k, Index sign) {
    return Along{{joins ? Side::input : Side::output, which * p.halves.stride * unit + k * half_step},
                 sign * half_step};
  };
  const auto whole = [&](Index k, Index sign) {
    return Along{{joins ? Side::output : Side::input, k * whole_step}, sign * whole_step};
  };
  BlockSteps written;
  if (joins) {
    written.steps.emplace_back(mirror(kept, half(0, 0, 1), whole(0, 1), others, p.scale));
    if (n > 2)
      written.steps.emplace_back(mirror(n - kept, half(1, (n - 1) / 2, -1), whole(kept, 1), others, p.scale));
    return written;
  }
  written.steps.emplace_back(mirror(kept, whole(0, 1), half(0, 0, 1), others, p.scale));
  written.steps.emplace_back(mirror(kept - 1, whole(n - 1, -1), half(1, 1, 1), others, p.scale));
  // What column 0 stands for twice is read from half 0; but all that travels has a value.
  written.steps.emplace_back(mirror(1, whole(0, 1), half(1, 0, 1), others, p.scale));
  return written;
}

}  // namespace weft
