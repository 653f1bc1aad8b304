#include "schedule/fft_stages.hpp"

namespace weft {

namespace {

/// The stage after `from` that takes the axis; `from` if none does.
std::size_t later_stage(const std::vector<AxisMask>& axes, const std::vector<AxisMask>& whole,
                        std::size_t from, AxisMask axis, FftStage when) {
  std::size_t found = from;
  for (std::size_t i = from + 1; i < axes.size(); ++i) {
    if (when != FftStage::last && axes[i] == 0) continue;
    if ((whole[i] & axis) != 0) found = i;
    if (when != FftStage::last) break;
  }
  return found;
}

}  // namespace

std::vector<AxisMask> postponed(std::vector<AxisMask> axes, const std::vector<AxisMask>& whole,
                                const std::vector<bool>& rows, FftStage when, const Order& order) {
  if (when == FftStage::early) return axes;
  const std::vector<AxisMask> early = axes;
  for (std::size_t i = 0; i < axes.size(); ++i)
    for (int position = order.size() - 1; position >= 0; --position) {
      const AxisMask axis = 1u << order[position];
      if ((early[i] & axis) == 0 || axes[i] == axis) continue;
      const std::size_t stage = later_stage(early, whole, i, axis, when);
      if (when == FftStage::automatic && (rows[i] || !rows[stage])) continue;
      axes[i] &= ~axis;
      axes[stage] |= axis;
    }
  return axes;
}

}  // namespace weft
