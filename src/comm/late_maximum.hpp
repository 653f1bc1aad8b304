// The maximum of the ranks' numbers, given at one time and read later: what ranks decide together without
// waiting for each other where they would not wait anyway. It is apart from all collectives of its Comm, as
// ranks may give their numbers between different ones.
#pragma once

#include <array>

namespace weft {

class LateMaximum {
 public:
  using Numbers = std::array<double, 8>;

  virtual ~LateMaximum() = default;
  /// Gives this rank's numbers; none may be NaN. Waits for nobody and allocates nothing. What was given
  /// before must have been read.
  virtual void give(const Numbers& mine) = 0;
  /// Whether all ranks have given theirs as often as this one. `CommImpl::wait_for` waits for it.
  virtual bool complete() = 0;
  /// The maximum of each number; valid once complete.
  virtual const Numbers& maximum() const = 0;
};

}  // namespace weft
