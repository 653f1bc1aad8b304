// A step along one axis by kernels of Weft, which transform lines where they lie (kernels/lines): no call for
// each plane, no copies, and the time of about one copy for any length with factors 2, 3, 5 and 7.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "fft/calls/cufft_calls.hpp"
#include "fft/calls/step_lines.hpp"
#include "fft/stream_fft.hpp"
#include "kernels/lines/radices.hpp"

namespace weft {

/// Whether kernels can do a step: c2c along one axis whose points lie apart, with at most 4096 points, whose
/// lines lie side by side, so that they are adjacent in memory.
bool kernels_can(const CallStep& step);

/// Whether kernels can do a step along one axis whose points are adjacent, and whose modes are, too. It is
/// for steps that store all modes elsewhere: libraries are as fast with contiguous complex lines.
bool kernels_can_rows(const CallStep& step);

/// Whether kernels can do a step from rows of real numbers to their modes, or back: an even number of them
/// whose half kernels have lines for, all rows beginning where a complex number may.
bool kernels_can_real_rows(const CallStep& step);

/// Whether they can store the modes elsewhere that a step names: if lines are adjacent there as well, or, of
/// lines of adjacent points, all modes.
bool kernels_can_divert(const CallStep& step);

/// A plan for such a step, whose result is multiplied by `scale`. It has tables of n complex numbers in all
/// in device memory, and needs no work memory. It stores modes elsewhere if it can.
std::shared_ptr<StreamFft> plan_strided_lines(Device& device, const CallStep& step, double scale);

/// The loops over the lines of a step, in the order of their strides in the output: what is stored in pieces
/// costs more than what is read in pieces.
std::vector<FftDimension> loops_of(const StepLines& lines);

/// Fills in radices and roots of a step, and returns the memory of the roots.
std::shared_ptr<std::byte> complete_line_step(Device& device, LineStep& step, const LineRadices& radices);

/// The radices of a step whose lines several blocks of threads share, at most `most_parts` (`part_radices`);
/// none if one block is as fast: for lines in short runs of memory, as those in cells (ADR 0064), too.
std::optional<LineRadices> shared_radices(const LineStep& step, int most_parts);

/// A plan for one launch of the kernel, whose radices and roots it fills in, and those of its factors. `step`
/// has a number of points for which there are radices.
std::shared_ptr<StreamFft> plan_line_step(Device& device, LineStep step);

}  // namespace weft
