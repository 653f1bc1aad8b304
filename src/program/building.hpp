// What the builders of programs share: the schedule, who asks, where the user's arrays lie, and the writer.
#pragma once

#include <vector>

#include "program/builder.hpp"
#include "program/op_writer.hpp"

namespace weft {

class Building {
 public:
  Building(const Schedule& schedule, const std::vector<ReshapeChoice>& choices, const ProgramRequest& request)
      : schedule_(schedule),
        choices_(choices),
        request_(request),
        rank_(request.rank),
        place_(schedule, choices, request.real_bytes),
        writer_(schedule, choices, request.scale, !request.nodes.empty()),
        p_(writer_.program()) {
    p_.rank = request.rank;
    p_.ranks = schedule.ranks;
    p_.in_place = request.in_place;
    p_.largest_box_bytes = place_.largest_box(rank_);
    const Space in = request.in_place ? Space::output : Space::input;
    input_ = place_.user(schedule.input(), in, rank_, request.input);
    output_ = place_.user(schedule.output(), Space::output, rank_, request.output);
  }
  Building(const Building&) = delete;
  Building& operator=(const Building&) = delete;

 protected:
  const ReshapeChoice& choice(int j) const { return choices_[static_cast<std::size_t>(j)]; }
  Op op_of(int j, OpKind kind, int k, int peer = -1) const {
    return {.kind = kind, .stage = place_.stage_of(j), .reshape = j, .tile = k, .peer = peer};
  }

  /// Whether a rank is on the machine of this one.
  bool near(int rank) const {
    const std::vector<int>& nodes = request_.nodes;
    return nodes.empty() || nodes[static_cast<std::size_t>(rank)] == nodes[static_cast<std::size_t>(rank_)];
  }

  const Schedule& schedule_;
  const std::vector<ReshapeChoice>& choices_;
  const ProgramRequest& request_;
  int rank_;
  Placement place_;
  OpWriter writer_;
  Program& p_;
  Place input_, output_;
};

}  // namespace weft
