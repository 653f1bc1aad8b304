#include "fft/fftw/scaling.hpp"

#include "fft/merge_loops.hpp"

namespace weft {

Scaling::Scaling(const FftProblem& p) : factor_(p.scale) {
  const FftSide side = side_written(p);
  std::vector<FftDimension> box;  // in reals
  const auto add = [&](Index n, Index stride) { box.push_back({n, stride, stride}); };
  for (const FftDimension& d : p.loops) add(d.n, side.complex ? 2 * d.to_stride : d.to_stride);
  for (const FftDimension& d : p.dimensions)
    add(side.halved && &d == &p.dimensions.back() ? d.n / 2 + 1 : d.n,
        side.complex ? 2 * d.to_stride : d.to_stride);
  if (side.complex) add(2, 1);
  loops_ = merge_loops(box);
  if (!loops_.empty() && loops_.front().to_stride == 1) {
    run_ = loops_.front().n;
    loops_.erase(loops_.begin());
  }
}

}  // namespace weft
