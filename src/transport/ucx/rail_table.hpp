// How the parts of an exchange are cut into transfers, and which rail carries each. Both are the same on the
// rank that sends and on the one that receives, without a word between them: parts are cut by their size
// alone, and the rail of a transfer is looked up by its ring step and its number in that step, over all
// tiles. The table is the same on all ranks, and may change between executions if it changes on all of them.
#pragma once

#include <algorithm>
#include <vector>

#include "base/arithmetic.hpp"
#include "traffic/rail_settings.hpp"

namespace weft {

/// In how many transfers a part of so many bytes travels.
inline int transfers_of(Index bytes, const RailSettings& settings, int rails) {
  const Index least = std::min(settings.chunk, Index{16} << 10);
  const Index count = divided_up(bytes, settings.chunk);
  // As many on each rail, unless they become too small to be worth that.
  const Index even = divided_up<Index>(count, rails) * rails;
  return static_cast<int>(bytes >= even * least ? even : count);
}

class RailTable {
 public:
  RailTable() = default;
  /// Transfers on all rails in turn.
  RailTable(int steps, int transfers, int rails)
      : transfers_(std::max(transfers, 1)),
        rails_(static_cast<std::size_t>(std::max(steps, 0) * transfers_)) {
    for (int step = 1; step <= steps; ++step)
      for (int i = 0; i < transfers_; ++i) set(step, i, (step - 1 + i) % std::max(rails, 1));
  }

  /// Of transfer `i` of those that a rank sends to the rank `step` places behind it, in all tiles.
  int rail(int step, int i) const { return at(rails_, place(step, i)); }
  void set(int step, int i, int rail) { at(rails_, place(step, i)) = rail; }
  int transfers() const { return transfers_; }

 private:
  int place(int step, int i) const { return (step - 1) * transfers_ + i; }

  int transfers_ = 1;       ///< the most of any step of any rank
  std::vector<int> rails_;  ///< by step and transfer
};

}  // namespace weft
