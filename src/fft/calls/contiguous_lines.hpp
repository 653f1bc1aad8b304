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

/// Whether that is faster on this device, which the thread has entered. Both ways are timed on memory
/// allocated for it, of the step's size up to 256 MiB (or a sixteenth of the free memory) and 256 calls. The
/// answer is kept for the life of the process, by device model, length, precision, inner loops, and length of
/// the outermost loop rounded to a power of two. Steps that cuFFT is known to do fast are not timed
/// (`may_be_slow`), nor those for which memory does not suffice.
bool are_lines_faster_aside(Device& device, const CallStep& step, const MakeCallPlan& make);

}  // namespace weft
