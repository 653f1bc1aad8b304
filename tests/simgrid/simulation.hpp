// Ranks that SimGrid simulates: each goes through the operations of its program, as the executor of the host
// does, and its parts travel through a simulated network. What computes takes the time that the model says,
// so that only the network is SimGrid's. What is posted travels at once, whether or not its receiver has
// asked for it, as the messages of 60 KiB do into which the exchange p2p cuts its parts.
#pragma once

#include <functional>
#include <vector>

#include "model/timed_replay.hpp"
#include "simgrid/fat_tree.hpp"

namespace weft::test {

/// What the parts of a rank do that are under way at the same time.
enum class Parts {
  share,   ///< the links, as messages do that are posted at once
  follow,  ///< each other: the next one leaves when the one before has arrived
};

struct Simulation {
  const FatTree& tree;
  const ReplayRequest& replay;  ///< programs, exchange groups, machines of ranks, and what operations cost
  Parts parts = Parts::share;
  /// Of exchanges that go in rounds: a part travels before its receiver has come to that round. Small
  /// messages of MPI do; large ones wait until they are asked for.
  bool early_rounds = false;
};

/// Until the last rank has finished. SimGrid has one engine in a process, so that each simulation is a
/// process of its own. Throws `weft::Error` if it fails.
double simulated_seconds(const Simulation& simulation);

}  // namespace weft::test
