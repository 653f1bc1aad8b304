// The links between the ranks of a timed replay: which one a part takes, how long it is on the network, and
// how long its receiver's processor is busy with it.
#pragma once

#include <vector>

#include "model/machine_description.hpp"

namespace weft {

class ReplayLinks {
 public:
  /// `nodes`: the machine of every rank.
  ReplayLinks(const MachineDescription& machine, const std::vector<int>& nodes);

  bool near(int a, int b) const;
  /// Throws `weft::Error` if the machine has no such link.
  const LinkDescription& link(bool near, const char* carries = "messages") const;
  /// Between devices or to one, in the same way.
  const LinkDescription& device_link(const char* between, const char* carries) const;
  /// How long so many bytes of a rank take on the network, which the ranks of its machine share.
  double wire_seconds(int rank, Index bytes) const;
  /// What a link that has rested carries at once, in the time that it would take.
  double burst_seconds(int rank) const { return wire_seconds(rank, link(false).burst_bytes); }
  /// What the receiver's processor does for a part that has arrived. `messages`: how many of its own it is.
  double take_seconds(int receiver, int sender, Index bytes, double messages = 1) const;
  /// The share that a part has in the message which is all that two machines exchange.
  double share_of_message(int a, int b) const;

 private:
  const MachineDescription& machine_;
  const std::vector<int>& nodes_;
  std::vector<int> ranks_of_;  ///< per machine
  int machines_ = 0;           ///< that have ranks
};

}  // namespace weft
