// Flags in the timed replay: a rank tells another one that it may store a part of a tile, or that it has. On
// the host they are words that both look at, on devices operations of a stream.
#include "model/replay_engine.hpp"

namespace weft {

/// From raising a flag to seeing it.
double TimedReplay::flag_seconds(int from, int to) const {
  if (device_ == nullptr) return links_.link(true, by_stores).flag_s;
  return on_one_device(from, to) ? 0 : links_.device_link(over_peer, by_stores).flag_s;
}

/// When a flag of the peer is seen: that its tile is free, or that its part of this rank's tile is full.
std::pair<double, ReplayCause> TimedReplay::seen(LaneAt at, const Op& op) {
  ReplayRank& r = of(at);
  ReplayRank& peer = replayed(op.peer);
  const ReplayTile& tile = peer.tile(op);
  const ReplayCause by{weft::at(place_, op.peer), -1};
  const double later = flag_seconds(op.peer, r.program.rank);
  if (op.kind == OpKind::await_free) return {tile.freed + later, {by.rank, tile.free_number}};
  const int k = position_of(peer.program.rank, tile, true, op.peer, r.program.rank, r.tile(op));
  if (k < 0) return {not_yet, by};
  return {weft::at(tile.full, k) + later, {by.rank, weft::at(tile.full_number, k)}};
}

bool TimedReplay::await_flag(LaneAt at, const Op& op) {
  ReplayLane& l = lane(at);
  if (!l.under_way) l.begun = l.clock;
  l.under_way = true;
  const auto [seen_at, by] = seen(at, op);
  if (seen_at == not_yet) {
    replayed(op.peer).waiting.push_back(at);
    return false;
  }
  const double looked = l.begun + (device_ != nullptr && !l.step().joins ? device_->flag_see_s : 0);
  if (seen_at > looked) l.cause = by;
  finish(at, op, l.begun, std::max({looked, l.clock, seen_at}));
  return true;
}

/// Those lanes that wait for a flag of this rank which is up now.
void TimedReplay::wake_waiting(ReplayRank& r) {
  std::erase_if(r.waiting, [&](LaneAt w) {
    const double time = seen(w, of(w).op(lane(w))).first;
    if (time != not_yet) wake(w, time);
    return time != not_yet;
  });
}

/// A stream raises a flag behind all that it has done; a kernel at its end, with the copies.
void TimedReplay::signal(LaneAt at, const Op& op) {
  ReplayRank& r = of(at);
  ReplayLane& l = r.lane(at.lane);
  ReplayTile& tile = r.tile(op);
  const double begin = l.clock;
  const double end = device_ == nullptr ? begin + r.costs.operation_seconds()
                                        : begin + (l.step().joins ? 0 : device_->flag_raise_s);
  const double raised = device_ == nullptr ? begin : end;
  const int number = static_cast<int>(r.timeline.operations.size());
  if (op.kind == OpKind::signal_free) {
    tile.freed = raised;
    tile.free_number = number;
  } else {
    for (std::size_t k = 0; k < tile.stores.size(); ++k)
      if (tile.stores[k].peer == op.peer) {
        tile.full[k] = raised;
        tile.full_number[k] = number;
      }
  }
  finish(at, op, begin, end);
  wake_waiting(r);
}

}  // namespace weft
