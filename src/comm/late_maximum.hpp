// The maximum of the ranks' numbers, given at one time and read later: what ranks decide together without
// waiting for each other where they would not wait anyway. It is apart from all collectives of its Comm, as
// ranks may give their numbers between different ones. A rank that will give no more says so in the place of
// its next numbers, so that nobody waits for them.
#pragma once

#include <array>

namespace weft {

class LateMaximum {
 public:
  using Numbers = std::array<double, 8>;

  /// As `leave`.
  virtual ~LateMaximum() = default;
  /// Gives this rank's numbers; none may be NaN. Waits for nobody and allocates nothing. What was given
  /// before must have been read, and must not have been the last.
  virtual void give(const Numbers& mine) = 0;
  /// Whether all ranks have given theirs as often as this one, or have left. `CommImpl::wait_for` waits for
  /// it.
  virtual bool complete() = 0;
  /// The maximum of each number; valid once complete, unless it is the last.
  virtual const Numbers& maximum() const = 0;
  /// Whether some rank has left in the place of giving its numbers: there is no maximum of these, nor of any
  /// later ones. Valid once complete, and then the same on all ranks.
  virtual bool is_last() const = 0;
  /// This rank gives no more, and reads no more. What it has given before may be under way. Waits for nobody
  /// and allocates nothing.
  virtual void leave() noexcept = 0;
};

}  // namespace weft
