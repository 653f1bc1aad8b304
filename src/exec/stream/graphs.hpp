// The executions of a program that were captured as graphs, by the arrays that they are of and by turn: flags
// of a direct exchange are those of one turn. Two sets of arrays are kept, enough for two that take turns;
// the one that was not used for longest makes room for a third.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "device/device.hpp"

namespace weft {

class StreamGraphs {
 public:
  struct Arrays {
    const void* in = nullptr;
    void* out = nullptr;
    std::byte* work = nullptr;
    bool operator==(const Arrays&) const = default;
  };
  struct Execution {
    Arrays arrays;
    int seen = 0;  ///< how often these arrays have come
    std::uint64_t used = 0;
    bool captured = false;               ///< whether the graph is of these arrays
    std::unique_ptr<DeviceGraph> graph;  ///< perhaps of others before them
  };

  /// Arrays are captured when they come again after so many executions of a turn.
  explicit StreamGraphs(int plain) : plain_(plain) {}

  /// The execution to be launched as a graph, once it is captured; null if it is not to be captured yet.
  Execution* find(int turn, const Arrays& arrays) {
    auto& known = executions_[static_cast<std::size_t>(turn)];
    auto* found = std::find_if(known.begin(), known.end(),
                               [&](const Execution& e) { return e.seen > 0 && e.arrays == arrays; });
    if (found == known.end()) {
      found = std::min_element(known.begin(), known.end(),
                               [](const Execution& a, const Execution& b) { return a.used < b.used; });
      found->arrays = arrays;
      found->seen = 0;
      found->captured = false;
    }
    found->used = ++clock_;
    if (found->seen < plain_) {
      ++found->seen;
      return nullptr;
    }
    found->seen = plain_ + 1;
    return found;
  }

 private:
  std::array<std::array<Execution, 2>, 4> executions_;  ///< by turn
  std::uint64_t clock_ = 0;
  int plain_;
};

}  // namespace weft
