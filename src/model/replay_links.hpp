// The links between the ranks of a timed replay: which one a part takes, how long it is on the network, and
// how long its receiver's processor is busy with it.
#pragma once

#include <optional>
#include <vector>

#include "model/machine_description.hpp"
#include "traffic/traits.hpp"

namespace weft {

class ReplayLinks {
 public:
  /// `nodes`: the machine of every rank; `rails`: how many networks exchanges on rails want, 0 for all.
  ReplayLinks(const MachineDescription& machine, const std::vector<int>& nodes, int rails);

  bool near(int a, int b) const;
  /// Throws `weft::Error` if the machine has no such link.
  const LinkDescription& link(bool near, const char* carries) const;
  /// That of the messages of an exchange, as it finds it, in the same way.
  const LinkDescription& link(bool near, const ExchangeTraits& exchange) const;
  /// Between devices or to one, in the same way.
  const LinkDescription& device_link(const char* between, const char* carries) const;
  /// How long so many bytes of a rank take on the network, which the ranks of its machine share.
  double wire_seconds(const ExchangeTraits& exchange, int rank, Index bytes) const;
  /// What a link that has rested carries at once, in the time that it would take.
  double burst_seconds(const ExchangeTraits& exchange, int rank) const {
    return wire_seconds(exchange, rank, link(false, exchange).burst_bytes);
  }
  /// What the receiver's processor does for a part that has arrived. `messages`: how many of its own it is.
  double take_seconds(const ExchangeTraits& exchange, int receiver, int sender, Index bytes,
                      double messages = 1) const;
  /// The share that a part has in what is all that two machines exchange: one message, or one on each rail.
  double share_of_message(const ExchangeTraits& exchange, int a, int b) const;

 private:
  const MachineDescription& machine_;
  const std::vector<int>& nodes_;
  std::optional<LinkDescription> on_rails_;  ///< between machines, of exchanges on rails; none: as of others
  std::vector<int> ranks_of_;                ///< per machine
  int machines_ = 0;                         ///< that have ranks
  int rails_ = 1;                            ///< of exchanges on rails
};

}  // namespace weft
