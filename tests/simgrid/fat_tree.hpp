// Fat trees of machines for SimGrid: every machine has a link each way, as have the switches above, and a
// route goes up to the first switch that both machines are below.
#pragma once

#include <simgrid/s4u.hpp>

#include <string>
#include <vector>

namespace weft::test {

struct FatTree {
  std::string name;
  /// Per level from the machines upwards: how many are below a switch, how many switches each of these is
  /// linked to.
  std::vector<unsigned> down, up;
  double bytes_per_s = 12.5e9;
  double hop_s = 0.5e-6;  ///< latency of a link

  int machines() const;
  /// Of the longest route, which goes through the switches of the uppermost level.
  double latency_s() const { return 2 * static_cast<double>(down.size()) * hop_s; }
};

/// Before the engine is asked to simulate: what SimGrid is told of its network, and why.
void choose_network_model();

/// The machines of a tree, in its order: neighbours are below the same switch.
std::vector<simgrid::s4u::Host*> plant(const FatTree& tree);

}  // namespace weft::test
