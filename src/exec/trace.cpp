#include "exec/trace.hpp"

#include <algorithm>
#include <optional>

namespace weft {

/// An operation has one time, and a receive one more for each part.
Trace::Trace(std::size_t operations_of_one) {
  const std::size_t wanted = static_cast<std::size_t>(most_executions) * (2 * operations_of_one + 8);
  operations_.resize(std::min(wanted, most_operations));  // also written, so that no page is new later
  operations_.clear();
}

void Trace::add(Direction direction, const Interpreter& executor) {
  const std::size_t count = executor.count_of_times();
  const double began = count == 0 ? 0 : executor.began();
  for (std::size_t i = 0; i < count && operations_.size() < operations_.capacity(); ++i) {
    const std::optional<OperationTime> time = executor.time(i);
    if (!time || is_empty(*time)) continue;
    TracedOperation kept{*time, direction, executions_};
    kept.begin += began;
    kept.end += began;
    operations_.push_back(kept);
  }
  ++executions_;
}

}  // namespace weft
