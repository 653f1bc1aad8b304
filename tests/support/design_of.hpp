// What was chosen of a plan, for tests that are about choices and not about how they are printed.
#pragma once

#include <algorithm>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "api/plan_impl.hpp"

namespace weft {

/// How failures of tests show a design.
// NOLINTNEXTLINE(readability-identifier-naming): GoogleTest looks for this name
inline void PrintTo(const Design& design, std::ostream* out) {
  *out << "\n" << to_string(design);
}
// NOLINTNEXTLINE(readability-identifier-naming): GoogleTest looks for this name
inline void PrintTo(Origin origin, std::ostream* out) {
  *out << name_of(origin);
}

}  // namespace weft

namespace weft::test {

inline const Design& design_of(const Plan& plan) {
  return PlanImpl::of(plan).design();
}

/// The facts that the design goes by, and what turned out to be impossible.
inline const Setting& setting_of(const Plan& plan) {
  return PlanImpl::of(plan).setting;
}

/// What wisdom or trials have chosen.
inline const Learnt& learnt_of(const Plan& plan) {
  return PlanImpl::of(plan).learnt;
}

/// How the first reshape of forward is carried out.
inline const Leg& first_leg(const Design& design) {
  return design.legs_of(Direction::forward).at(0);
}
inline const Leg& first_leg(const Plan& plan) {
  return first_leg(design_of(plan));
}

/// The legs of both directions.
inline std::vector<Leg> all_legs(const Design& design) {
  std::vector<Leg> legs = design.legs[0];
  legs.insert(legs.end(), design.legs[1].begin(), design.legs[1].end());
  return legs;
}

/// None if the pipeline of the leg has no such parameter.
inline std::optional<ChosenParameter> find_parameter(const Leg& leg, const std::string& name) {
  const auto found = std::find_if(leg.parameters.begin(), leg.parameters.end(),
                                  [&](const ChosenParameter& p) { return p.name == name; });
  return found == leg.parameters.end() ? std::nullopt : std::optional(*found);
}

/// The local FFTs of this rank, in the order of their operations.
inline std::vector<FftCall> ffts_of(const Plan& plan, Direction direction) {
  const Program& program = PlanImpl::of(plan).bound->program(direction);
  std::vector<FftCall> ffts;
  for (const Op& op : program.ops)
    if (op.kind == OpKind::fft) ffts.push_back(program.ffts[static_cast<std::size_t>(op.call)]);
  return ffts;
}

}  // namespace weft::test
