// How exchange ucx uses the networks of a machine, as options say it. What that means among given ranks is
// found when their rails are opened (transport/ucx/rails.hpp).
#pragma once

#include <cstdint>
#include <string>

#include "weft/box.hpp"

namespace weft {

/// Whether transfers are put into the workspaces of their receivers; automatic: where the network does it.
enum class OneSided : std::uint8_t { automatic, on, off };

struct RailSettings {
  std::string rails = "auto";  ///< auto, a number, or names of devices, separated by commas
  Index chunk = 0;             ///< most bytes of a transfer; 0: by rule
  int in_flight = 8;           ///< transfers that a rank sends on a rail at a time
  bool barrier = false;        ///< the ranks of an exchange group wait for each other after each ring step
  /// Transfers move to another rail between executions if they would be done so many times sooner; 0: never.
  double rebalance = 1.1;
  OneSided one_sided = OneSided::automatic;
  friend bool operator==(const RailSettings&, const RailSettings&) = default;
};

}  // namespace weft
