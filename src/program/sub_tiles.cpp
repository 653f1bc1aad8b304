#include "program/sub_tiles.hpp"

#include <algorithm>

#include "base/arithmetic.hpp"

namespace weft {

namespace {
/// The shortest run of memory worth reading or writing at a time.
constexpr Index shortest_run = 4 * line_bytes;
}  // namespace

Strides spread_strides(const Shape& extents, const Order& order, int element_bytes) {
  Strides strides = extents;
  Index stride = 1;
  for (int i = order.size() - 1; i >= 0; --i) {
    strides[order[i]] = stride;
    stride *= extents[order[i]];
    if (stride * element_bytes % (4 * line_bytes) == 0) stride += line_bytes / element_bytes;
  }
  return strides;
}

std::vector<Box> sub_tiles(const Box& part, const Order& order, const AxisVector<int>& transformed,
                           int element_bytes, Index bytes, const CutAtMultiples& multiples) {
  if (part.empty()) return {};
  Shape thickness = part.extents();
  const int fastest = order[order.size() - 1];
  for (int a : order) {
    const Index size = Box{Shape(part.ndim(), 0), thickness}.count() * element_bytes;
    if (size <= bytes) break;
    if (transformed.contains(a)) continue;
    const Index layer = size / thickness[a];
    const Index least = a == fastest ? std::max<Index>(1, shortest_run / element_bytes) : 1;
    const Index wanted = std::clamp(bytes / layer, std::min(least, thickness[a]), thickness[a]);
    const Index pieces = (thickness[a] + wanted - 1) / wanted;
    thickness[a] = (thickness[a] + pieces - 1) / pieces;
    const Index unit = std::max<Index>(a == fastest ? line_bytes / element_bytes : 1,  // whole cache lines
                                       a == multiples.axis ? multiples.points : 1);
    thickness[a] = std::min(part.extent(a), rounded_up(thickness[a], unit));
  }
  std::vector<Box> boxes;
  Box box = part;
  for (int a = 0; a < part.ndim(); ++a) box.hi[a] = std::min(part.hi[a], part.lo[a] + thickness[a]);
  for (;;) {
    boxes.push_back(box);
    int i = order.size() - 1;
    for (; i >= 0; --i) {
      const int a = order[i];
      if (box.hi[a] < part.hi[a]) {
        box.lo[a] = box.hi[a];
        box.hi[a] = std::min(part.hi[a], box.lo[a] + thickness[a]);
        break;
      }
      box.lo[a] = part.lo[a];
      box.hi[a] = std::min(part.hi[a], part.lo[a] + thickness[a]);
    }
    if (i < 0) return boxes;
  }
}

Box same_cut(const Box& part, const Box& whole, const AxisVector<int>& free) {
  Box cut = whole;
  for (int a = 0; a < part.ndim(); ++a) {
    if (free.contains(a)) continue;
    cut.lo[a] = part.lo[a];
    cut.hi[a] = part.hi[a];
  }
  return cut;
}

std::vector<Box> outside(const Box& box, const Box& hole) {
  const Box inner = intersect(box, hole);
  if (inner.empty()) return {box};
  std::vector<Box> boxes;
  Box rest = box;
  const auto add = [&](const Box& piece) {
    if (!piece.empty()) boxes.push_back(piece);
  };
  for (int a = 0; a < box.ndim(); ++a) {
    Box before = rest, behind = rest;
    before.hi[a] = rest.lo[a] = inner.lo[a];
    behind.lo[a] = rest.hi[a] = inner.hi[a];
    add(before);
    add(behind);
  }
  return boxes;
}

}  // namespace weft
