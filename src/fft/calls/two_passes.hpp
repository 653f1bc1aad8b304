// Lines with more points than a kernel takes, in two passes of kernels: n = n0 n1 points are n1 transforms of
// n0 points, factors exp(-2 pi i j k/n), and n0 transforms of n1 points (Gentleman and Sande, 1966). Between
// them the lines lie in work memory. cuFFT passes through memory more often with such lengths.
#pragma once

#include <memory>

#include "fft/calls/cufft_calls.hpp"
#include "fft/stream_fft.hpp"

namespace weft {

/// Whether a step can be done so: c2c along one axis, whose lines, or whose points, are adjacent in memory on
/// both sides, and whose number of points has two factors that kernels have radices for.
bool passes_can(const CallStep& step);

/// A plan for such a step, whose result is multiplied by `scale`. It needs work memory of the step's size; if
/// that is more than `most_work` bytes, the longest loop is done in parts, down to single indices. Unless it
/// is, modes that the step names are stored elsewhere, if all bounds of pieces are multiples of n0.
std::shared_ptr<StreamFft> plan_lines_in_passes(Device& device, const CallStep& step, std::size_t most_work,
                                                double scale);

}  // namespace weft
