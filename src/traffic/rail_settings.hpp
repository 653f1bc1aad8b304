// How exchange ucx uses the networks of a machine, as options say it. What that means among given ranks is
// found when their rails are opened (transport/ucx/rails.hpp).
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>

#include "weft/box.hpp"

namespace weft {

/// Whether transfers are put into the workspaces of their receivers; automatic: where the network does it.
enum class OneSided : std::uint8_t { automatic, on, off };

struct RailSettings {
  std::string rails = "auto";      ///< auto, a number, or names of devices, separated by commas
  bool as_left = false;            ///< of a number, or of names, those that are left will do
  Index chunk = Index{512} << 10;  ///< most bytes of a transfer
  int in_flight = 4;               ///< transfers that a rank sends on a rail at a time
  int barrier = 0;  ///< the ranks of an exchange group wait for each other after so many ring steps; 0: never
  /// Transfers move to another rail between executions if they would be done so many times sooner; 0: never.
  double rebalance = 1.1;
  OneSided one_sided = OneSided::automatic;
  friend bool operator==(const RailSettings&, const RailSettings&) = default;
};

/// The number of rails that option rails gives; none: auto, or names.
inline std::optional<int> number_of_rails(const std::string& rails) {
  int value = 0;
  const auto [stop, error] = std::from_chars(rails.data(), rails.data() + rails.size(), value);
  return error == std::errc() && stop == rails.data() + rails.size() ? std::optional(value) : std::nullopt;
}

/// How many rails the option asks for; 0: auto, as many as there are.
inline int wanted_rails(const std::string& rails) {
  if (rails == "auto") return 0;
  return number_of_rails(rails).value_or(1 + static_cast<int>(std::count(rails.begin(), rails.end(), ',')));
}

}  // namespace weft
