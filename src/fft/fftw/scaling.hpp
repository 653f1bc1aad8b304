// Multiplies a strided box of numbers by a factor, as FFTW cannot scale. Planning merges its loops, so that
// contiguous runs are as long as possible.
#pragma once

#include <algorithm>
#include <vector>

#include "fft/local_fft.hpp"
#include "fft/loops.hpp"

namespace weft {

class Scaling {
 public:
  /// Scales the output of a problem.
  explicit Scaling(const FftProblem& p) : factor_(p.scale) {
    const FftSide side = side_written(p);
    std::vector<FftDimension> box = box_of(p, side);
    for (FftDimension& d : box) d.from_stride = d.to_stride *= side.complex ? 2 : 1;  // in reals
    if (side.complex) box.push_back({2, 1, 1});
    loops_ = merge_loops(box);
    if (!loops_.empty() && loops_.front().to_stride == 1) {
      run_ = loops_.front().n;
      loops_.erase(loops_.begin());
    }
    std::ranges::reverse(loops_);
  }

  /// `Real` is the type of the problem's precision.
  template <class Real>
  void run(void* to) const {
    if (factor_ == 1) return;
    const auto factor = static_cast<Real>(factor_);
    for_each_index(loops_, Index{0}, static_cast<Real*>(to), [&](Index, Real* line) {
      for (Index i = 0; i < run_; ++i) line[i] *= factor;
    });
  }

 private:
  double factor_;
  Index run_ = 1;  ///< contiguous real numbers
  std::vector<FftDimension> loops_;
};

}  // namespace weft
