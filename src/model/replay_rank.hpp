// What the timed replay keeps of a rank: its program, the lanes that carry it out, its parts tile by tile,
// and which memory it has just touched.
#pragma once

#include <optional>
#include <vector>

#include "base/arithmetic.hpp"
#include "model/device_costs.hpp"
#include "model/recent_memory.hpp"
#include "model/replay_lane.hpp"
#include "model/timed_replay.hpp"
#include "program/stream_plan.hpp"

namespace weft {

/// A part of a tile, by the rank at its other end.
struct ReplayPart {
  int peer;
  Index bytes;
};

/// Who gets a part that a rank sends: a replayed rank, and the part's position among what that one receives
/// and among what this one sends.
struct Destination {
  int rank, receive, send;
};

/// A part leaves its sender: when its first byte can, when it would if those before it went alone, and when
/// its last byte has.
struct Departure {
  double first, turn, last;
};

/// A round of a tile, of an exchange that goes in rounds, in which a rank sends a part or receives one.
struct ReplayRound {
  int number = 0;          ///< how many places the partners are away in the exchange group
  int to = -1, from = -1;  ///< -1: no rank
  Index bytes_to = 0, bytes_from = 0;
  double begun = not_yet;
  ReplayCause since = {};  ///< the operation that it hangs on, before the rounds of some rank
};

/// A round of a tile, and the lane that waits until another rank has come to it.
struct AwaitedRound {
  LaneAt by;
  int reshape, tile, number;
};

/// A tile of a reshape on one rank. What goes to other ranks is in the order of a ring that begins behind the
/// rank: carriers send in this order.
struct ReplayTile {
  std::vector<ReplayPart> sends;     ///< to other ranks, in messages
  std::vector<ReplayPart> receives;  ///< messages, in the order of the program, the rank's own among them
  std::vector<ReplayPart> stores;    ///< into other ranks' memory
  std::vector<ReplayPart> stored;    ///< by other ranks into this one's
  /// How far round the ring this rank is behind those that send to it, and that store, ascending.
  std::vector<int> behind_senders, behind_storers;
  std::vector<Destination> to;
  Index own_bytes = 0;
  std::vector<ReplayRound> rounds;  ///< by number, the end behind them; of exchanges that go in rounds

  void arrive(int receive, double time);
  /// Of the parts that have arrived and are not taken, the one that came first; -1 if there is none.
  int first_there() const { return there.empty() ? -1 : there.front(); }
  void take_first();
  // What has happened.
  double freed = not_yet, sent = 0;
  int free_number = -1;                 ///< of the operation that did it
  std::vector<Departure> departed;      ///< per receive
  std::vector<double> arrived;          ///< per receive
  std::vector<int> there;               ///< receives that have arrived and are not taken: a heap
  int taken = 0;                        ///< receives
  std::vector<ReplayCause> arrival_of;  ///< per receive: its post
  std::vector<double> full;             ///< per store
  std::vector<int> full_number;         ///< per store
  std::size_t round = 0;                ///< the one under way
};

struct ReplayRank {
  Program program;
  Costs costs;                        ///< of the host
  std::optional<DeviceCosts> device;  ///< none: arrays on the host
  StreamPlan streams;                 ///< of a device
  RankTimeline timeline;
  std::vector<std::vector<ReplayTile>> tiles;  ///< [reshape][tile]
  std::vector<ReplayLane> lanes;
  std::vector<ReplayEvent> events;   ///< between lanes; the first ones are those of `streams`
  std::vector<int> waits;            ///< events, of the steps that wait for them
  double out_free = 0, in_free = 0;  ///< when what the rank sends and receives over its links is through
  RecentMemory recent;
  double slowdown = 1;                       ///< of what it computes, as others share its cores or its device
  double footprint;                          ///< bytes that a pass over the rank's box goes through
  std::vector<LaneAt> waiting;               ///< lanes of others that wait for flags of this rank
  std::vector<AwaitedRound> awaited_rounds;  ///< of this rank, by lanes of others

  ReplayRank(Program p, const ReplayRequest& request, int ranks_of_machine);
  ReplayLane& lane(int number) { return weft::at(lanes, number); }
  bool finished() const;
  const Op& op(const ReplayLane& lane) const { return program.ops[static_cast<std::size_t>(lane.step().op)]; }
  ReplayTile& tile(const Op& o) {
    return tiles[static_cast<std::size_t>(o.reshape)][static_cast<std::size_t>(o.tile)];
  }
  /// The time that an operation of this rank alone takes; what it touches is in the cache afterwards.
  double local_seconds(const Op& o);
  /// As that, of one that does nothing else but touch it.
  Distances touch(const CopyCall& call);
  /// Notes an operation of a lane; returns its number.
  int note(int lane, const OperationTime& time);
  int note(int lane, const Op& o, double begin, double end, const LocalBytes& bytes = {});
  int add_event() {
    events.emplace_back();
    return static_cast<int>(events.size()) - 1;
  }

 private:
  void make_lanes(const ReplayRequest& request);
  double fft_seconds(const FftCall& call);
  double copy_seconds(const CopyCall& call);
};

/// How far `peer` is behind `rank` in the ring of all ranks.
inline int ring_distance(int rank, int peer, int ranks) {
  return (peer - rank + ranks) % ranks;
}

}  // namespace weft
