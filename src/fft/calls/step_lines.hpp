// The lines of a step along one axis, whatever of its loops is the batch of a call.
#pragma once

#include <vector>

#include "fft/calls/cufft_calls.hpp"

namespace weft {

/// The axis of a line, and all loops over lines, whether batch of the call or loop around it.
struct StepLines {
  FftDimension line;
  std::vector<FftDimension> around;  ///< the batch is the first

  explicit StepLines(const CallStep& step);
  Index count() const;
  /// A step over these lines, in all else equal to `like`.
  CallStep step(const CallStep& like) const;
};

}  // namespace weft
