// The operations of the first executions of a plan on one rank, kept until the plan is destroyed. How many is
// fixed, and the memory for them is taken at once, because executions allocate nothing.
#pragma once

#include <cstddef>
#include <vector>

#include "exec/interpreter.hpp"
#include "weft/plan_types.hpp"
#include "weft/timing.hpp"

namespace weft {

/// `begin` and `end` are by `seconds_now` of this rank.
struct TracedOperation : OperationTime {
  Direction direction = Direction::forward;
  int execution = 0;  ///< from 0, in the order of execution
};

/// Whether an operation moves nothing and is too short to be seen: an empty box, or a flag that was set.
inline bool is_empty(const OperationTime& t) {
  constexpr double unseen = 1e-7;
  return t.bytes == 0 && t.end - t.begin < unseen;
}

class Trace {
 public:
  static constexpr int most_executions = 20;
  static constexpr std::size_t most_operations = 200'000;  ///< 16 MB

  /// Makes room for executions of so many operations.
  explicit Trace(std::size_t operations_of_one);
  bool has_room() const {
    return executions_ < most_executions && operations_.size() < operations_.capacity();
  }
  /// Keeps the execution that `executor` has noted, but for what is empty or finds no room. Allocates
  /// nothing.
  void add(Direction direction, const Interpreter& executor);
  const std::vector<TracedOperation>& operations() const { return operations_; }

 private:
  std::vector<TracedOperation> operations_;
  int executions_ = 0;
};

}  // namespace weft
