// Messages in the timed replay, as the host carries them: parts are started one after the other, travel over
// links that others use, and are taken and unpacked in the order in which they arrive. Those of devices come
// from pinned memory and go back there.
#include <algorithm>

#include "model/replay_engine.hpp"

namespace weft {

/// Where among the parts that a sender sends the one is that `receiver` gets from `peer`, for which the
/// sender stands: it is as far round the ring.
int TimedReplay::position_of(int sender, const ReplayTile& at_sender, bool stored, int peer, int receiver,
                             const ReplayTile& at_receiver) const {
  const std::vector<ReplayPart>& sends = stored ? at_sender.stores : at_sender.sends;
  const std::vector<int>& behind = stored ? at_receiver.behind_storers : at_receiver.behind_senders;
  const int distance = ring_distance(peer, receiver, size_);
  const auto position = sender == peer
                            ? std::partition_point(sends.begin(), sends.end(),
                                                   [&](const ReplayPart& p) {
                                                     return ring_distance(sender, p.peer, size_) < distance;
                                                   }) -
                                  sends.begin()
                            : std::lower_bound(behind.begin(), behind.end(), distance) - behind.begin();
  return static_cast<int>(std::min(position, std::ssize(sends) - 1));
}

void TimedReplay::connect() {
  for (int i = 0; i < static_cast<int>(ranks_.size()); ++i) {
    ReplayRank& receiver = at(ranks_, i);
    for (std::size_t reshape = 0; reshape < receiver.tiles.size(); ++reshape)
      for (std::size_t t = 0; t < receiver.tiles[reshape].size(); ++t) {
        const ReplayTile& tile = receiver.tiles[reshape][t];
        for (int k = 0; k < static_cast<int>(tile.receives.size()); ++k) {
          const int peer = at(tile.receives, k).peer;
          if (peer == receiver.program.rank || !tile.rounds.empty()) continue;
          ReplayRank& sender = replayed(peer);
          if (reshape >= sender.tiles.size() || t >= sender.tiles[reshape].size()) continue;
          ReplayTile& other = sender.tiles[reshape][t];
          other.to.push_back(
              {i, k, position_of(sender.program.rank, other, false, peer, receiver.program.rank, tile)});
        }
      }
  }
}

/// Starts the parts of a tile one after the other. Those under way share the rank's link: the first bytes of
/// each can leave at once, and their last ones leave in the order in which the parts were started.
std::vector<Departure> TimedReplay::start_parts(LaneAt at, ReplayTile& tile, const ExchangeTraits& exchange) {
  ReplayRank& r = of(at);
  ReplayLane& l = r.lane(at.lane);
  std::vector<Departure> departures;
  for (const ReplayPart& p : tile.sends) {
    const bool is_near = links_.near(r.program.rank, p.peer);
    const double part_s = links_.link(is_near && !exchange.gathers, exchange).part_s;
    l.clock += exchange.gathers ? links_.share_of_message(exchange, r.program.rank, p.peer) * part_s +
                                      packing_seconds(r, p.bytes)
                                : part_s;
    departures.push_back({l.clock, l.clock, l.clock});
    if (is_near) continue;
    const double wire = links_.wire_seconds(exchange, r.program.rank, p.bytes);
    r.out_free = std::max(r.out_free, l.clock - links_.burst_seconds(exchange, r.program.rank)) + wire;
    departures.back() = {l.clock, std::max(l.clock, r.out_free - wire), std::max(l.clock, r.out_free)};
    tile.sent = departures.back().last;
    note_sent(r, exchange, p.bytes);
  }
  l.clock += r.costs.move_seconds(static_cast<double>(tile.own_bytes), r.footprint);
  for (int k = 0; k < static_cast<int>(tile.receives.size()); ++k)
    if (weft::at(tile.receives, k).peer == r.program.rank) tile.arrive(k, l.clock);
  return departures;
}

/// Of bytes that go to another machine.
void TimedReplay::note_sent(ReplayRank& r, const ExchangeTraits& exchange, Index bytes) {
  r.timeline.bytes_sent += bytes;
  if (exchange.on_rails) r.timeline.bytes_on_rails += bytes;
}

/// Into memory that ranks of a machine share, or out of it.
double TimedReplay::packing_seconds(const ReplayRank& r, Index bytes) const {
  return r.slowdown * r.costs.move_seconds(static_cast<double>(bytes), r.footprint);
}

/// The ranks of a machine that are replayed and send something to others in a tile.
std::size_t TimedReplay::gathering_ranks(int machine, const Op& op) {
  return static_cast<std::size_t>(std::count_if(ranks_.begin(), ranks_.end(), [&](ReplayRank& r) {
    return at(request_.nodes, r.program.rank) == machine && !r.tile(op).sends.empty();
  }));
}

/// What ranks of a machine pack for others leaves once the last of them has, and its owner has seen it.
void TimedReplay::gather(LaneAt at, const Op& op, std::vector<Departure> departures) {
  const ReplayRank& r = of(at);
  const auto operation = static_cast<int>(r.timeline.operations.size());
  if (departures.empty()) return announce_parts(at, op, departures, operation);
  const int machine = weft::at(request_.nodes, r.program.rank);
  std::vector<GatheredParts>& all = gathered_[{machine, op.reshape, op.tile}];
  all.push_back({at, operation, lane(at).clock, std::move(departures)});
  if (all.size() < gathering_ranks(machine, op)) return;
  double last = 0;
  for (const GatheredParts& g : all) last = std::max(last, g.time);
  for (GatheredParts& g : all) {
    const double later = last - g.time + flag_seconds(r.program.rank, r.program.rank);
    for (Departure& d : g.departures) d = {d.first + later, d.turn + later, d.last + later};
    announce_parts(g.by, op, g.departures, g.operation);
  }
  all.clear();
}

/// One part of what the replayed rank at position `to` receives in a tile is under way.
void TimedReplay::depart(int to, const Op& op, int receive, const Departure& part, const ReplayCause& by) {
  ReplayRank& receiver = at(ranks_, to);
  ReplayTile& tile = receiver.tile(op);
  const bool is_near = links_.near(receiver.program.rank, at(tile.receives, receive).peer);
  at(tile.departed, receive) = part;
  at(tile.arrival_of, receive) = by;
  push(part.turn + links_.link(is_near, exchange_of(receiver, op)).latency_s,
       is_near ? What::arrives : What::enters, {to, host_lane}, op.reshape, op.tile, receive);
}

void TimedReplay::announce_parts(LaneAt at, const Op& op, const std::vector<Departure>& departures,
                                 int operation) {
  ReplayRank& r = of(at);
  const double now = lane(at).clock;
  for (const Destination& d : r.tile(op).to) {
    const ReplayTile& tile = weft::at(ranks_, d.rank).tile(op);
    if (weft::at(tile.departed, d.receive).turn != not_yet) continue;  // the receiver did not wait for it
    Departure part = d.send < 0 ? Departure{now, now, now} : weft::at(departures, d.send);
    if (exchange_of(r, op).blocks) part.first = part.turn;  // a round for each part
    depart(d.rank, op, d.receive, part, {at.rank, operation});
  }
}

bool TimedReplay::post(LaneAt at, const Op& op) {
  ReplayRank& r = of(at);
  ReplayLane& l = r.lane(at.lane);
  ReplayTile& tile = r.tile(op);
  const ExchangeTraits& traits = exchange_of(r, op);
  Index bytes = 0;
  for (const ReplayPart& p : tile.sends) bytes += p.bytes;
  if (!l.under_way) {
    l.begun = l.clock;
    std::vector<Departure> departures = start_parts(at, tile, traits);
    if (traits.gathers)
      gather(at, op, std::move(departures));
    else
      announce_parts(at, op, departures, static_cast<int>(r.timeline.operations.size()));
    if (!traits.blocks) {
      mark(at, l.step().op);
      finish(at, op, l.begun, l.clock, bytes);
      return true;
    }
    l.under_way = true;
  }
  const auto last = std::max_element(tile.arrived.begin(), tile.arrived.end());
  if (last != tile.arrived.end() && *last > l.clock) {
    if (*last != not_yet) wake(at, *last);  // it went on before that (replay_stand_ins.cpp)
    return false;
  }
  double end = std::max(l.clock, tile.sent);
  // A collective goes through the peers in rounds, each of which waits for the one before.
  if (tile.sends.size() > 1)
    end += static_cast<double>(tile.sends.size() - 1) *
           links_.link(links_.near(r.program.rank, tile.sends.back().peer), traits).latency_s;
  for (const ReplayPart& p : tile.receives)
    end += links_.take_seconds(traits, r.program.rank, p.peer, p.bytes);
  if (last != tile.arrived.end() && *last > l.begun)
    l.cause = weft::at(tile.arrival_of, last - tile.arrived.begin());
  l.clock = end;
  mark(at, l.step().op);
  finish(at, op, l.begun, end, bytes);
  return true;
}

/// What follows a part that has arrived.
void TimedReplay::unpack(LaneAt at, const Op& op, std::size_t part) {
  if (device_ != nullptr) return stage_in(at, op, part);
  ReplayRank& r = of(at);
  const auto id = static_cast<std::size_t>(r.lane(at.lane).step().op);
  if (op.count > 0) run_local(at, r.program.ops[id + 1 + part]);
}

/// Of the parts that are there and not yet taken, the one that came first, and its unpacking; false if there
/// is none.
bool TimedReplay::take_next(LaneAt at, const Op& op, ReplayTile& tile) {
  ReplayRank& r = of(at);
  ReplayLane& l = r.lane(at.lane);
  const int next = tile.first_there();
  if (next < 0 || weft::at(tile.arrived, next) > l.clock) return false;
  tile.take_first();
  const ReplayPart& part = weft::at(tile.receives, next);
  const ExchangeTraits& traits = exchange_of(r, op);
  l.clock += traits.gathers
                 ? links_.take_seconds(traits, r.program.rank, part.peer, part.bytes,
                                       links_.share_of_message(traits, r.program.rank, part.peer)) +
                       packing_seconds(r, part.bytes)
                 : links_.take_seconds(traits, r.program.rank, part.peer, part.bytes);
  if (weft::at(tile.arrived, next) > l.begun) l.cause = weft::at(tile.arrival_of, next);
  r.note(at.lane, op, l.begun, l.clock);
  unpack(at, op, static_cast<std::size_t>(next));
  l.begun = l.clock;
  return true;
}

bool TimedReplay::receive(LaneAt at, const Op& op) {
  ReplayRank& r = of(at);
  ReplayLane& l = r.lane(at.lane);
  ReplayTile& tile = r.tile(op);
  if (!l.under_way) l.begun = l.clock;
  l.under_way = true;
  if (exchange_of(r, op).blocks) {  // all is there: only unpacking is left
    for (std::size_t k = 0; k < tile.receives.size(); ++k) unpack(at, op, k);
  } else if (take_next(at, op, tile)) {
    return true;
  } else if (tile.taken < static_cast<int>(tile.receives.size())) {
    // What has come since it went on (replay_stand_ins.cpp).
    if (const int next = tile.first_there(); next >= 0) wake(at, weft::at(tile.arrived, next));
    return false;
  }
  mark(at, l.step().op);
  advance(at);
  return true;
}

/// A part reaches its receiver, whose link other parts may keep busy. The link did not rest before if it
/// could have carried bytes of this one: what several ranks send to the same ones, in the same order, is
/// shared out. The part is there when both links have carried all of it.
void TimedReplay::enters(const Event& e) {
  ReplayRank& r = of(e.lane);
  const ReplayTile& tile = at(at(r.tiles, e.reshape), e.tile);
  const ReplayPart& part = at(tile.receives, e.receive);
  const Departure& departed = at(tile.departed, e.receive);
  const int rank = r.program.rank;
  const ExchangeTraits& exchange = at(r.program.reshapes, e.reshape).leg.traits;
  const double latency = links_.link(false, exchange).latency_s, burst = links_.burst_seconds(exchange, rank);
  r.in_free =
      std::max(r.in_free, departed.first + latency - burst) + links_.wire_seconds(exchange, rank, part.bytes);
  const double arrival = std::max({e.time, departed.last + latency - burst, r.in_free});
  push(arrival, What::arrives, e.lane, e.reshape, e.tile, e.receive);
}

void TimedReplay::arrives(const Event& e) {
  ReplayRank& r = of(e.lane);
  at(at(r.tiles, e.reshape), e.tile).arrive(e.receive, e.time);
  const ReplayLane& host = r.lane(host_lane);
  if (host.finished() || !host.under_way) return;
  const Op& op = r.op(host);
  const bool waits = op.kind == OpKind::receive || op.kind == OpKind::post;
  if (waits && op.reshape == e.reshape && op.tile == e.tile) wake(e.lane, e.time);
}

}  // namespace weft
