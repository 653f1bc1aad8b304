// The timeline of a plan (option trace): what planning prepares for it together, and what a rank writes alone
// when the plan is destroyed.
#pragma once

#include <string>

#include "api/trace_text.hpp"
#include "exec/bound_plan.hpp"

namespace weft {

class PlanTrace {
 public:
  /// Opens the file, compares the clocks, and lets the plan keep its executions. Collective; throws
  /// `AgreedFailure`.
  PlanTrace(CommImpl& comm, BoundPlan& plan, const std::string& file, const std::string& title,
            std::string text);

  /// Adds what this rank has executed to the file. Local; what fails is warned of.
  void write(BoundPlan& plan) const noexcept;

 private:
  std::string file_;
  int rank_;
  std::string text_;  ///< the printed plan
  TracedPlan plan_;
  double to_trace_ = 0;  ///< from `seconds_now` of this rank to the time of the trace
};

}  // namespace weft
