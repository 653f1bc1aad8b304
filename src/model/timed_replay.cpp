#include "model/timed_replay.hpp"

#include <algorithm>
#include <map>
#include <queue>
#include <tuple>

#include "base/arithmetic.hpp"
#include "model/replay_links.hpp"
#include "model/replay_rank.hpp"
#include "weft/error.hpp"

namespace weft {

namespace {

/// The cores of one machine, each with the time from which it is free.
class Cores {
 public:
  explicit Cores(int count) : free_(static_cast<std::size_t>(count), 0) {}
  /// Takes the core that is free first; returns when the work begins.
  double take(double ready, double seconds) {
    const auto core = std::min_element(free_.begin(), free_.end());
    const double begin = std::max(ready, *core);
    *core = begin + seconds;
    return begin;
  }

 private:
  std::vector<double> free_;
};

class TimedReplay {
 public:
  explicit TimedReplay(const ReplayRequest& request);
  Replayed run();

 private:
  enum class What { rank, enters, arrives };
  struct Event {
    double time;
    std::size_t number;  ///< of events at the same time the first comes first
    What what;
    int rank, reshape, tile, receive;
    bool operator<(const Event& other) const {
      return std::tie(other.time, other.number) < std::tie(time, number);
    }
  };

  void connect();
  int position_of(int sender, const ReplayTile& at_sender, bool stored, int peer, int receiver,
                  const ReplayTile& at_receiver) const;
  void push(double time, What what, int rank, int reshape = -1, int tile = -1, int receive = -1) {
    if (what == What::rank) at(ranks_, rank).event = pushed_;
    events_.push({time, pushed_++, what, rank, reshape, tile, receive});
  }
  void wake(int rank, double time);
  void wake_waiting(ReplayRank& r);
  /// Does the next operation of a rank; false if it has to wait.
  bool step(int rank);
  bool post(int rank, const Op& op);
  std::vector<Departure> start_parts(ReplayRank& r, ReplayTile& tile);
  void announce_parts(int rank, const Op& op, const std::vector<Departure>& departures);
  bool receive(int rank, const Op& op);
  bool await_flag(int rank, const Op& op);
  void signal(int rank, const Op& op);
  void local(int rank, const Op& op);
  bool take_next(int rank, const Op& op, ReplayTile& tile);
  void run_local(ReplayRank& r, const Op& op);
  void enters(const Event& e);
  void arrives(const Event& e);
  void finish(int rank, const Op& op, double begin, double end, Index bytes = 0);
  bool wait_for(int rank, int other);

  ReplayRank& replayed(int rank) { return at(ranks_, at(place_, rank)); }

  const ReplayRequest& request_;
  ReplayLinks links_;
  int size_;
  std::vector<int> place_;  ///< per rank, where in `ranks_` the one is that stands for it
  std::vector<ReplayRank> ranks_;
  std::map<int, Cores> cores_;  ///< of machines with more ranks than cores
  std::priority_queue<Event> events_;
  std::size_t pushed_ = 0;
};

TimedReplay::TimedReplay(const ReplayRequest& request)
    : request_(request),
      links_(request.machine, request.nodes),
      size_(static_cast<int>(request.nodes.size())) {
  std::vector<int> like = request.like;
  for (int r = 0; like.size() < request.nodes.size(); ++r) like.push_back(r);
  std::map<int, int> place, count;
  for (const int r : like) ++count[r];
  std::map<int, int> of_machine;
  for (const int node : request.nodes) ++of_machine[request.machine.emulated ? 0 : node];
  const bool all = count.size() == request.nodes.size();
  ranks_.reserve(count.size());
  for (const auto& [rank, stands_for] : count) {
    const int machine = request.machine.emulated ? 0 : at(request.nodes, rank);
    const int together = of_machine[machine];
    const int cores = request.machine.processor.cores;
    place[rank] = static_cast<int>(ranks_.size());
    ranks_.emplace_back(request.program_of(rank), request, together);
    ranks_.back().timeline.stands_for = stands_for;
    // Ranks that stand for others do not take turns on cores: each has its share of them.
    if (!all)
      ranks_.back().slowdown = std::max(1.0, static_cast<double>(together) * request.cost.threads / cores);
    if (all && together * request.cost.threads > cores)
      cores_.try_emplace(machine, std::max(1, cores / request.cost.threads));
  }
  for (const int r : like) place_.push_back(place.at(r));
  connect();
}

/// Where among the parts that a sender sends the one is that `receiver` gets from `peer`, for which the
/// sender stands: it is as far round the ring.
int TimedReplay::position_of(int sender, const ReplayTile& at_sender, bool stored, int peer, int receiver,
                             const ReplayTile& at_receiver) const {
  const std::vector<ReplayPart>& sends = stored ? at_sender.stores : at_sender.sends;
  const std::vector<ReplayPart>& receives = stored ? at_receiver.stored : at_receiver.receives;
  int position = 0;
  if (sender == peer) {
    const auto found =
        std::find_if(sends.begin(), sends.end(), [&](const ReplayPart& p) { return p.peer == receiver; });
    position = static_cast<int>(found - sends.begin());
  } else {
    const int distance = ring_distance(peer, receiver, size_);
    for (const ReplayPart& p : receives)
      if (p.peer != receiver && ring_distance(p.peer, receiver, size_) < distance) ++position;
  }
  return std::min(position, static_cast<int>(sends.size()) - 1);
}

void TimedReplay::connect() {
  for (int i = 0; i < static_cast<int>(ranks_.size()); ++i) {
    ReplayRank& receiver = at(ranks_, i);
    for (std::size_t reshape = 0; reshape < receiver.tiles.size(); ++reshape)
      for (std::size_t t = 0; t < receiver.tiles[reshape].size(); ++t) {
        const ReplayTile& tile = receiver.tiles[reshape][t];
        for (int k = 0; k < static_cast<int>(tile.receives.size()); ++k) {
          const int peer = at(tile.receives, k).peer;
          if (peer == receiver.program.rank) continue;
          ReplayRank& sender = replayed(peer);
          if (reshape >= sender.tiles.size() || t >= sender.tiles[reshape].size()) continue;
          ReplayTile& other = sender.tiles[reshape][t];
          other.to.push_back(
              {i, k, position_of(sender.program.rank, other, false, peer, receiver.program.rank, tile)});
        }
      }
  }
}

void TimedReplay::wake(int rank, double time) {
  ReplayRank& r = at(ranks_, rank);
  r.clock = std::max(r.clock, time);
  push(r.clock, What::rank, rank);
}

void TimedReplay::wake_waiting(ReplayRank& r) {
  const std::vector<int> waiting = std::exchange(r.waiting, {});
  for (const int w : waiting) wake(w, r.clock);
}

bool TimedReplay::wait_for(int rank, int other) {
  at(ranks_, other).waiting.push_back(rank);
  return false;
}

void TimedReplay::finish(int rank, const Op& op, double begin, double end, Index bytes) {
  ReplayRank& r = at(ranks_, rank);
  r.note(op, begin, end, {0, bytes, 0, 0});
  r.clock = end;
  r.under_way = false;
  ++r.at;
}

/// Does an operation of one rank alone, as soon as there is a core for it.
void TimedReplay::run_local(ReplayRank& r, const Op& op) {
  const double seconds = r.local_seconds(op);
  const int machine = request_.machine.emulated ? 0 : at(request_.nodes, r.program.rank);
  const auto cores = cores_.find(machine);
  const double begin = cores == cores_.end() ? r.clock : cores->second.take(r.clock, seconds);
  r.clock = begin + seconds;
  r.note(op, begin, r.clock, local_bytes(r.program, op));
}

void TimedReplay::local(int rank, const Op& op) {
  ReplayRank& r = at(ranks_, rank);
  run_local(r, op);
  r.under_way = false;
  ++r.at;
}

/// Starts the parts of a tile one after the other. Those under way share the rank's link: the first bytes of
/// each can leave at once, and their last ones leave in the order in which the parts were started.
std::vector<Departure> TimedReplay::start_parts(ReplayRank& r, ReplayTile& tile) {
  std::vector<Departure> departures;
  for (const ReplayPart& p : tile.sends) {
    const bool is_near = links_.near(r.program.rank, p.peer);
    r.clock += links_.link(is_near).part_s;
    departures.push_back({r.clock, r.clock, r.clock});
    if (is_near) continue;
    const double wire = links_.wire_seconds(r.program.rank, p.bytes);
    r.out_free = std::max(r.out_free, r.clock - links_.burst_seconds(r.program.rank)) + wire;
    departures.back() = {r.clock, std::max(r.clock, r.out_free - wire), std::max(r.clock, r.out_free)};
    tile.sent = departures.back().last;
    r.timeline.bytes_sent += p.bytes;
  }
  r.clock += r.costs.move_seconds(static_cast<double>(tile.own_bytes), r.footprint);
  for (std::size_t k = 0; k < tile.receives.size(); ++k)
    if (tile.receives[k].peer == r.program.rank) tile.arrived[k] = r.clock;
  return departures;
}

void TimedReplay::announce_parts(int rank, const Op& op, const std::vector<Departure>& departures) {
  ReplayRank& r = at(ranks_, rank);
  const int number = static_cast<int>(r.timeline.operations.size());
  for (const Destination& d : r.tile(op).to) {
    ReplayRank& receiver = at(ranks_, d.rank);
    ReplayTile& tile = receiver.tile(op);
    const bool is_near = links_.near(receiver.program.rank, at(tile.receives, d.receive).peer);
    Departure part = d.send < 0 ? Departure{r.clock, r.clock, r.clock} : at(departures, d.send);
    if (at(r.program.reshapes, op.reshape).leg.traits.blocks)
      part.first = part.turn;  // a round for each part
    at(tile.departed, d.receive) = part;
    push(part.turn + links_.link(is_near).latency_s, is_near ? What::arrives : What::enters, d.rank,
         op.reshape, op.tile, d.receive);
    at(tile.arrival_of, d.receive) = {rank, number};
  }
}

bool TimedReplay::post(int rank, const Op& op) {
  ReplayRank& r = at(ranks_, rank);
  ReplayTile& tile = r.tile(op);
  Index bytes = 0;
  for (const ReplayPart& p : tile.sends) bytes += p.bytes;
  if (!r.under_way) {
    r.begun = r.clock;
    announce_parts(rank, op, start_parts(r, tile));
    if (!at(r.program.reshapes, op.reshape).leg.traits.blocks) {
      finish(rank, op, r.begun, r.clock, bytes);
      return true;
    }
    r.under_way = true;
  }
  if (std::any_of(tile.arrived.begin(), tile.arrived.end(), [&](double t) { return t > r.clock; }))
    return false;
  double end = std::max(r.clock, tile.sent);
  // A collective goes through the peers in rounds, each of which waits for the one before.
  if (tile.sends.size() > 1)
    end += static_cast<double>(tile.sends.size() - 1) *
           links_.link(links_.near(r.program.rank, tile.sends.back().peer)).latency_s;
  for (const ReplayPart& p : tile.receives) end += links_.take_seconds(r.program.rank, p.peer, p.bytes);
  if (!tile.arrived.empty()) {
    const auto last = std::max_element(tile.arrived.begin(), tile.arrived.end()) - tile.arrived.begin();
    if (tile.arrived[static_cast<std::size_t>(last)] > r.begun)
      std::tie(r.cause_rank, r.cause) = tile.arrival_of[static_cast<std::size_t>(last)];
  }
  finish(rank, op, r.begun, end, bytes);
  return true;
}

/// Of the parts that are there and not yet taken, the one that came first, and its unpacking; false if there
/// is none.
bool TimedReplay::take_next(int rank, const Op& op, ReplayTile& tile) {
  ReplayRank& r = at(ranks_, rank);
  std::size_t next = tile.receives.size();
  for (std::size_t k = 0; k < tile.receives.size(); ++k)
    if (tile.taken[k] == 0 && tile.arrived[k] <= r.clock &&
        (next == tile.receives.size() || tile.arrived[k] < tile.arrived[next]))
      next = k;
  if (next == tile.receives.size()) return false;
  tile.taken[next] = 1;
  const ReplayPart& part = tile.receives[next];
  r.clock += links_.take_seconds(r.program.rank, part.peer, part.bytes);
  if (tile.arrived[next] > r.begun) std::tie(r.cause_rank, r.cause) = tile.arrival_of[next];
  r.note(op, r.begun, r.clock);
  if (op.count > 0) run_local(r, r.program.ops[r.at + 1 + next]);
  r.begun = r.clock;
  return true;
}

bool TimedReplay::receive(int rank, const Op& op) {
  ReplayRank& r = at(ranks_, rank);
  ReplayTile& tile = r.tile(op);
  if (!r.under_way) r.begun = r.clock;
  r.under_way = true;
  if (at(r.program.reshapes, op.reshape).leg.traits.blocks) {  // all is there: nothing but unpacking is left
    for (std::size_t i = 0; i < static_cast<std::size_t>(op.count); ++i)
      run_local(r, r.program.ops[r.at + 1 + i]);
  } else if (take_next(rank, op, tile)) {
    return true;
  } else if (std::any_of(tile.taken.begin(), tile.taken.end(), [](char taken) { return taken == 0; })) {
    return false;
  }
  r.under_way = false;
  r.at += 1 + static_cast<std::size_t>(op.count);
  return true;
}

/// Waits until the peer has raised a flag: that its tile is free, or that its part of this rank's tile is
/// full.
bool TimedReplay::await_flag(int rank, const Op& op) {
  ReplayRank& r = at(ranks_, rank);
  if (!r.under_way) r.begun = r.clock;
  r.under_way = true;
  ReplayRank& peer = replayed(op.peer);
  const ReplayTile& tile = peer.tile(op);
  double raised = tile.freed;
  int number = tile.free_number;
  if (op.kind == OpKind::await_full) {
    const int k = position_of(peer.program.rank, tile, true, op.peer, r.program.rank, r.tile(op));
    raised = k < 0 ? not_yet : at(tile.full, k);
    number = k < 0 ? -1 : at(tile.full_number, k);
  }
  if (raised == not_yet) return wait_for(rank, at(place_, op.peer));
  const double seen = raised + links_.link(true, "stores").flag_s;
  if (seen > r.begun) std::tie(r.cause_rank, r.cause) = std::pair(at(place_, op.peer), number);
  finish(rank, op, r.begun, std::max(r.clock, seen));
  return true;
}

void TimedReplay::signal(int rank, const Op& op) {
  ReplayRank& r = at(ranks_, rank);
  ReplayTile& tile = r.tile(op);
  const int number = static_cast<int>(r.timeline.operations.size());
  if (op.kind == OpKind::signal_free) {
    tile.freed = r.clock;
    tile.free_number = number;
  } else {
    for (std::size_t k = 0; k < tile.stores.size(); ++k)
      if (tile.stores[k].peer == op.peer) {
        tile.full[k] = r.clock;
        tile.full_number[k] = number;
      }
  }
  finish(rank, op, r.clock, r.clock + r.costs.operation_seconds());
  wake_waiting(r);
}

bool TimedReplay::step(int rank) {
  ReplayRank& r = at(ranks_, rank);
  const Op& op = r.op();
  switch (op.kind) {
    case OpKind::post:
      return post(rank, op);
    case OpKind::receive:
      return receive(rank, op);
    case OpKind::wait_sent:
      finish(rank, op, r.clock, std::max(r.clock, r.tile(op).sent));
      return true;
    case OpKind::await_free:
    case OpKind::await_full:
      return await_flag(rank, op);
    case OpKind::signal_free:
    case OpKind::signal_full:
      signal(rank, op);
      return true;
    default:
      local(rank, op);
      return true;
  }
}

/// A part reaches its receiver, whose link other parts may keep busy. The link did not rest before if it
/// could have carried bytes of this one: what several ranks send to the same ones, in the same order, is
/// shared out. The part is there when both links have carried all of it.
void TimedReplay::enters(const Event& e) {
  ReplayRank& r = at(ranks_, e.rank);
  const ReplayTile& tile = at(at(r.tiles, e.reshape), e.tile);
  const ReplayPart& part = at(tile.receives, e.receive);
  const Departure& departed = at(tile.departed, e.receive);
  const int rank = r.program.rank;
  const double latency = links_.link(false).latency_s, burst = links_.burst_seconds(rank);
  r.in_free = std::max(r.in_free, departed.first + latency - burst) + links_.wire_seconds(rank, part.bytes);
  const double arrival = std::max({e.time, departed.last + latency - burst, r.in_free});
  push(arrival, What::arrives, e.rank, e.reshape, e.tile, e.receive);
}

void TimedReplay::arrives(const Event& e) {
  ReplayRank& r = at(ranks_, e.rank);
  at(at(at(r.tiles, e.reshape), e.tile).arrived, e.receive) = e.time;
  if (r.finished() || !r.under_way) return;
  const Op& op = r.op();
  const bool waits = op.kind == OpKind::receive || op.kind == OpKind::post;
  if (waits && op.reshape == e.reshape && op.tile == e.tile) wake(e.rank, e.time);
}

Replayed TimedReplay::run() {
  for (int i = 0; i < static_cast<int>(ranks_.size()); ++i) push(0, What::rank, i);
  while (!events_.empty()) {
    const Event e = events_.top();
    events_.pop();
    if (e.what == What::enters) {
      enters(e);
    } else if (e.what == What::arrives) {
      arrives(e);
    } else if (ReplayRank& r = at(ranks_, e.rank);
               e.number == r.event && !r.finished() && step(e.rank) && !r.finished()) {
      push(r.clock, What::rank, e.rank);
    }
  }
  Replayed result;
  for (ReplayRank& r : ranks_) {
    if (!r.finished())
      throw Error("model",
                  std::string(name_of(r.op().kind)) + " of rank " + std::to_string(r.program.rank) +
                      " that never ends",
                  "programs that fit each other");
    r.timeline.end_s = r.clock;
    if (r.clock > result.seconds) {
      result.seconds = r.clock;
      result.slowest = static_cast<int>(result.ranks.size());
    }
    result.ranks.push_back(std::move(r.timeline));
  }
  return result;
}

}  // namespace

Replayed replay_timed(const ReplayRequest& request) {
  return TimedReplay(request).run();
}

}  // namespace weft
