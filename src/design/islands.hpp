// Which ranks copy into each other's device memory: those of an island, all of whose devices reach each other
// on one machine. What goes from island to island goes by messages.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "base/arithmetic.hpp"

namespace weft {

struct Islands {
  std::vector<int> of;                  ///< per rank, the first rank of its island
  std::array<int, 2> apart = {-1, -1};  ///< the first two ranks of a machine that do not reach each other

  bool several() const { return !all_equal(of); }
  /// Whether any two ranks are on one.
  bool any_pair() const { return any_equal(of); }
  /// "ranks 0-1 and 2,4".
  std::string to_string() const;

  friend bool operator==(const Islands&, const Islands&) = default;
};

/// `nodes`: the machine of every rank; `mutual`: whether two ranks of a machine reach each other. Where that
/// is not transitive, a rank joins the first island all of whose ranks it reaches.
Islands islands_of(const std::vector<int>& nodes, const std::function<bool(int, int)>& mutual);

}  // namespace weft
