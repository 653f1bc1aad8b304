// A call along one axis whose points lie far apart, as contiguous lines aside: copied there, transformed, and
// copied to the result. Libraries of GPUs have kernels for such lines that are as fast as copies for some
// lengths, and take ten times as long for others, by no rule that could be told beforehand.
#pragma once

#include <memory>

#include "fft/embedded_fft.hpp"

namespace weft {

/// A plan for a c2c call along one axis. Its work area has the lines, and what transforms them in place.
std::shared_ptr<EmbeddedPlan> plan_lines_aside(const EmbeddedCall& call, const MakeEmbeddedPlan& make);

/// Whether that is faster on this device, which the thread has entered. Found by trying both on memory of its
/// own, a MiB to 256, as much as the call transforms, once in the life of the process for each device model,
/// length, precision and power of two of that. Never for what no library is slow with: contiguous lines,
/// short ones, and powers of two; nor for small calls, lines that do not lie side by side, and where there is
/// no room to try.
bool are_lines_faster_aside(Device& device, const EmbeddedCall& call, const MakeEmbeddedPlan& make);

}  // namespace weft
