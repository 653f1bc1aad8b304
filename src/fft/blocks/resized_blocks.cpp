#include "fft/blocks/resized_blocks.hpp"

#include <algorithm>
#include <utility>

#include "base/arithmetic.hpp"

namespace weft {

ResizedBlocks cut_blocks(const ResizedProblem& problem, const BlockManner& manner) {
  const bool forward = problem.direction == Direction::forward;
  const Index unit = 2 * real_bytes(problem.precision);
  const Index points_unit = problem.points == Element::complex ? unit : unit / 2;
  const Index modes_unit = has_r2c(problem) ? unit : points_unit;
  const Index from_unit = forward ? points_unit : modes_unit;
  const Index to_unit = problem.has_operator ? from_unit : forward ? modes_unit : points_unit;
  const auto place = [&](const ResizedLoop& d, Index n, Index step) {
    return LikeBlocks::Place{d.axis, n, step, d.from_stride * step * from_unit, d.to_stride * step * to_unit};
  };
  // Blocks take whole loops, those over neighbours in memory first, and part of the first one that is too
  // long. An operator gets the arrays of a batch together, which take more room then: shorter rows cost more
  // (a gradient of 256^3 took 3% longer).
  std::vector<ResizedLoop> loops = problem.loops, block;
  std::ranges::stable_sort(
      loops, {}, problem.has_operator || forward ? &ResizedLoop::from_stride : &ResizedLoop::to_stride);
  Index size = unit, rest = 0;
  for (const ResizedAxis& a : problem.axes) size *= all_modes(a);
  std::erase_if(loops, [&](const ResizedLoop& d) {
    const bool whole = problem.has_operator && d.axis == problem.batch_axis;
    if (whole) block.push_back(d);
    return whole;
  });
  std::vector<LikeBlocks::Place> places;
  const ResizedLoop* cut = nullptr;
  std::size_t cut_in_block = 0;
  for (const ResizedLoop& d : loops) {
    // Of neighbours in memory at least so many that runs are not short.
    const bool neighbours = d.from_stride == 1 || d.to_stride == 1;
    const Index least = neighbours ? std::max<Index>(1, manner.shortest_run / unit) : 1;
    const Index most = std::clamp<Index>(manner.bytes / size, std::min(least, d.from), d.from);
    const Index pieces = divided_up(d.from, most), even = divided_up(d.from, pieces);
    const Index n = std::min(d.from, neighbours ? rounded_up<Index>(even, cache_line_bytes / unit) : even);
    block.push_back(d);
    block.back().from = block.back().to = n;
    size *= n;
    if (n == d.from) continue;
    if (cut == nullptr) {
      cut = &d;
      cut_in_block = block.size() - 1;
      rest = d.from % n;
      places.push_back(place(d, d.from / n, n));
    } else {
      places.push_back(place(d, d.from, 1));
    }
    if (n > 1) size = std::max(size, manner.bytes);  // slower loops are left outside
  }
  std::ranges::reverse(places);
  ResizedBlocks blocks;
  const auto add = [&](std::vector<LikeBlocks::Place> where, const LikeBlocks::Place& first) {
    const auto on_16 = [](const LikeBlocks::Place& p) {
      return p.from_stride % 16 == 0 && p.to_stride % 16 == 0;
    };
    const bool aligned = problem.aligned && on_16(first) &&
                         std::ranges::all_of(where, [&](const auto& p) { return p.n == 1 || on_16(p); });
    BlockSteps written = manner.rows ? write_rows(problem, block, aligned)
                                     : write_block(problem, block, aligned, manner.spread);
    blocks.all.push_back({std::move(written.steps), std::move(where), first});
    blocks.work_bytes = std::max(blocks.work_bytes, written.work_bytes);
  };
  add(places, {});
  if (rest == 0) return blocks;
  block[cut_in_block].from = block[cut_in_block].to = rest;
  places.pop_back();  // that of the cut loop is the innermost
  add(places, place(*cut, 1, cut->from - rest));
  return blocks;
}

}  // namespace weft
