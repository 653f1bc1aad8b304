// What the builders of programs work with: the schedule, who asks, where the user's arrays lie, and the
// writer of operations.
#pragma once

#include <vector>

#include "program/builder.hpp"
#include "program/op_writer.hpp"

namespace weft {

struct Building {
  Building(const Schedule& s, const std::vector<Leg>& l, const ProgramRequest& r)
      : schedule(s),
        request(r),
        rank(r.rank),
        place(s, l, r.real_bytes),
        writer(s, l, r.scale, !r.nodes.empty()),
        program(writer.program()) {
    program.rank = rank;
    program.ranks = s.ranks;
    program.in_place = r.in_place;
    program.largest_box_bytes = place.largest_box(rank);
    program.reshapes.reserve(l.size());
    const Space in = r.in_place ? Space::output : Space::input;
    input = place.user(s.input(), in, rank, r.input);
    output = place.user(s.output(), Space::output, rank, r.output);
  }
  Building(const Building&) = delete;
  Building& operator=(const Building&) = delete;

  const Leg& leg(int j) const { return place.leg(j); }
  Op op_of(int j, OpKind kind, int k, int peer = -1) const {
    return {.kind = kind, .stage = place.stage_of(j), .reshape = j, .tile = k, .peer = peer};
  }
  /// The axes that a stage transforms; none for stage -1.
  AxisVector<int> axes_of(int stage) const {
    return stage >= 0 ? at(schedule.stages, stage).axes : AxisVector<int>{};
  }
  /// Begins what the program says of reshape `j`, with so many tiles on this rank.
  ReshapeProgram& open(int j, int tiles) {
    const int bytes = place.element_bytes(place.field_before(j));
    program.reshapes.push_back({leg(j), {bytes, {}, leg(j).tiles}, {bytes, {}, leg(j).tiles}});
    ReshapeProgram& r = program.reshapes.back();
    r.sent.tiles.resize(static_cast<std::size_t>(tiles));
    if (leg(j).traits.stores) r.stored.tiles.resize(static_cast<std::size_t>(tiles));
    return r;
  }

  const Schedule& schedule;
  const ProgramRequest& request;
  const int rank;
  const Placement place;
  OpWriter writer;
  Program& program;
  Place input, output;
};

}  // namespace weft
