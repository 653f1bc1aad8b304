#include "traffic.hpp"

#include <algorithm>

#include "api/plan_impl.hpp"
#include "program/pipeline.hpp"
#include "transport/node/slots.hpp"

namespace weft::bench {

namespace {

double bytes_of(const Field& field, int real_bytes) {
  double bytes = field.element == Element::real ? real_bytes : 2 * real_bytes;
  for (Index n : field.shape) bytes *= static_cast<double>(n);
  return bytes;
}

/// What of an array comes from other ranks in a reshape between two fields.
double moving_share(const Field& from, const Field& to, int ranks) {
  double all = 0, stays = 0;
  for (int r = 0; r < ranks; ++r) {
    all += static_cast<double>(to.box(r).count());
    stays += static_cast<double>(intersect(from.box(r), to.box(r)).count());
  }
  return all == 0 ? 0 : 1 - stays / all;
}

}  // namespace

double bytes_sent(const Plan& plan, Direction direction) {
  const Program& p = PlanImpl::of(plan).bound->program(direction);
  Index bytes = 0;
  for (const Op& op : p.ops) {
    if (op.kind == OpKind::put) {
      const CopyCall& c = p.copies[static_cast<std::size_t>(op.call)];
      if (c.to_rank >= 0) bytes += c.box.count() * c.element_bytes;
    }
    if (op.kind != OpKind::post) continue;
    const ReshapeMessages& all = p.reshapes[static_cast<std::size_t>(op.reshape)].sent;
    for (const Message& m : all.tiles[static_cast<std::size_t>(op.tile)].sends)
      if (m.peer != p.rank) bytes += m.bytes;
  }
  return static_cast<double>(bytes);
}

Index messages_between_machines(const Design& design, Direction direction, const std::vector<int>& nodes,
                                int rank, int rails) {
  const NodeRails by(numbered(nodes), rails);
  std::vector<Program> mates;  // the ranks of this machine, where they gather
  std::vector<int> numbers;
  int place = 0;
  const std::vector<Leg>& legs = design.legs_of(direction);
  const bool gathers =
      std::any_of(legs.begin(), legs.end(), [](const Leg& leg) { return leg.traits.gathers; });
  for (int r = 0; r < static_cast<int>(nodes.size()); ++r) {
    if (r == rank) place = static_cast<int>(mates.size());
    if (r == rank || (gathers && at(nodes, r) == at(nodes, rank))) {
      mates.push_back(program_of(design, direction, r));
      numbers.push_back(r);
    }
  }
  const auto ranks = static_cast<int>(mates.size());
  Index count = 0;
  for (std::size_t j = 0; j < legs.size(); ++j) {
    const ReshapeMessages& mine = at(mates, place).reshapes[j].sent;
    if (!legs[j].traits.gathers) {
      for (const TileMessages& t : mine.tiles)
        count += std::count_if(t.sends.begin(), t.sends.end(),
                               [&](const Message& m) { return at(nodes, m.peer) != at(nodes, rank); });
      continue;
    }
    NodeTraffic traffic(ranks, mine.most_tiles, by.machines(), rails);
    for (int r = 0; r < ranks; ++r) traffic.add(r, at(numbers, r), at(mates, r).reshapes[j].sent, by);
    for (const NodeSlot& slot : node_slots(traffic, ranks, place).slots)
      count += slot.sends && slot.owner == place ? 1 : 0;
  }
  return count;
}

void add_bound(MemoryTraffic& traffic, const Plan& plan, Direction direction) {
  const Design& design = PlanImpl::of(plan).design();
  const Schedule& schedule = design.schedule(direction);
  const std::vector<Field>& fields = schedule.fields;
  const auto pass = [&](std::size_t from, std::size_t to, double share = 1) {
    traffic.bound_passes += share;
    traffic.bound += share * (bytes_of(fields[from], design.program.real_bytes) +
                              bytes_of(fields[to], design.program.real_bytes));
  };
  const std::vector<Stage>& stages = schedule.stages;
  for (std::size_t i = 0; i < stages.size(); ++i)
    if (stages[i].kind == Stage::Kind::fft) pass(i, i + 1);
  // A reshape is part of the FFTs beside it. Where it has none, it takes a copy from or to the user's array,
  // unless the exchange does that itself. What stays on a rank needs no copy behind the last reshape.
  const std::vector<int> reshapes = reshape_stages(schedule);
  for (std::size_t j = 0; j < reshapes.size(); ++j) {
    const auto at = static_cast<std::size_t>(reshapes[j]);
    const ExchangeTraits& traits = design.legs_of(direction)[j].traits;
    if (!traits.stores && traits.form == Form::boxes) continue;
    if (at == 0) pass(at, at);
    if (at + 1 == stages.size())
      pass(at + 1, at + 1, moving_share(fields[at], fields[at + 1], schedule.ranks));
  }
}

}  // namespace weft::bench
