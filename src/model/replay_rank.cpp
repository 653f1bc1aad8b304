#include "model/replay_rank.hpp"

#include <algorithm>

#include "base/arithmetic.hpp"

namespace weft {

namespace {

/// Points of both boxes. Most boxes have none, which this says sooner than `intersect`.
Index common_points(const Box& a, const Box& b) {
  Index points = 1;
  for (int i = 0; i < a.lo.size(); ++i) {
    const Index length = std::min(a.hi[i], b.hi[i]) - std::max(a.lo[i], b.lo[i]);
    if (length <= 0) return 0;
    points *= length;
  }
  return points;
}

}  // namespace

double RecentMemory::distance(Space space, const Box& box, double far) const {
  if (space == Space::scratch) return 0;
  const Index half = (box.count() + 1) / 2;
  double gone_through = 0;
  for (const Touched& t : last_) {
    gone_through += t.bytes;
    if (t.space != space || t.box.lo.size() != box.lo.size()) continue;
    if (common_points(t.box, box) >= half) return std::min(gone_through, far);
  }
  return far;
}

void RecentMemory::touch(Space space, const Box& box, double bytes) {
  last_.push_front({space, box, bytes});
  sum_ += bytes;
  while (sum_ - last_.back().bytes >= cache_bytes_) {
    sum_ -= last_.back().bytes;
    last_.pop_back();
  }
}

namespace {

void in_ring_order(std::vector<ReplayPart>& parts, int rank, int ranks) {
  std::sort(parts.begin(), parts.end(), [&](const ReplayPart& a, const ReplayPart& b) {
    return ring_distance(rank, a.peer, ranks) < ring_distance(rank, b.peer, ranks);
  });
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
  tile.departed.assign(tile.receives.size(), {not_yet, not_yet, not_yet});
  tile.arrived.assign(tile.receives.size(), not_yet);
  tile.taken.assign(tile.receives.size(), 0);
  tile.arrival_of.assign(tile.receives.size(), {-1, -1});
  tile.full.assign(tile.stores.size(), not_yet);
  tile.full_number.assign(tile.stores.size(), -1);
  return tile;
}

CostSetting with_ranks(CostSetting setting, int ranks_of_machine) {
  setting.ranks_of_machine = ranks_of_machine;
  return setting;
}

}  // namespace

ReplayRank::ReplayRank(Program p, const ReplayRequest& request, int ranks_of_machine)
    : program(std::move(p)),
      costs(request.machine, with_ranks(request.cost, ranks_of_machine)),
      recent(costs.cache_bytes()),
      footprint(2 * static_cast<double>(program.largest_box_bytes)) {
  timeline.rank = program.rank;
  for (const ReshapeProgram& r : program.reshapes) {
    const int most = std::max(r.sent.most_tiles, r.stored.most_tiles);
    std::vector<ReplayTile>& list = tiles.emplace_back();
    for (int t = 0; t < most; ++t)
      list.push_back(tile_of(r, static_cast<std::size_t>(t), program.rank, program.ranks));
  }
}

double ReplayRank::fft_seconds(const FftCall& call) {
  const Distances distances{recent.distance(call.from.space, call.from_box, footprint),
                            recent.distance(call.to.space, call.to_box, footprint)};
  const auto bytes = [](const Box& box, int element) { return static_cast<double>(box.count()) * element; };
  if (call.from.space != call.to.space)
    recent.touch(call.from.space, call.from_box, bytes(call.from_box, call.from_bytes));
  recent.touch(call.to.space, call.to_box, bytes(call.to_box, call.to_bytes));
  return costs.fft_seconds(call, distances);
}

double ReplayRank::copy_seconds(const CopyCall& call) {
  const bool away = call.to_rank >= 0;
  Distances distances{recent.distance(call.from.space, call.box, footprint), footprint};
  if (!away) distances.to = recent.distance(call.to.space, call.box, footprint);
  recent.touch(call.from.space, call.box, static_cast<double>(bytes_read(call)));
  if (!away) recent.touch(call.to.space, call.box, static_cast<double>(bytes_written(call)));
  return costs.copy_seconds(call, distances);
}

double ReplayRank::local_seconds(const Op& o) {
  return slowdown * (o.kind == OpKind::fft ? fft_seconds(weft::at(program.ffts, o.call))
                                           : copy_seconds(weft::at(program.copies, o.call)));
}

int ReplayRank::note(const Op& o, double begin, double end, const LocalBytes& bytes) {
  timeline.operations.push_back({{activity_of(o.kind), o.stage, o.reshape, o.tile, begin, end, bytes.written,
                                  bytes.memory_read, bytes.memory_written, 0, o.peer},
                                 cause_rank,
                                 cause});
  cause_rank = cause = -1;
  return static_cast<int>(timeline.operations.size()) - 1;
}

}  // namespace weft
