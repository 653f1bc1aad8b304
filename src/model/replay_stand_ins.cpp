// Waits for ranks that another one stands for. That one goes through tiles of its own: it may have nothing to
// do with the tile that is waited for, or come to it only after it has waited itself. The rank that it stands
// for is as far as those that wait for it, so that such a wait ends at once.
#include "model/replay_engine.hpp"

namespace weft {

namespace {

bool awaits_flag(const Op& op) {
  return op.kind == OpKind::await_free || op.kind == OpKind::await_full;
}

}  // namespace

/// The parts for which the next step of a lane waits, and of which no post is known.
std::vector<int> TimedReplay::parts_of_stand_ins(LaneAt at) {
  ReplayRank& r = of(at);
  const Op& op = r.op(lane(at));
  std::vector<int> parts;
  if (op.kind != OpKind::receive && op.kind != OpKind::post) return parts;
  const ReplayTile& tile = r.tile(op);
  for (int k = 0; k < static_cast<int>(tile.receives.size()); ++k)
    if (weft::at(tile.arrived, k) == not_yet && weft::at(tile.departed, k).turn == not_yet &&
        has_stand_in(weft::at(tile.receives, k).peer))
      parts.push_back(k);
  return parts;
}

bool TimedReplay::waits_for_stand_in(LaneAt at) {
  const ReplayLane& l = lane(at);
  if (l.finished() || !l.under_way || l.step().does != StepDoes::all) return false;
  const Op& op = of(at).op(l);
  return awaits_flag(op) ? has_stand_in(op.peer) : !parts_of_stand_ins(at).empty();
}

void TimedReplay::end_wait(LaneAt at) {
  ReplayLane& l = lane(at);
  const Op& op = of(at).op(l);
  if (!awaits_flag(op)) {
    for (const int part : parts_of_stand_ins(at)) depart(at.rank, op, part, {l.clock, l.clock, l.clock}, {});
    return;
  }
  std::erase_if(replayed(op.peer).waiting, [&](LaneAt w) { return w.rank == at.rank && w.lane == at.lane; });
  finish(at, op, l.begun, l.clock);
  if (!l.finished()) wake(at, l.clock);
}

/// Nothing happens any more: of the lanes that wait for ranks which another one stands for, the one that has
/// waited longest goes on. False if there is none.
bool TimedReplay::let_go() {
  LaneAt first;
  for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank)
    for (int number = 0; number < static_cast<int>(at(ranks_, rank).lanes.size()); ++number) {
      const LaneAt here{rank, number};
      if (waits_for_stand_in(here) && (first.rank < 0 || lane(here).clock < lane(first).clock)) first = here;
    }
  if (first.rank < 0) return false;
  ++let_go_;
  end_wait(first);
  return true;
}

}  // namespace weft
