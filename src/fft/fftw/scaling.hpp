// Multiplies a strided box of numbers by a factor, as FFTW cannot scale. Planning merges its loops, so that
// contiguous runs are as long as possible.
#pragma once

#include <vector>

#include "fft/local_fft.hpp"
#include "fft/merge_loops.hpp"

namespace weft {

class Scaling {
 public:
  /// Scales the output of a problem.
  explicit Scaling(const FftProblem& p) : factor_(p.scale) {
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

  /// `Real` is the type of the problem's precision.
  template <class Real>
  void run(void* to) const {
    if (factor_ != 1) run(loops_.size(), static_cast<Real*>(to));
  }

 private:
  /// Runs the loops below `level`; the last loop is the outermost.
  template <class Real>
  void run(std::size_t level, Real* to) const {
    if (level == 0) {
      const auto factor = static_cast<Real>(factor_);
      for (Index i = 0; i < run_; ++i) to[i] *= factor;
      return;
    }
    const FftDimension& loop = loops_[level - 1];
    for (Index i = 0; i < loop.n; ++i) run(level - 1, to + i * loop.to_stride);
  }

  double factor_;
  Index run_ = 1;  ///< contiguous real numbers
  std::vector<FftDimension> loops_;
};

}  // namespace weft
