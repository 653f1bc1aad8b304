// The measurement of one plan: times of the repetitions and of their operations, and the error of the result.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "api/learning.hpp"
#include "api/predict.hpp"
#include "api/trace_text.hpp"
#include "case.hpp"
#include "ceilings.hpp"
#include "statistics.hpp"
#include "traffic.hpp"
#include "weft/comm.hpp"
#include "weft/plan.hpp"

namespace weft::bench {

struct OperationSum {
  double seconds = 0;                          ///< of the slowest rank in the repetition that is the median
  double bytes_all = 0;                        ///< written or sent, over all ranks
  double memory_read = 0, memory_written = 0;  ///< bytes, over all ranks; scratch memory does not count
};

/// The first executions of a plan with effort online, those that try.
struct OnlineRun {
  OnlineTuning tuning;  ///< once they were done; no state: another effort
  int executions = 0;
  double seconds = 0;       ///< all of them with all that is between them, slowest rank
  double first_plan_s = 0;  ///< as many executions of the plan as it was made, as they took among these
};

struct Measured {
  Summary time;  ///< of the slowest rank, per repetition
  /// With --series, of every execution: when it began, in seconds since 1970, and how long it took.
  std::vector<std::array<double, 2>> series;
  double planning_s = 0;      ///< slowest rank
  double memory_bytes = 0;    ///< arrays and workspace, of the rank that needs most
  double error_l2 = 0;        ///< relative, over all ranks; the larger of the two directions
  double median_total_s = 0;  ///< of the execution whose operations `operations` has
  std::map<std::string, OperationSum> operations;
  MemoryTraffic traffic;
  Ceilings ceilings;
  double messages = 0;  ///< between machines, of all ranks, in the directions that are timed
  double memory_bound_s = 0, wire_bound_s = 0;  ///< bytes over bandwidth, of the rank with most bytes
  double flops = 0;
  std::string plan, transport;
  std::string device;  ///< of rank 0; empty: arrays are on the host
  std::map<std::string, Summary> peers;
  std::map<std::string, std::string> about_peers;
  std::map<std::string, double> peers_planning_s;  ///< slowest rank
  std::map<std::string, double> peers_error_l2;    ///< of those that find it
  std::string design;                              ///< all that was chosen, as JSON
  Learnt learnt;                                   ///< the choices of wisdom, trials or predictions
  std::optional<Explanation> explanation;          ///< if it was asked for, or the machine is described
  OnlineRun online;                                ///< with effort online
  std::vector<Prediction> predicted;               ///< on rank 0 with --machine: of each direction
  /// The operations of the last repetition, per rank.
  std::vector<std::vector<TracedOperation>> timeline;
  TracedPlan traced;
};

/// Measures a plan. Collective. Throws `weft::Error` on all ranks.
Measured measure(const Comm& comm, const Case& c);

}  // namespace weft::bench
