#include "model/replay_rank.hpp"

#include <algorithm>

#include "base/arithmetic.hpp"

namespace weft {

namespace {

void in_ring_order(std::vector<ReplayPart>& parts, int rank, int ranks) {
  std::sort(parts.begin(), parts.end(), [&](const ReplayPart& a, const ReplayPart& b) {
    return ring_distance(rank, a.peer, ranks) < ring_distance(rank, b.peer, ranks);
  });
}

std::vector<int> distances_to(const std::vector<ReplayPart>& parts, int rank, int ranks) {
  std::vector<int> distances;
  for (const ReplayPart& p : parts)
    if (p.peer != rank) distances.push_back(ring_distance(p.peer, rank, ranks));
  std::sort(distances.begin(), distances.end());
  return distances;
}

ReplayTile tile_of(const ReshapeProgram& reshape, std::size_t number, int rank, int ranks) {
  ReplayTile tile;
  const auto add = [&](const std::vector<Message>& messages, std::vector<ReplayPart>& parts, bool own) {
    for (const Message& m : messages)
      if (own || m.peer != rank) parts.push_back({m.peer, m.bytes});
  };
  if (number < reshape.sent.tiles.size()) {
    const TileMessages& messages = reshape.sent.tiles[number];
    add(messages.sends, tile.sends, false);
    add(messages.receives, tile.receives, true);
    for (const Message& m : messages.sends)
      if (m.peer == rank) tile.own_bytes = m.bytes;
  }
  if (number < reshape.stored.tiles.size()) {
    add(reshape.stored.tiles[number].sends, tile.stores, false);
    add(reshape.stored.tiles[number].receives, tile.stored, false);
  }
  in_ring_order(tile.sends, rank, ranks);
  in_ring_order(tile.stores, rank, ranks);
  tile.behind_senders = distances_to(tile.receives, rank, ranks);
  tile.behind_storers = distances_to(tile.stored, rank, ranks);
  tile.departed.assign(tile.receives.size(), {not_yet, not_yet, not_yet});
  tile.arrived.assign(tile.receives.size(), not_yet);
  tile.arrival_of.assign(tile.receives.size(), {});
  tile.full.assign(tile.stores.size(), not_yet);
  tile.full_number.assign(tile.stores.size(), -1);
  return tile;
}

CostSetting with_ranks(CostSetting setting, int ranks_of_machine) {
  setting.ranks_of_machine = ranks_of_machine;
  return setting;
}

/// What the host does by itself for a rank with its arrays on a device; all else is done on streams.
bool is_of_host(OpKind kind) {
  return kind == OpKind::post || kind == OpKind::wait_sent || kind == OpKind::receive;
}

std::optional<DeviceCosts> device_costs(const ReplayRequest& request) {
  if (!request.device) return std::nullopt;
  return DeviceCosts(device_of(request.machine), request.cost, request.device->as_graph);
}

}  // namespace

namespace {

/// Of parts that arrive at the same time the first of the program comes first.
auto later_in(const ReplayTile& tile) {
  return
      [&tile](int a, int b) { return std::pair(at(tile.arrived, a), a) > std::pair(at(tile.arrived, b), b); };
}

}  // namespace

void ReplayTile::arrive(int receive, double time) {
  at(arrived, receive) = time;
  there.push_back(receive);
  std::push_heap(there.begin(), there.end(), later_in(*this));
}

void ReplayTile::take_first() {
  std::pop_heap(there.begin(), there.end(), later_in(*this));
  there.pop_back();
  ++taken;
}

ReplayRank::ReplayRank(Program p, const ReplayRequest& request, int ranks_of_machine)
    : program(std::move(p)),
      costs(request.machine, with_ranks(request.cost, ranks_of_machine)),
      device(device_costs(request)),
      recent(device ? device->cache_bytes() : costs.cache_bytes()),
      footprint(2 * static_cast<double>(program.largest_box_bytes)) {
  timeline.rank = program.rank;
  for (const ReshapeProgram& r : program.reshapes) {
    const int most = std::max(r.sent.most_tiles, r.stored.most_tiles);
    std::vector<ReplayTile>& list = tiles.emplace_back();
    for (int t = 0; t < most; ++t)
      list.push_back(tile_of(r, static_cast<std::size_t>(t), program.rank, program.ranks));
  }
  make_lanes(request);
}

/// The host does the operations in their order. For a device it enqueues them in that of the launches, but
/// for what it carries itself: that of a tile begins with copies to pinned memory.
void ReplayRank::make_lanes(const ReplayRequest& request) {
  lanes.resize(device ? 3 : 1);
  std::vector<ReplayStep>& steps = lanes[host_lane].steps;
  if (!device) {
    for (int id = 0; id < static_cast<int>(program.ops.size()); ++id) {
      steps.push_back({.op = id});
      // What is unpacked as it arrives belongs to the receive.
      if (program.ops[static_cast<std::size_t>(id)].kind == OpKind::receive)
        id += program.ops[static_cast<std::size_t>(id)].count;
    }
    return;
  }
  streams = plan_streams(program, request.device->roomy);
  events.resize(static_cast<std::size_t>(streams.events));
  waits = streams.waits;
  for (const StreamPlan::Launch& launch : streams.launches) {
    const int first = weft::at(streams.order, launch.first);
    const OpKind kind = weft::at(program.ops, first).kind;
    if (!is_of_host(kind)) {
      for (int k = 0; k < launch.count; ++k)
        steps.push_back(
            {.op = weft::at(streams.order, launch.first + k), .does = StepDoes::enqueue, .joins = k > 0});
      continue;
    }
    if (kind == OpKind::post) {
      const int staged = add_event();
      steps.push_back({.op = first, .does = StepDoes::stage, .event = staged});
      waits.push_back(staged);
      const int end = static_cast<int>(waits.size());
      steps.push_back({.op = first, .waits_begin = end - 1, .waits_end = end});
    } else {
      steps.push_back({.op = first});
    }
  }
}

bool ReplayRank::finished() const {
  return std::all_of(lanes.begin(), lanes.end(), [](const ReplayLane& l) { return l.finished(); });
}

double ReplayRank::fft_seconds(const FftCall& call) {
  const Distances distances{recent.distance(call.from.space, call.from_box, footprint),
                            recent.distance(call.to.space, call.to_box, footprint)};
  const auto bytes = [](const Box& box, int element) { return static_cast<double>(box.count()) * element; };
  if (call.from.space != call.to.space)
    recent.touch(call.from.space, call.from_box, bytes(call.from_box, call.from_bytes));
  recent.touch(call.to.space, call.to_box, bytes(call.to_box, call.to_bytes));
  return device ? device->fft_seconds(call, distances) : costs.fft_seconds(call, distances);
}

Distances ReplayRank::touch(const CopyCall& call) {
  const bool away = call.to_rank >= 0;
  Distances distances{recent.distance(call.from.space, call.box, footprint), footprint};
  if (!away) distances.to = recent.distance(call.to.space, call.box, footprint);
  recent.touch(call.from.space, call.box, static_cast<double>(bytes_read(call)));
  if (!away) recent.touch(call.to.space, call.box, static_cast<double>(bytes_written(call)));
  return distances;
}

double ReplayRank::copy_seconds(const CopyCall& call) {
  const Distances distances = touch(call);
  return device ? device->copy_seconds(call, distances) : costs.copy_seconds(call, distances);
}

double ReplayRank::local_seconds(const Op& o) {
  return slowdown * (o.kind == OpKind::fft ? fft_seconds(weft::at(program.ffts, o.call))
                                           : copy_seconds(weft::at(program.copies, o.call)));
}

int ReplayRank::note(int number, const OperationTime& time) {
  ReplayLane& l = lane(number);
  PredictedOperation o{.time = time, .lane = number, .before = l.last};
  const ReplayCause cause = l.cause.rank >= 0 ? l.cause : l.opener;
  o.opens = l.cause.rank < 0 && cause.rank >= 0;
  o.cause_rank = cause.rank;
  o.cause = cause.number;
  l.cause = l.opener = {};
  timeline.operations.push_back(o);
  return l.last = static_cast<int>(timeline.operations.size()) - 1;
}

int ReplayRank::note(int number, const Op& o, double begin, double end, const LocalBytes& bytes) {
  return note(number, {activity_of(o.kind), o.stage, o.reshape, o.tile, begin, end, bytes.written,
                       bytes.memory_read, bytes.memory_written, number == transfer_lane ? 1 : 0, o.peer});
}

}  // namespace weft
