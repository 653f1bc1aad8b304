// The options that say which schedules may be made.
#pragma once

#include "schedule/planner.hpp"
#include "weft/options.hpp"

namespace weft {

/// Options decomposition, grid and shrink, for the ranks of `request`. Throws `weft::Error` for what does not
/// fit them.
void apply_schedule_options(ScheduleRequest& request, const Options& options);

/// The numbers of "2x4"; nothing for "auto". Throws `weft::Error` for any other text.
AxisVector<int> parsed_grid(const std::string& text);

}  // namespace weft
