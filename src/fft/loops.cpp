#include "fft/loops.hpp"

#include <algorithm>
#include <tuple>

namespace weft {

std::vector<FftDimension> merge_loops(std::vector<FftDimension> loops) {
  std::erase_if(loops, [](const FftDimension& d) { return d.n == 1; });
  std::sort(loops.begin(), loops.end(), [](const FftDimension& a, const FftDimension& b) {
    return std::tie(a.to_stride, a.from_stride) < std::tie(b.to_stride, b.from_stride);
  });
  std::vector<FftDimension> merged;
  for (const FftDimension& d : loops) {
    // In sorted order a loop can continue only the one just before it: a loop with a stride in between would
    // overlap both.
    if (!merged.empty() && d.from_stride == merged.back().n * merged.back().from_stride &&
        d.to_stride == merged.back().n * merged.back().to_stride &&
        d.diverted_stride == merged.back().n * merged.back().diverted_stride) {
      merged.back().n *= d.n;
    } else {
      merged.push_back(d);
    }
  }
  return merged;
}

void make_dense(std::vector<FftDimension*> dimensions, Index FftDimension::*stride) {
  std::ranges::stable_sort(dimensions, {}, [&](const FftDimension* d) { return d->*stride; });
  Index next = 1;
  for (FftDimension* d : dimensions) {
    d->*stride = next;
    next *= d->n;
  }
}

}  // namespace weft
