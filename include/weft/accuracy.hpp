// What codecs have done to a result, as `Plan::measured_error` finds it.
#pragma once

namespace weft {

/// The difference of a result from the one that exact messages give, over all points of all ranks and of the
/// whole batch. Rounding errors of local FFTs are in both. 0: there is none; NaN: a result is not finite.
struct Accuracy {
  double l2 = 0;       ///< its 2-norm over that of the exact result
  double maximum = 0;  ///< the absolute value of its largest element over that of the exact result's largest
  /// What `l2` is at most: what the printed plan says, or, where modes or points are left out behind an
  /// exchange, what follows from the 2-norms of the input and of the exact result.
  double bound = 0;
};

}  // namespace weft
