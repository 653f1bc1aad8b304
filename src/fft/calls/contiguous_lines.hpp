// A step along one axis whose points lie far apart, done on contiguous lines: copied to work memory
// ("aside"), transformed by one call, and copied to the output. cuFFT transforms strided lines as fast as a
// copy for some lengths, and takes ten times as long for others, by no rule known beforehand. Lines along a
// middle axis of an array also need many small calls.
#pragma once

#include <memory>

#include "fft/calls/fft_sequence.hpp"

namespace weft {

/// A plan for a c2c step along one axis. The work area holds the lines and the work area of their call. If it
/// would be larger than `most_work` bytes, the longest loop is done in parts, down to single indices. The
/// copies multiply the result by `scale`.
std::shared_ptr<StreamFft> plan_lines_aside(const CallStep& step, const MakeCallPlan& make,
                                            std::size_t most_work, double scale);

}  // namespace weft
