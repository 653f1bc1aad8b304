// The constants of the rules that differ between machines. They are measured (tune/constants.hpp) and kept as
// wisdom.
#pragma once

#include <map>
#include <string>

#include "weft/axis_vector.hpp"

namespace weft {

struct MachineConstants {
  Index subtile = 128 << 10;    ///< bytes of the parts that pass through the cache one by one
  double store_past_from = 2;   ///< second-level caches that a box fills, from which on results go past them
  double two_passes_from = 16;  ///< more than so many: a rank alone transforms in two passes

  /// By name, for a file.
  std::map<std::string, double> to_map() const;
  /// Names that are missing, and values that make no sense, leave the constants as they are by default.
  static MachineConstants from_map(const std::map<std::string, double>& values);

  friend bool operator==(const MachineConstants&, const MachineConstants&) = default;
};

}  // namespace weft
