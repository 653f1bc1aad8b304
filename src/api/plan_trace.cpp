#include "api/plan_trace.hpp"

#include <chrono>
#include <filesystem>

#include "api/trace_file.hpp"
#include "base/timing.hpp"
#include "base/warning.hpp"
#include "comm/agree.hpp"
#include "comm/clock.hpp"

namespace weft {

namespace {

constexpr const char* plan_operation = "plan: trace";

/// What rank 0 says of the file.
struct Beginning {
  double zero = 0;    ///< of its times, in seconds since 1970
  double offset = 0;  ///< from `seconds_now` of rank 0 to these times
  int number = 0;     ///< of the plan
};

}  // namespace

PlanTrace::PlanTrace(CommImpl& comm, BoundPlan& plan, const std::string& file, const std::string& title,
                     std::string text)
    : rank_(comm.rank()), text_(std::move(text)) {
  Beginning beginning;
  together(comm, plan_operation, [&] {
    plan.trace();
    file_ = std::filesystem::absolute(file).string();  // the program may enter another folder
    if (rank_ != 0) return;
    TraceFile opened(file_);
    beginning.zero = opened.begin_or_continue();
    beginning.offset = seconds_since_1970() - seconds_now() - beginning.zero;
    beginning.number = opened.count_plan();
  });
  beginning = all_of(comm, beginning).front();
  together(comm, plan_operation, [&] {
    if (rank_ != 0) TraceFile(file_).begin_or_continue_at(beginning.zero);
  });
  to_trace_ = beginning.offset - clock_ahead(comm);
  plan_ = traced_plan(beginning.number, title, plan.design(), plan.device() != nullptr);
}

void PlanTrace::write(BoundPlan& plan) const noexcept {
  try {
    std::vector<TracedOperation> operations = plan.traced()->operations();
    for (TracedOperation& t : operations) {
      t.begin += to_trace_;
      t.end += to_trace_;
    }
    // Made before the file is locked, for which other ranks wait.
    const std::vector<std::string> events = trace_events(plan_, {rank_}, text_, operations);
    TraceFile(file_).add(events);
  } catch (const std::exception& e) {
    warn("the timeline of a plan on rank " + std::to_string(rank_) + " is not written: " + e.what());
  }
}

}  // namespace weft
