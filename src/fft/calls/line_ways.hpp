// The ways to do a step along one axis, and which one is the fastest on a device: that of cuFFT depends on
// the length by no rule known beforehand.
#pragma once

#include "fft/calls/fft_sequence.hpp"

namespace weft {

enum class LineWay {
  calls,    ///< of the library, one for each index of the step's loops
  kernels,  ///< `plan_strided_lines`
  aside,    ///< `plan_lines_aside`
  passes,   ///< `plan_lines_in_passes`
};

/// The fastest way on this device, which the thread has entered. The ways that may be it are timed on memory
/// allocated for it, of the step's size up to 256 MiB (or a sixteenth of the free memory) and 256 calls. The
/// answer is kept for the life of the process, by device model, length, precision, ways, inner loops, length
/// of the outermost loop rounded to a power of two, and the number of modes that are stored elsewhere: a way
/// that cannot do that is timed with a copy of them behind it.
/// Not timed are steps that have one way only, tiny ones in one call, and those for which memory does not
/// suffice: they are calls.
LineWay fastest_way(Device& device, const CallStep& step, const MakeCallPlan& make);

}  // namespace weft
