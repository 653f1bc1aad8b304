#include "kernels/coded_loops.hpp"

#include <algorithm>

#include "base/arithmetic.hpp"
#include "kernels/coded_rows.hpp"

namespace weft {

CodedLoops::CodedLoops(const CodedRequest& r)
    : reals(r.points * (r.element_bytes / r.real_bytes)),
      first(r.first * (r.element_bytes / r.real_bytes)),
      last(first + r.extents[r.axis] * (r.element_bytes / r.real_bytes)),
      stride(r.box_strides[r.axis] * r.element_bytes),
      point_reals(r.element_bytes / r.real_bytes),
      bits(r.codec.bits),
      factor(r.factor),
      group_rows(r.real_bytes == 8 ? coding::group_rows<double> : coding::group_rows<float>) {
  for (int a = 0; a < r.extents.size(); ++a) {
    if (a == r.axis || r.extents[a] == 1) continue;
    loops[count++] = {r.extents[a], r.box_strides[a] * r.element_bytes, r.row_strides[a]};
    rows *= r.extents[a];
  }
  std::sort(loops, loops + count, [](const Loop& a, const Loop& b) { return a.box < b.box; });
  if (r.extents[r.axis] == 0) rows = 0;
  if (rows == 0) return;

  constexpr Index block = codec::block_reals;
  heads = codec::heads_bytes(reals);
  across = count > 0 && loops[0].box < stride;
  first_block = first / block;
  box_start = (first_block * block - first) / point_reals * stride;
  box_step = block / point_reals * stride;
  const Index all = divided_up(last, block) - first_block;
  const Index row_groups = divided_up<Index>(rows, group_rows);
  blocks = static_cast<std::uint32_t>(all);
  if (point_reals == 2) {
    whole_begin = static_cast<std::uint32_t>(divided_up(first, block) - first_block);
    whole_end = static_cast<std::uint32_t>(std::max(last / block - first_block, Index{whole_begin}));
  }
  together = static_cast<std::uint32_t>(
      std::clamp<Index>(row_groups * all / coding::enough_groups, 1, coding::most_together));
  divisions = divided_up(blocks, together);
}

}  // namespace weft
