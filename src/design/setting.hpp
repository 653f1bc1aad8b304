// What a design goes by beside the problem and the wishes: facts of the ranks, their machines, devices and
// exchanges. They are gathered once, alike on all ranks, and hold no communicator; a machine that is not here
// can be described as well.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "design/islands.hpp"
#include "design/machine_constants.hpp"
#include "geometry/layout.hpp"
#include "geometry/mode_columns.hpp"
#include "traffic/traits.hpp"

namespace weft {

/// Boxes and orders as the ranks gave them.
struct Gathered {
  std::vector<Box> input_boxes, output_boxes;      ///< only for distributions by box
  std::vector<Order> input_orders, output_orders;  ///< empty where no rank asked for one of a `fastest` side
  ModeColumnsPtr columns = {};                     ///< of the sides with modes, if they are given by columns
};

/// An exchange of this build, between these ranks, for arrays where they are.
struct Offer {
  std::string name;
  ExchangeTraits traits;
  std::string why_not;         ///< as an error says it; empty: it serves
  bool overlaps = false;       ///< posted tiles move on while these ranks compute
  bool takes_devices = false;  ///< it may be given memory of devices itself
  std::string missing = {};    ///< why it cannot be used in this process, if that was asked
  int rails = 0;  ///< of exchanges on rails: those that are open among these ranks, if that was asked
};

/// Whether an exchange is one of threads, or of processes, as these ranks are.
inline bool is_of_medium(const ExchangeTraits& traits, bool threads) {
  return traits.among == Among::any || threads == (traits.among == Among::threads);
}

/// Whether an exchange works among these ranks at all; for memory of devices there are more conditions.
inline bool works_among(const ExchangeTraits& traits, const std::vector<int>& nodes, bool threads) {
  return is_of_medium(traits, threads) && (!traits.stores || nodes.size() == 1 || any_equal(nodes));
}

/// Whether what it has posted moves on while these ranks compute.
inline bool moves_on(const ExchangeTraits& traits, const std::vector<int>& nodes) {
  return traits.moves_on == MovesOn::always ||
         (traits.moves_on == MovesOn::between_machines && !all_equal(nodes));
}

/// What all ranks have in memory of devices.
struct DeviceFacts {
  Islands islands;             ///< ranks whose devices reach each other
  std::string no_peers;        ///< why not all of them do
  std::vector<int> numbers;    ///< of every rank's device: one for all that share it
  std::string model;           ///< of rank 0: "NVIDIA H200, 132 multiprocessors"
  std::string text;            ///< "2x1 NVIDIA H200, 132 multiprocessors": two with a rank each
  bool captures_flags = true;  ///< graphs capture flags

  /// Whether no two ranks share one.
  bool own_devices() const { return !any_equal(numbers); }
};

/// What turned out to be impossible while a design was bound, with the reason; empty: it is possible.
struct Closed {
  std::string sharing;  ///< memory cannot be shared
  std::string roomy;    ///< pipelines that keep what departs apart from where parts arrive leave too little
  std::string turns;    ///< FFTs cannot put without waiting for room, or are not the fastest way
};

struct Setting {
  std::string medium;      ///< of messages between ranks, for errors
  std::vector<int> nodes;  ///< the number of the machine of every rank
  bool threads = false;    ///< ranks are threads of one process
  std::vector<Offer> offers;
  Gathered given;
  std::optional<DeviceFacts> devices;  ///< none: arrays are on the host
  // One for all ranks, or one for each.
  std::vector<int> hardware_threads = {1};
  std::vector<Index> cache_bytes = {2 << 20};  ///< of the second-level cache of one core
  MachineConstants constants;
  Closed closed;
  bool rails_as_left =
      false;  ///< a network was lost: of rails that are counted or named, those that are left

  int ranks() const { return static_cast<int>(nodes.size()); }
  bool several_nodes() const { return !all_equal(nodes); }
  /// Whether any two ranks are on one machine.
  bool any_share_memory() const { return any_equal(nodes); }
  /// Per rank, a number that those have in common who store into each other's workspace.
  const std::vector<int>& near_groups() const { return devices ? devices->islands.of : nodes; }
  /// Whether an exchange that stores leaves pairs of ranks to messages.
  bool some_far() const { return devices ? devices->islands.several() : several_nodes(); }
  /// Whether ranks are several processes.
  bool among_processes() const { return ranks() > 1 && !threads; }
};

}  // namespace weft
