// Replays the programs of all ranks on a described machine, operation by operation, without executing them:
// each rank's operations in their order, as the executors run them, parts that travel over links which others
// use at the same time, flags, and waits. What comes out is when each operation begins and ends.
//
// Of arrays in memory of devices, the operations of a lane are a stream's, in their order, with dependencies
// across lanes; the host enqueues them, each with its launch, or all of them as a graph. Ranks that share a
// device take turns on it.
//
// Ranks that are alike may be replayed once: each rank names the one whose program stands for it, and what
// such a rank sends or signals happens when it does there.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/costs.hpp"
#include "program/program.hpp"
#include "weft/timing.hpp"

namespace weft {

/// How programs of arrays in memory of devices run.
struct DeviceReplay {
  std::vector<int> devices = {};  ///< the number of every rank's device; empty: each has one of its own
  bool as_graph = false;          ///< the host launches a graph in the place of each operation
  int roomy = 0;                  ///< reshapes in which no rank waits for room (program/stream_plan.hpp)
};

struct ReplayRequest {
  const MachineDescription& machine;
  std::vector<int> nodes;  ///< the machine of every rank
  std::function<Program(int rank)> program_of;
  CostSetting cost;            ///< but `ranks_of_machine`
  std::vector<int> like = {};  ///< per rank, the one that stands for it, itself among them; empty: all do
  std::optional<DeviceReplay> device = {};  ///< none: arrays on the host
  /// Of a reshape, by its number: for every rank the number of its exchange group. Asked of exchanges that go
  /// in rounds, through the members of a group.
  std::function<std::vector<int>(int reshape)> groups_of = {};
  int rails = 0;  ///< networks that exchanges on rails want to use at a time; 0: all that are described
};

/// An operation of the replay, and what let it end, or begin: an operation of its own rank or of another one.
struct PredictedOperation {
  OperationTime time;   ///< kinds "launch", what the host does to enqueue, and "stage", copies between a
                        ///< device and pinned memory, beside those that are measured
  int cause_rank = -1;  ///< position in `Replayed::ranks`; -1: nothing but the operation itself
  int cause = -1;       ///< number of its operation
  bool opens = false;   ///< the cause let it begin, rather than end
  int lane = 0;         ///< 0: the host; 1 and 2: the streams that compute and transfer
  int before = -1;      ///< number of the operation before it on its lane
};

struct RankTimeline {
  int rank = 0;
  int stands_for = 1;  ///< ranks, itself included
  double end_s = 0;
  Index bytes_sent = 0;      ///< to other machines
  Index bytes_on_rails = 0;  ///< of these, by exchanges on rails
  std::vector<PredictedOperation> operations;
};

struct Replayed {
  double seconds = 0;
  int slowest = 0;  ///< position in `ranks`
  int let_go = 0;   ///< waits for ranks for which another one stands, that it would never have ended
  std::vector<RankTimeline> ranks;
};

/// Throws `weft::Error` for a machine without a link or a device that the programs need, for exchanges of
/// devices that are not modelled, and for programs that wait for each other for ever.
Replayed replay_timed(const ReplayRequest& request);

}  // namespace weft
