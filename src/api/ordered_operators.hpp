// Operators on vector fields for callers who count dimensions the other way round than axes: Fortran, whose
// dimension 1 is the last axis. There component 1 of a vector, and derivative 1 of a gradient, belong to the
// last axis. A curl is right-handed in the order of its components, so it changes its sign with the order.
#pragma once

#include "weft/operators.hpp"

namespace weft {

/// The axes that components of vectors belong to, in the order of the components.
enum class Components : bool { first_axis_first, last_axis_first };

namespace ordered {

ModeOperator gradient(const Problem& problem, const AxisVector<double>& lengths, Components order);
ModeOperator divergence(const Problem& problem, const AxisVector<double>& lengths, Components order);
ModeOperator curl(const Problem& problem, const AxisVector<double>& lengths, Components order);
ModeOperator solenoidal_part(const Problem& problem, const AxisVector<double>& lengths, Components order);

}  // namespace ordered

}  // namespace weft
