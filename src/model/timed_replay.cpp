#include "model/timed_replay.hpp"

#include <utility>

#include "model/replay_engine.hpp"
#include "weft/error.hpp"

namespace weft {

namespace {

/// Exchanges of devices that are not modelled.
void check_exchanges(const Program& program) {
  for (const ReshapeProgram& r : program.reshapes)
    if (r.leg.traits.by_device && !r.leg.traits.stores)
      throw Error("model", "exchange " + r.leg.exchange + " among devices",
                  "direct, or an exchange through pinned memory");
}

}  // namespace

TimedReplay::TimedReplay(const ReplayRequest& request)
    : request_(request),
      links_(request.machine, request.nodes, request.rails),
      device_(request.device ? &weft::device_of(request.machine) : nullptr),
      size_(static_cast<int>(request.nodes.size())) {
  std::vector<int> like = request.like;
  for (int r = 0; like.size() < request.nodes.size(); ++r) like.push_back(r);
  std::map<int, int> place, count;
  for (const int r : like) ++count[r];
  ranks_.reserve(count.size());
  for (const auto& [rank, stands_for] : count) {
    place[rank] = static_cast<int>(ranks_.size());
    add_rank(rank, stands_for, count.size() == request.nodes.size());
  }
  for (const int r : like) place_.push_back(place.at(r));
  lay_out_rounds();
  connect();
}

/// Ranks that stand for others do not take turns on cores or devices: each has its share of them.
void TimedReplay::add_rank(int rank, int stands_for, bool all) {
  const std::vector<int>& nodes = request_.nodes;
  const bool one = request_.machine.emulated;
  const int machine = one ? 0 : at(nodes, rank);
  const auto together =
      static_cast<int>(one ? std::ssize(nodes) : std::count(nodes.begin(), nodes.end(), machine));
  const int cores = request_.machine.processor.cores;
  ranks_.emplace_back(request_.program_of(rank), request_, together);
  ReplayRank& r = ranks_.back();
  r.timeline.stands_for = stands_for;
  r.timeline.operations.reserve(r.program.ops.size());
  if (device_ != nullptr) {
    check_exchanges(r.program);
    const std::vector<int>& devices = request_.device->devices;
    if (!all && !devices.empty())
      r.slowdown = static_cast<double>(std::count(devices.begin(), devices.end(), at(devices, rank)));
    return;
  }
  if (!all) r.slowdown = std::max(1.0, static_cast<double>(together) * request_.cost.threads / cores);
  if (all && together * request_.cost.threads > cores)
    cores_.try_emplace(machine, std::max(1, cores / request_.cost.threads));
}

void TimedReplay::push(double time, What what, LaneAt at, int reshape, int tile, int receive) {
  if (what == What::lane) lane(at).event = pushed_;
  events_.push({time, pushed_++, what, at, reshape, tile, receive});
}

std::pair<double, ReplayCause> TimedReplay::opening(LaneAt at) {
  ReplayRank& r = of(at);
  const ReplayStep& s = r.lane(at.lane).step();
  double ready = s.enqueued;
  ReplayCause by{at.rank, s.enqueued_by};
  for (int w = s.waits_begin; w < s.waits_end; ++w) {
    const ReplayEvent& e = weft::at(r.events, weft::at(r.waits, w));
    if (e.time == not_yet) return {not_yet, {}};
    const double passed = e.time + device_->event_s;
    if (passed <= ready) continue;
    ready = passed;
    by.number = e.number;
  }
  return {ready, by};
}

bool TimedReplay::opened(LaneAt at, double now) {
  ReplayLane& l = lane(at);
  if (l.under_way) return true;
  const auto [ready, by] = opening(at);
  l.blocked = ready == not_yet;
  if (l.blocked) return false;
  if (ready <= l.clock) return true;
  if (by.number >= 0) l.opener = by;
  if (ready > now) {
    push(ready, What::lane, at);
    return false;
  }
  l.clock = ready;
  return true;
}

void TimedReplay::finish(LaneAt at, const Op& op, double begin, double end, Index bytes) {
  of(at).note(at.lane, op, begin, end, {0, bytes, 0, 0});
  lane(at).clock = end;
  advance(at);
}

/// Past a step. Its event has happened, unless another lane is to do what it is about.
void TimedReplay::advance(LaneAt at, bool happened) {
  ReplayRank& r = of(at);
  ReplayLane& l = r.lane(at.lane);
  const int event = l.step().event;
  l.under_way = false;
  ++l.at;
  if (event < 0 || !happened) return;
  weft::at(r.events, event) = {l.clock, l.last};
  for (int other = 0; other < static_cast<int>(r.lanes.size()); ++other) {
    ReplayLane& waits = r.lane(other);
    if (!waits.blocked) continue;
    const double ready = opening({at.rank, other}).first;
    waits.blocked = ready == not_yet;
    if (!waits.blocked) wake({at.rank, other}, ready);
  }
}

bool TimedReplay::step(LaneAt at) {
  ReplayRank& r = of(at);
  ReplayLane& l = r.lane(at.lane);
  const ReplayStep& s = l.step();
  const Op& op = r.op(l);
  if (s.does == StepDoes::enqueue) {
    enqueue(at);
  } else if (s.does == StepDoes::stage) {
    at.lane == host_lane ? stage(at) : run_staging(at);
  } else if (s.does == StepDoes::mark) {
    advance(at);
  } else {
    switch (op.kind) {
      case OpKind::post:
        return weft::at(r.program.reshapes, op.reshape).leg.traits.in_rounds ? go_in_rounds(at, op)
                                                                             : post(at, op);
      case OpKind::receive:
        return receive(at, op);
      case OpKind::wait_sent:
        l.begun = l.clock;
        l.clock = std::max(l.clock, r.tile(op).sent);
        mark(at, s.op);
        finish(at, op, l.begun, l.clock);
        return true;
      case OpKind::await_free:
      case OpKind::await_full:
        return await_flag(at, op);
      case OpKind::signal_free:
      case OpKind::signal_full:
        signal(at, op);
        return true;
      default:
        run_local(at, op);
        advance(at);
    }
  }
  return true;
}

Replayed TimedReplay::run() {
  for (int i = 0; i < static_cast<int>(ranks_.size()); ++i) {
    if (device_ != nullptr) begin_execution(i);
    wake({i, host_lane}, 0);
  }
  while (!events_.empty() || let_go()) {
    const Event e = events_.top();
    events_.pop();
    if (e.what == What::enters) {
      enters(e);
    } else if (e.what == What::arrives) {
      arrives(e);
    } else if (ReplayLane& l = lane(e.lane); e.number == l.event && !l.finished() && opened(e.lane, e.time)) {
      l.clock = std::max(l.clock, e.time);
      if (step(e.lane) && !l.finished()) push(l.clock, What::lane, e.lane);
    }
  }
  Replayed result;
  result.let_go = let_go_;
  for (ReplayRank& r : ranks_) {
    for (const ReplayLane& l : r.lanes) {
      if (!l.finished())
        throw Error("model",
                    std::string(name_of(r.op(l).kind)) + " of rank " + std::to_string(r.program.rank) +
                        " that never ends",
                    "programs that fit each other");
      // What follows an execution waits for both streams.
      const bool joins = &l == &r.lanes.back() && r.streams.transfers;
      r.timeline.end_s = std::max(r.timeline.end_s, l.clock + (joins ? device_->event_s : 0));
    }
    if (r.timeline.end_s > result.seconds) {
      result.seconds = r.timeline.end_s;
      result.slowest = static_cast<int>(result.ranks.size());
    }
    result.ranks.push_back(std::move(r.timeline));
  }
  return result;
}

Replayed replay_timed(const ReplayRequest& request) {
  return TimedReplay(request).run();
}

}  // namespace weft
