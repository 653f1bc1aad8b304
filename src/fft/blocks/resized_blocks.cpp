#include "fft/blocks/resized_blocks.hpp"

#include <algorithm>
#include <utility>

#include "base/arithmetic.hpp"
#include "fft/blocks/line_halves.hpp"

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
  // Blocks take whole loops, those over neighbours in memory first, and parts of others as long as there is
  // room, of neighbours on either side at least so many that runs are not short. On the host an operator's
  // arrays of a batch, which it gets together, take more room then: shorter rows cost more (a gradient of
  // 256^3 took 3% longer).
  std::vector<ResizedLoop> loops = problem.loops, block;
  std::ranges::stable_sort(
      loops, {}, problem.has_operator || forward ? &ResizedLoop::from_stride : &ResizedLoop::to_stride);
  Index size = unit;
  for (const ResizedAxis& a : problem.axes) size *= all_modes(a);
  std::erase_if(loops, [&](const ResizedLoop& d) {
    const bool whole = problem.has_operator && d.axis == problem.batch_axis;
    if (whole) block.push_back(d);
    if (whole && manner.rows) size *= d.most();
    return whole;
  });
  struct Cut {
    const ResizedLoop* loop;
    std::size_t in_block;  ///< which loop of the block
    Index n;               ///< elements of a block
  };
  std::vector<Cut> cuts;
  std::vector<LikeBlocks::Place> outside;
  for (const ResizedLoop& d : loops) {
    const bool neighbours = d.from_stride == 1 || d.to_stride == 1;
    const Index least = neighbours ? std::max<Index>(1, manner.shortest_run / unit) : 1;
    const Index most = std::clamp<Index>(manner.bytes / size, std::min(least, d.from), d.from);
    const Index pieces = divided_up(d.from, most), even = divided_up(d.from, pieces);
    const Index n = std::min(d.from, neighbours ? rounded_up<Index>(even, cache_line_bytes / unit) : even);
    block.push_back(d);
    block.back().from = block.back().to = n;
    size *= n;
    if (n == d.from) continue;
    if (n == 1)
      outside.push_back(place(d, d.from, 1));
    else
      cuts.push_back({&d, block.size() - 1, n});
    if (n > 1) size = std::max(size, manner.bytes);  // slower loops are left outside
  }
  std::ranges::reverse(outside);
  ResizedBlocks blocks;
  const auto add = [&](const std::vector<LikeBlocks::Place>& where, const LikeBlocks::Begin& first) {
    const auto on_16 = [](const auto& p) { return p.from_stride % 16 == 0 && p.to_stride % 16 == 0; };
    const bool aligned = problem.aligned && on_16(first) &&
                         std::ranges::all_of(where, [&](const auto& p) { return p.n == 1 || on_16(p); });
    BlockSteps written = problem.halves.stage == Halves::join ? write_join(problem, block)
                         : manner.rows                        ? write_rows(problem, block, aligned)
                                       : write_block(problem, block, aligned, manner.work);
    blocks.all.push_back({std::move(written.steps), where, first});
    blocks.work_bytes = std::max(blocks.work_bytes, written.work_bytes);
  };
  // Of every loop that is cut, the blocks of n elements, or the one with the rest.
  const auto cut_from = [&](const auto& self, std::size_t c, std::vector<LikeBlocks::Place> where,
                            LikeBlocks::Begin first) -> void {
    if (c == cuts.size()) return add(where, first);
    const auto& [loop, in_block, n] = cuts[c];
    const Index rest = loop->from % n;
    std::vector<LikeBlocks::Place> more = where;
    more.push_back(place(*loop, loop->from / n, n));
    block[in_block].from = block[in_block].to = n;
    self(self, c + 1, std::move(more), first);
    if (rest == 0) return;
    block[in_block].from = block[in_block].to = rest;
    const LikeBlocks::Place begin = place(*loop, 1, loop->from - rest);
    first.at[loop->axis] += begin.step;
    first.from_stride += begin.from_stride;
    first.to_stride += begin.to_stride;
    self(self, c + 1, std::move(where), first);
  };
  cut_from(cut_from, 0, outside, {});
  return blocks;
}

}  // namespace weft
