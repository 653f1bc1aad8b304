#include "geometry/copy_loops.hpp"

#include <algorithm>

namespace weft {

CopyLoops copy_loops(const Shape& extents, const Strides& from, const Strides& to) {
  CopyLoops c;
  for (int a = 0; a < extents.size(); ++a) {
    c.empty = c.empty || extents[a] <= 0;
    if (extents[a] > 1) c[c.count++] = {extents[a], from[a], to[a]};
  }
  const auto begin = c.loops.begin();
  // Insertion sort, because std::stable_sort allocates memory, and there are thousands of copies.
  for (int i = 1; i < c.count; ++i)
    for (int j = i; j > 0 && c[j - 1].to < c[j].to; --j) std::swap(c[j - 1], c[j]);
  int kept = 0;
  for (int i = 0; i < c.count; ++i) {
    const CopyLoop inner = c[i];
    if (kept > 0) {
      CopyLoop& outer = c[kept - 1];
      if (outer.from == inner.from * inner.n && outer.to == inner.to * inner.n) {
        outer = {outer.n * inner.n, inner.from, inner.to};
        continue;
      }
    }
    c[kept++] = inner;
  }
  c.count = kept;
  if (c.count == 0) c[c.count++] = {1, 1, 1};
  // If the fastest loop of the source is not the innermost, it is moved just before it.
  const auto fast = std::min_element(begin, begin + c.count,
                                     [](const CopyLoop& x, const CopyLoop& y) { return x.from < y.from; });
  if (fast != begin + c.count - 1) {
    std::rotate(fast, fast + 1, begin + c.count - 1);
    c.transposes = true;
  }
  return c;
}

}  // namespace weft
