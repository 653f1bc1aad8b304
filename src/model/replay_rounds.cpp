// Exchanges that go in rounds, in the timed replay: in each round a rank sends to one rank and receives from
// another, and begins the next one when both parts are through. A part travels when both of its ranks have
// come to its round. So whoever is late in a round holds up two others, and these two more in the next.
//
// What a rank waits for is that others come to the same round, whichever ranks stand for them. They have done
// the rounds before it then, so that no ranks wait for each other for ever.
#include <algorithm>
#include <limits>
#include <map>

#include "model/replay_engine.hpp"
#include "traffic/padding.hpp"
#include "weft/error.hpp"

namespace weft {

namespace {

/// Without rounds in which a rank neither sends nor receives; behind all others one that stands for the end.
std::vector<ReplayRound> rounds_of(const TileMessages& tile, int rank, const std::vector<int>& members) {
  const int count = static_cast<int>(members.size());
  const auto place_of = [&](int member) {
    return static_cast<int>(std::lower_bound(members.begin(), members.end(), member) - members.begin());
  };
  const int place = place_of(rank);
  const auto member = [&](int distance) { return at(members, (place + distance + count) % count); };
  const auto sends = [](ReplayRound& r, int to, Index bytes) { r.to = to, r.bytes_to = bytes; };
  const auto receives = [](ReplayRound& r, int from, Index bytes) { r.from = from, r.bytes_from = bytes; };
  std::map<int, ReplayRound> by_number;
  if (tile.padded_bytes > 0)  // all members exchange as much, whether or not they have anything to say
    for (int number = 1; number < count; ++number) {
      sends(by_number[number], member(number), tile.padded_bytes);
      receives(by_number[number], member(-number), tile.padded_bytes);
    }
  if (tile.padded_parts == 0) {
    for (const Message& m : tile.sends)
      if (m.peer != rank) sends(by_number[(place_of(m.peer) - place + count) % count], m.peer, m.bytes);
    for (const Message& m : tile.receives)
      if (m.peer != rank) receives(by_number[(place - place_of(m.peer) + count) % count], m.peer, m.bytes);
  }
  std::vector<ReplayRound> rounds;
  rounds.reserve(by_number.size() + 1);
  for (auto& [number, round] : by_number) {
    round.number = number;
    rounds.push_back(round);
  }
  rounds.push_back({.number = std::numeric_limits<int>::max()});
  return rounds;
}

}  // namespace

void TimedReplay::lay_out_rounds() {
  std::map<int, std::vector<int>> groups;
  for (ReplayRank& r : ranks_)
    for (int reshape = 0; reshape < static_cast<int>(r.tiles.size()); ++reshape) {
      const ReshapeProgram& of = weft::at(r.program.reshapes, reshape);
      if (!of.leg.traits.in_rounds) continue;
      if (!request_.groups_of)
        throw Error("model", "exchange " + of.leg.exchange + " without exchange groups",
                    "the groups of each reshape, as its rounds go through their members");
      const auto [known, added] = groups.try_emplace(reshape);
      if (added) known->second = request_.groups_of(reshape);
      const std::vector<int> members = members_of(known->second, r.program.rank);
      for (int t = 0; t < static_cast<int>(of.sent.tiles.size()); ++t)
        weft::at(weft::at(r.tiles, reshape), t).rounds =
            rounds_of(weft::at(of.sent.tiles, t), r.program.rank, members);
    }
}

/// The first round of a rank that is not before the given one; null: it has not come so far.
const ReplayRound* TimedReplay::come_to(const ReplayRank& r, const AwaitedRound& round) {
  const auto tile = static_cast<std::size_t>(round.tile);
  const std::vector<ReplayTile>& tiles = weft::at(r.tiles, round.reshape);
  if (tile >= tiles.size()) return nullptr;
  const std::vector<ReplayRound>& rounds = tiles[tile].rounds;
  const auto found =
      std::lower_bound(rounds.begin(), rounds.end(), round.number,
                       [](const ReplayRound& before, int number) { return before.number < number; });
  return found == rounds.end() || found->begun == not_yet ? nullptr : &*found;
}

void TimedReplay::begin_round(ReplayRank& r, ReplayRound& round, double begun, ReplayCause since) {
  round.begun = begun;
  round.since = since;
  std::erase_if(r.awaited_rounds, [&](const AwaitedRound& awaited) {
    const ReplayRound* const come = come_to(r, awaited);
    if (come != nullptr) wake(awaited.by, come->begun);
    return come != nullptr;
  });
}

/// When a part has gone through the link of a rank that is free from then on, in one direction.
double TimedReplay::through_link(const ExchangeTraits& exchange, double& link_free, int rank, int peer,
                                 Index bytes, double begin) const {
  const double wire =
      std::max(links_.wire_seconds(exchange, rank, bytes), links_.wire_seconds(exchange, peer, bytes));
  link_free = std::max(link_free, begin - links_.burst_seconds(exchange, rank)) + wire;
  return std::max(begin, link_free);
}

bool TimedReplay::go_round(LaneAt at, const Op& op, ReplayTile& tile) {
  ReplayRank& r = of(at);
  const int rank = r.program.rank;
  const ExchangeTraits& exchange = exchange_of(r, op);
  const ReplayRound& round = tile.rounds[tile.round];
  const AwaitedRound same{at, op.reshape, op.tile, round.number};
  for (const int peer : {round.to, round.from})
    if (peer >= 0 && come_to(replayed(peer), same) == nullptr) {
      replayed(peer).awaited_rounds.push_back(same);
      return false;
    }
  const double posted =
      round.begun + (round.to < 0 ? 0 : links_.link(links_.near(rank, round.to), exchange).part_s);
  double end = posted;
  ReplayCause since = round.since;
  const auto ends = [&](double time, bool for_peer, const ReplayRound& of_peer) {
    if (time <= end) return;
    end = time;
    since = for_peer ? of_peer.since : round.since;
  };
  if (round.from >= 0) {
    const ReplayRound& sender = *come_to(replayed(round.from), same);
    const bool is_near = links_.near(rank, round.from);
    const LinkDescription& link = links_.link(is_near, exchange);
    const double started = std::max(round.begun, sender.begun + link.part_s);
    double there = started + link.latency_s;
    if (!is_near) there = through_link(exchange, r.in_free, rank, round.from, round.bytes_from, there);
    ends(there, sender.begun > round.begun, sender);
    end += links_.take_seconds(exchange, rank, round.from, round.bytes_from);
  }
  if (round.to >= 0) {
    const ReplayRound& receiver = *come_to(replayed(round.to), same);
    const bool is_near = links_.near(rank, round.to);
    const double started = std::max(posted, receiver.begun);
    const double sent = is_near ? started + links_.take_seconds(exchange, round.to, rank, round.bytes_to)
                                : through_link(exchange, r.out_free, rank, round.to, round.bytes_to, started);
    ends(sent + links_.link(is_near, exchange).latency_s, receiver.begun > posted, receiver);
  }
  // Rounds that follow each other leave links no rest.
  if (round.from >= 0 && !links_.near(rank, round.from)) r.in_free = std::max(r.in_free, end);
  if (round.to >= 0 && !links_.near(rank, round.to)) r.out_free = std::max(r.out_free, end);
  begin_round(r, tile.rounds[tile.round + 1], end, since);
  return true;
}

bool TimedReplay::go_in_rounds(LaneAt at, const Op& op) {
  ReplayRank& r = of(at);
  ReplayLane& l = r.lane(at.lane);
  ReplayTile& tile = r.tile(op);
  if (!l.under_way) {
    l.begun = l.clock;
    l.under_way = true;
    const double moved = l.clock + r.costs.move_seconds(static_cast<double>(tile.own_bytes), r.footprint);
    begin_round(r, tile.rounds.front(), moved, {at.rank, l.last});
  }
  for (; tile.round + 1 < tile.rounds.size(); ++tile.round)
    if (!go_round(at, op, tile)) return false;
  Index bytes = 0;
  for (const ReplayRound& round : tile.rounds) {
    bytes += round.bytes_to;
    if (round.to >= 0 && !links_.near(r.program.rank, round.to))
      note_sent(r, exchange_of(r, op), round.bytes_to);
  }
  const ReplayRound& end = tile.rounds.back();
  l.clock = tile.sent = end.begun;
  if (end.since.rank != at.rank) l.cause = end.since;
  mark(at, l.step().op);
  finish(at, op, l.begun, l.clock, bytes);
  return true;
}

}  // namespace weft
