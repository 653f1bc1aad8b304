// The ways to do a step along one axis, and which one is the fastest on a device: that of cuFFT depends on
// the length by no rule known beforehand.
#pragma once

#include "fft/calls/fft_sequence.hpp"

namespace weft {

enum class LineWay {
  calls,    ///< of the library, one for each index of the step's loops
  kernels,  ///< `plan_strided_lines`
  aside,    ///< `plan_lines_aside`
};

/// The fastest way on this device, which the thread has entered. The ways that may be it are timed on memory
/// allocated for it, of the step's size up to 256 MiB (or a sixteenth of the free memory) and 256 calls. The
/// answer is kept for the life of the process, by device model, length, precision, ways, inner loops, length
/// of the outermost loop rounded to a power of two, and the percentage of modes that are stored elsewhere.
/// Not timed are steps that have one way only, tiny ones in one call, and those for which memory does not
/// suffice: they are calls.
LineWay fastest_way(Device& device, const CallStep& step, const MakeCallPlan& make);

/// How much longer FFTs along so many axes may take if so many percent of their result need not be copied
/// afterwards: an FFT along one axis takes about as long as 1.4 copies.
inline double saved_by_diverting(Index percent, int axes) {
  constexpr double copies = 1.4;
  return 1 + static_cast<double>(percent) / 100 / (copies * axes);
}

}  // namespace weft
