// The timed replay at work: lanes of ranks, and what happens at which time. A lane does one step after the
// other; each function below does one kind of step, and says whether the lane goes on.
#pragma once

#include <algorithm>
#include <map>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "base/arithmetic.hpp"
#include "model/replay_links.hpp"
#include "model/replay_rank.hpp"

namespace weft {

/// Some of a kind, the cores of a machine or a device's multiprocessors or engines, each with the time from
/// which it is free.
class Cores {
 public:
  explicit Cores(int count) : free_(static_cast<std::size_t>(count), 0) {}
  /// Takes the one that is free first; returns when the work begins.
  double take(double ready, double seconds) {
    const auto core = std::min_element(free_.begin(), free_.end());
    const double begin = std::max(ready, *core);
    *core = begin + seconds;
    return begin;
  }

 private:
  std::vector<double> free_;
};

/// What the ranks of a device take turns on. Engines work beside kernels.
struct ReplayDevice {
  Cores kernels{1}, outwards{1}, inwards{1};
};

/// What a rank has packed for other machines in a tile, when, and in which of its operations.
struct GatheredParts {
  LaneAt by;
  int operation;
  double time;
  std::vector<Departure> departures;
};

class TimedReplay {
 public:
  explicit TimedReplay(const ReplayRequest& request);
  Replayed run();

 private:
  enum class What { lane, enters, arrives };
  struct Event {
    double time;
    std::size_t number;  ///< of events at the same time the first comes first
    What what;
    LaneAt lane;
    int reshape, tile, receive;
    bool operator<(const Event& other) const {
      return std::tie(other.time, other.number) < std::tie(time, number);
    }
  };

  ReplayRank& of(LaneAt at) { return weft::at(ranks_, at.rank); }
  ReplayLane& lane(LaneAt at) { return of(at).lane(at.lane); }
  static const ExchangeTraits& exchange_of(const ReplayRank& r, const Op& op) {
    return weft::at(r.program.reshapes, op.reshape).leg.traits;
  }
  static void note_sent(ReplayRank& r, const ExchangeTraits& exchange, Index bytes);
  ReplayRank& replayed(int rank) { return at(ranks_, at(place_, rank)); }

  // timed_replay.cpp: time goes on.
  void add_rank(int rank, int stands_for, bool all);
  void push(double time, What what, LaneAt at, int reshape = -1, int tile = -1, int receive = -1);
  void wake(LaneAt at, double time) { push(std::max(lane(at).clock, time), What::lane, at); }
  /// When what the next step of a lane waits for has happened, and what came last; `not_yet`: not all has.
  std::pair<double, ReplayCause> opening(LaneAt at);
  /// Whether the next step may begin at the time `now`; else its lane comes back when it may.
  bool opened(LaneAt at, double now);
  /// Does the next step of a lane; false if it has to wait.
  bool step(LaneAt at);
  void finish(LaneAt at, const Op& op, double begin, double end, Index bytes = 0);
  void advance(LaneAt at, bool happened = true);

  // replay_local.cpp: what a rank does alone.
  void run_local(LaneAt at, const Op& op);
  void run_kernel(LaneAt at, const Op& op, double seconds);
  void run_put(LaneAt at, const Op& op);
  void run_staging(LaneAt at);
  bool on_one_device(int a, int b) const { return device_number(a) == device_number(b); }
  int device_number(int rank) const;
  ReplayDevice& device_of_rank(int rank) { return devices_[device_number(rank)]; }

  // replay_launches.cpp: the host of a device.
  void begin_execution(int rank);
  double launch_seconds(const ReplayRank& r, const ReplayStep& step) const;
  void launch(LaneAt host, double seconds);
  void append(int rank, int lane, ReplayStep step);
  void enqueue(LaneAt host);
  void stage(LaneAt host);
  void stage_in(LaneAt host, const Op& op, std::size_t part);
  void mark(LaneAt host, int op);

  // replay_messages.cpp
  void connect();
  int position_of(int sender, const ReplayTile& at_sender, bool stored, int peer, int receiver,
                  const ReplayTile& at_receiver) const;
  bool post(LaneAt at, const Op& op);
  std::vector<Departure> start_parts(LaneAt at, ReplayTile& tile, const ExchangeTraits& exchange);
  double packing_seconds(const ReplayRank& r, Index bytes) const;
  void gather(LaneAt at, const Op& op, std::vector<Departure> departures);
  std::size_t gathering_ranks(int machine, const Op& op);
  void announce_parts(LaneAt at, const Op& op, const std::vector<Departure>& departures, int operation);
  void depart(int to, const Op& op, int receive, const Departure& part, const ReplayCause& by);
  bool receive(LaneAt at, const Op& op);
  bool take_next(LaneAt at, const Op& op, ReplayTile& tile);
  void unpack(LaneAt at, const Op& op, std::size_t part);
  void enters(const Event& e);
  void arrives(const Event& e);

  // replay_rounds.cpp
  void lay_out_rounds();
  static const ReplayRound* come_to(const ReplayRank& r, const AwaitedRound& round);
  void begin_round(ReplayRank& r, ReplayRound& round, double begun, ReplayCause since);
  double through_link(const ExchangeTraits& exchange, double& link_free, int rank, int peer, Index bytes,
                      double begin) const;
  bool go_round(LaneAt at, const Op& op, ReplayTile& tile);
  bool go_in_rounds(LaneAt at, const Op& op);

  // replay_flags.cpp
  double flag_seconds(int from, int to) const;
  std::pair<double, ReplayCause> seen(LaneAt at, const Op& op);
  void wake_waiting(ReplayRank& r);
  bool await_flag(LaneAt at, const Op& op);
  void signal(LaneAt at, const Op& op);

  // replay_stand_ins.cpp
  bool has_stand_in(int rank) { return replayed(rank).program.rank != rank; }
  std::vector<int> parts_of_stand_ins(LaneAt at);
  bool waits_for_stand_in(LaneAt at);
  void end_wait(LaneAt at);
  bool let_go();

  const ReplayRequest& request_;
  ReplayLinks links_;
  const DeviceDescription* device_;  ///< null: arrays on the host
  int size_;
  std::vector<int> place_;  ///< per rank, where in `ranks_` the one is that stands for it
  std::vector<ReplayRank> ranks_;
  /// What ranks of a machine have packed for others, until all have: by machine, reshape and tile.
  std::map<std::tuple<int, int, int>, std::vector<GatheredParts>> gathered_;
  std::map<int, Cores> cores_;           ///< of machines with more ranks than cores
  std::map<int, ReplayDevice> devices_;  ///< by number
  std::priority_queue<Event> events_;
  std::size_t pushed_ = 0;
  int let_go_ = 0;  ///< waits
};

}  // namespace weft
