// Which ranks copy into each other's device memory: those of an island, all of whose devices reach each other
// on one machine. What goes from island to island goes by messages.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "comm/comm_impl.hpp"

namespace weft {

struct Islands {
  std::vector<int> of;                  ///< per rank, the first rank of its island
  std::array<int, 2> apart = {-1, -1};  ///< the first two ranks of a machine that do not reach each other

  bool several() const;
  /// Whether any two ranks are on one.
  bool any_pair() const;
  /// "ranks 0-1 and 2,4".
  std::string to_string() const;
};

/// Alike on all ranks. `reaches`: whether this rank's device reaches that of another rank of its machine; a
/// pair counts if both say so. Where that is not transitive, a rank joins the first island all of whose ranks
/// it reaches. Collective; throws the same `weft::Error` on all ranks.
Islands find_islands(CommImpl& comm, const std::function<bool(int)>& reaches);

}  // namespace weft
