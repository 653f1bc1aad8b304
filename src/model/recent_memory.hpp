// The memory that a rank has touched last, to tell what is still in its cache. A rank of many partners
// touches thousands of boxes before the first of them leaves the cache, and asks for each whether it knows
// it: they are kept so that the answer takes few comparisons.
#pragma once

#include <array>
#include <vector>

#include "traffic/messages.hpp"
#include "weft/box.hpp"

namespace weft {

/// The boxes of a space have equally many axes.
class RecentMemory {
 public:
  explicit RecentMemory(double cache_bytes) : cache_bytes_(cache_bytes) {}
  /// The bytes gone through since half of `box` of this space was touched at once; `far` if they are more, or
  /// more than the cache has.
  double distance(Space space, const Box& box, double far) const;
  void touch(Space space, const Box& box, double bytes);

 private:
  /// The n-th of a space knows what surrounds as many boxes, itself the last of them, as the largest power of
  /// two that divides n.
  struct Touched {
    Box box, around;
    double before, after;  ///< bytes gone through until it was touched, and with it
  };
  bool gone(const Touched& t) const { return gone_through_ - t.after >= cache_bytes_; }

  double cache_bytes_;
  double gone_through_ = 0;                                ///< bytes gone through
  std::array<std::vector<Touched>, space_count> touched_;  ///< by space, the oldest first
};

}  // namespace weft
