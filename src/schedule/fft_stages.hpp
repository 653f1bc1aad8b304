// Which local FFT transforms an axis that is whole on every rank in several of them.
#pragma once

#include <vector>

#include "geometry/transform.hpp"

namespace weft {

/// When axes are transformed that could be later too: as soon as they are whole on every rank, in the next
/// stage that transforms others, or in the last stage where they are whole. Later FFTs give exchanges
/// something to hide behind, and may find lines that lie better. `automatic`: next for axes that leave a
/// stage where rows of memory are cut for one where they are whole, else early.
enum class FftStage { automatic, early, next, last };

using AxisMask = unsigned;  ///< a bit for each axis

/// Moves axes to later stages. `axes`: what each stage between two reshapes transforms, as early as possible,
/// possibly nothing; `whole`: the axes that each stage could transform; `rows`: whether rows of memory are
/// whole there. A stage keeps one of its axes at least, if no other the slowest one in `order`, so that no
/// reshape is left without an FFT that needs it.
std::vector<AxisMask> postponed(std::vector<AxisMask> axes, const std::vector<AxisMask>& whole,
                                const std::vector<bool>& rows, FftStage when, const Order& order);

}  // namespace weft
