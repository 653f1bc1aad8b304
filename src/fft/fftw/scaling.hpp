// Multiplies a strided box of numbers by a factor, as FFTW cannot scale. Planning merges its loops, so that
// contiguous runs are as long as possible.
#pragma once

#include <vector>

#include "fft/local_fft.hpp"

namespace weft {

class Scaling {
 public:
  Scaling() = default;
  /// Scales the output of `problem`.
  explicit Scaling(const FftProblem& problem);

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

  double factor_ = 1;
  Index run_ = 1;  ///< contiguous real numbers
  std::vector<FftDimension> loops_;
};

}  // namespace weft
