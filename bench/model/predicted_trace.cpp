#include "predicted_trace.hpp"

#include <map>

#include "api/problem_check.hpp"
#include "api/trace_text.hpp"
#include "base/text.hpp"

namespace weft::bench {

namespace {

/// A rank of the trace. Both directions have the same boxes, so that the same ranks stand for others.
struct PredictedRank {
  int stands_for = 1;
  std::vector<TracedOperation> operations;
};

}  // namespace

std::string title_of_prediction(const PlanArguments& arguments, const MachineDescription& machine,
                                int ranks) {
  Problem problem = arguments.problem.problem();
  check_problem(problem, ranks);
  return title_of(problem, ranks, arguments.threads ? "threads" : "mpi") + ", predicted for " + machine.name;
}

std::string predicted_trace(const PredictedPlan& plan, const std::string& title) {
  std::map<int, PredictedRank> ranks;
  double begin = 0;
  int execution = 0;
  for (const PlanPrediction& p : plan.directions) {
    for (const RankTimeline& timeline : p.replayed.ranks) {
      PredictedRank& rank = ranks[timeline.rank];
      rank.stands_for = timeline.stands_for;
      for (const PredictedOperation& o : timeline.operations) {
        // As traces of executions have it: the streams of a device, without the host that enqueues.
        if (plan.design.on_device() && o.lane == 0) continue;
        TracedOperation t{o.time, p.direction, execution};
        t.begin += begin;
        t.end += begin;
        rank.operations.push_back(t);
      }
    }
    begin += p.prediction.seconds;
    ++execution;
  }
  const TracedPlan traced = traced_plan(1, title, plan.design, plan.design.on_device());
  std::vector<std::string> events;
  for (const auto& [rank, of] : ranks)
    for (std::string& event : trace_events(traced, {rank, of.stands_for},
                                           events.empty() ? to_string(plan.design) : "", of.operations))
      events.push_back(std::move(event));
  return trace_begin + join(events, trace_between) + trace_end;
}

}  // namespace weft::bench
