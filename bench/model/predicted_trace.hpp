// The timeline of a prediction in Chrome's trace format, by the code that writes timelines of executions
// (api/trace_text.hpp): a lane for each replayed rank, which says for how many it stands.
#pragma once

#include <string>

#include "plan_arguments.hpp"

namespace weft::bench {

/// What is predicted, and on what: the name under which the lanes stand.
std::string title_of_prediction(const PlanArguments& arguments, const MachineDescription& machine, int ranks);

/// The file's text. Times count from the begin of the first direction; the second follows when all ranks have
/// done the first.
std::string predicted_trace(const PredictedPlan& plan, const std::string& title);

}  // namespace weft::bench
