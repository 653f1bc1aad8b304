// Schedules, and programs of them, without plans.
#pragma once

#include "design/rules/rules.hpp"
#include "program/builder.hpp"
#include "program/pipeline.hpp"
#include "support/schedule_request.hpp"

namespace weft::test {

/// What programs know of exchanges.
namespace traits {
inline constexpr ExchangeTraits dense, padded{.form = Form::padded}, boxes{.form = Form::boxes},
    stores{.form = Form::boxes, .stores = true};
}  // namespace traits

struct Built {
  Schedule schedule;
  std::vector<Leg> choices;
  bool in_place = false;
  std::vector<int> nodes = {};
  bool two_lanes = false;

  Program program(int rank) const {
    ProgramRequest request{rank, 8, in_place, {}, {}};
    request.nodes = nodes;
    request.two_lanes = two_lanes;
    return build_program(schedule, choices, request);
  }
};

inline Built setup(const Schedule& schedule, const std::string& pipeline, const PipelineParameters& values,
                   const ExchangeTraits& kind, const PipelineRules& rules = {}) {
  Built s{schedule, choose_pipeline(schedule, find_pipeline(pipeline), values, rules), false};
  for (Leg& c : s.choices) c.traits = kind;
  return s;
}

inline Schedule schedule_of(const Shape& shape, int ranks, const Distribution& in, const Distribution& out,
                            AxisVector<Transform> transforms = {}) {
  return make_schedule(request_of(shape, ranks, in, out, transforms));
}

inline Schedule batch_of(Index items, const Shape& shape, int ranks, const Distribution& in,
                         const Distribution& out, const AxisVector<Transform>& transforms = {}) {
  ScheduleRequest r = request_of(shape, ranks, in, out, transforms);
  add_batch(r, items);
  return make_schedule(r);
}

}  // namespace weft::test
