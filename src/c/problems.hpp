// Problems as C gives them.
#pragma once

#include "weft/problem.hpp"
#include "weft/weft.h"

namespace weft::c {

/// Throws for a struct of an unknown size and values that no enumerator has; all else is checked as for C++.
Problem problem_of(const weft_problem* given);

}  // namespace weft::c
