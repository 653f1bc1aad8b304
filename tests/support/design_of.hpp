// What was chosen of a plan, for tests that are about choices and not about how they are printed.
#pragma once

#include "api/plan_impl.hpp"

namespace weft::test {

inline const Design& design_of(const Plan& plan) {
  return PlanImpl::of(plan).design();
}

/// How the first reshape of forward is carried out.
inline const Leg& first_leg(const Plan& plan) {
  return design_of(plan).legs_of(Direction::forward).at(0);
}

}  // namespace weft::test
