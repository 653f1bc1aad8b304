// What the interface of C needs of a gradient beyond class Gradient.
#pragma once

#include "api/ordered_operators.hpp"
#include "weft/gradient.hpp"

namespace weft {

struct GradientFacts {
  /// Collective, as the constructor. `order` is that of the derivatives.
  static Gradient make(const Comm& comm, const Problem& problem, const Options& options,
                       const AxisVector<double>& lengths, Components order);
  /// The problem of all derivatives at once, with whatever defaults stand for.
  static const Problem& problem(const Gradient& gradient);
};

}  // namespace weft
