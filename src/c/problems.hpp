// Problems as C gives them.
#pragma once

#include "api/ordered_operators.hpp"
#include "weft/problem.hpp"
#include "weft/weft.h"

namespace weft::c {

/// Throws for a struct of an unknown size and values that no enumerator has; all else is checked as for C++.
Problem problem_of(const weft_problem* given);

/// Throws for a number that is none of weft_components. By reference, as such a number must not be read as an
/// enumerator.
Components components_of(const weft_components& components, const char* operation);

/// One number for each axis of a problem; none for NULL.
AxisVector<double> numbers_of(const double* numbers, const Problem& problem);

}  // namespace weft::c
