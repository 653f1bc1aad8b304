// Replays the programs of all ranks on a described machine, operation by operation, without executing them:
// each rank's operations in their order, as the executor of the host runs them, parts that travel over links
// which others use at the same time, flags, and waits. What comes out is when each operation begins and ends.
//
// Ranks that are alike may be replayed once: each rank names the one whose program stands for it, and what
// such a rank sends or signals happens when it does there.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/costs.hpp"
#include "program/program.hpp"
#include "weft/timing.hpp"

namespace weft {

struct ReplayRequest {
  const MachineDescription& machine;
  std::vector<int> nodes;                       ///< the machine of every rank
  std::function<Program(int rank)> program_of;  ///< of arrays on the host
  CostSetting cost;                             ///< but `ranks_of_machine`
  std::vector<int> like = {};  ///< per rank, the one that stands for it, itself among them; empty: all do
};

/// An operation of the replay, and what let it end: an operation of its own rank or of another one.
struct PredictedOperation {
  OperationTime time;
  int cause_rank = -1;  ///< position in `Replayed::ranks`; -1: nothing but the operation itself
  int cause = -1;       ///< number of its operation
};

struct RankTimeline {
  int rank = 0;
  int stands_for = 1;  ///< ranks, itself included
  double end_s = 0;
  Index bytes_sent = 0;  ///< to other machines
  std::vector<PredictedOperation> operations;
};

struct Replayed {
  double seconds = 0;
  int slowest = 0;  ///< position in `ranks`
  std::vector<RankTimeline> ranks;
};

/// Throws `weft::Error` for a machine without a link that the programs need, and for programs that wait for
/// each other for ever.
Replayed replay_timed(const ReplayRequest& request);

}  // namespace weft
