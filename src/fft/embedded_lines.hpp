// A step along one axis whose points lie far apart, as contiguous lines aside: copied there, transformed by
// one call, and copied to the result. Libraries of GPUs have kernels for such lines that are as fast as
// copies for some lengths, and take ten times as long for others, by no rule that could be told beforehand;
// and lines in the middle of an array are many small calls of them.
#pragma once

#include <memory>

#include "fft/embedded_fft.hpp"

namespace weft {

/// A plan for a c2c step along one axis. Its work area has the lines, and what transforms them in place: at
/// most `most_work` bytes, for which it takes the longest loop in parts, if lines for a single index of that
/// need no more.
std::shared_ptr<EmbeddedPlan> plan_lines_aside(const EmbeddedStep& step, const MakeEmbeddedPlan& make,
                                               std::size_t most_work);

/// Whether that is faster on this device, which the thread has entered. Found by trying both on memory of its
/// own, as much as the step transforms, up to 256 MiB (or a sixteenth of what is free) and 256 calls; once in
/// the life of the process for each device model, length, precision, loops within the outermost, and power of
/// two of that. Never for what no library is slow with: contiguous lines; a call, or few large ones, of lines
/// side by side that are short, powers of two, fewer than 32, or less than a MiB. Nor where there is no room
/// to try.
bool are_lines_faster_aside(Device& device, const EmbeddedStep& step, const MakeEmbeddedPlan& make);

}  // namespace weft
