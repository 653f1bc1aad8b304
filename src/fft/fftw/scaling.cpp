#include "fft/fftw/scaling.hpp"

#include "fft/merge_loops.hpp"

namespace weft {

Scaling::Scaling(const FftProblem& p) : factor_(p.scale) {
  const bool half = p.kind == FftKind::real && p.direction == Direction::forward;
  const bool complex_output = p.kind == FftKind::c2c || half;
  std::vector<FftDimension> box;  // in reals
  const auto add = [&](Index n, Index stride) { box.push_back({n, stride, stride}); };
  for (const FftDimension& d : p.loops) add(d.n, complex_output ? 2 * d.to_stride : d.to_stride);
  for (const FftDimension& d : p.dimensions)
    add(half && &d == &p.dimensions.back() ? d.n / 2 + 1 : d.n,
        complex_output ? 2 * d.to_stride : d.to_stride);
  if (complex_output) add(2, 1);
  loops_ = merge_loops(box);
  if (!loops_.empty() && loops_.front().to_stride == 1) {
    run_ = loops_.front().n;
    loops_.erase(loops_.begin());
  }
}

}  // namespace weft
