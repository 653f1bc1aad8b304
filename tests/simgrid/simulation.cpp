#include "simgrid/simulation.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <map>

#include "base/arithmetic.hpp"
#include "model/replay_links.hpp"
#include "model/replay_rank.hpp"
#include "traffic/padding.hpp"
#include "weft/error.hpp"

namespace weft::test {

namespace {

namespace sg = simgrid::s4u;

/// Of SimGrid's clock: its setting precision/timing, unless it is told another.
constexpr double tick_s = 1e-9;

/// The parts of a tile that are under way.
struct TileUnderWay {
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  std::vector<sg::CommPtr> sends;
  int queued = 0;                                    ///< parts that follow each other
  sg::SemaphorePtr sent = sg::Semaphore::create(0);  ///< how many of them have arrived
  std::vector<sg::ActivityPtr> receives;
  std::vector<std::size_t> which;  ///< per receive, its position among the parts of the tile
  std::size_t own = none;          ///< the position of what the rank keeps
};

class SimulatedRank {
 public:
  SimulatedRank(Program program, const Simulation& simulation, const ReplayLinks& links)
      : program_(std::move(program)),
        costs_(simulation.replay.machine, simulation.replay.cost),
        links_(links),
        parts_(simulation.parts) {
    for (int reshape = 0; reshape < static_cast<int>(program_.reshapes.size()); ++reshape)
      members_.push_back(members_of(simulation.replay.groups_of(reshape), program_.rank));
  }

  void run() {
    while (at_ < program_.ops.size()) step(program_.ops[at_++]);
  }
  /// Of parts that follow each other: lets them go.
  void carry() {
    for (;;) {
      queued_->acquire();
      const auto [to, bytes, sent] = queue_.front();
      queue_.pop_front();
      to->put(&payload_, bytes);
      sent->release();
    }
  }
  /// Lets parts travel before `actor`, which runs this rank, has asked for them.
  void receives_early(const sg::ActorPtr& actor, bool in_rounds) const {
    for (int reshape = 0; reshape < static_cast<int>(program_.reshapes.size()); ++reshape) {
      const ReshapeProgram& r = at(program_.reshapes, reshape);
      if (r.leg.traits.in_rounds && !in_rounds) continue;
      for (int tile = 0; tile < static_cast<int>(r.sent.tiles.size()); ++tile)
        for (const Message& m : at(r.sent.tiles, tile).receives)
          if (m.peer != program_.rank) box(reshape, tile, m.peer, program_.rank)->set_receiver(actor);
    }
  }

 private:
  static sg::Mailbox* box(int reshape, int tile, int from, int to) {
    return sg::Mailbox::by_name(std::to_string(reshape) + " " + std::to_string(tile) + " " +
                                std::to_string(from) + " " + std::to_string(to));
  }
  /// What is shorter than a tick takes no time.
  static void pass(double seconds) {
    if (seconds >= tick_s) sg::this_actor::sleep_for(seconds);
  }
  void step(const Op& op);
  void post(const Op& op);
  void go_round(const Op& op);
  void receive(const Op& op);
  sg::CommPtr send(const Op& op, const Message& m);
  void send_beside(const Op& op, const Message& m, TileUnderWay& tile);
  sg::CommPtr ask_for(const Op& op, const Message& m) {
    return box(op.reshape, op.tile, m.peer, program_.rank)->get_async<int>(&received_);
  }
  double part_seconds(int peer) const {
    return links_.link(links_.near(program_.rank, peer), by_messages).part_s;
  }
  double local_seconds(const Op& op) const {
    return op.kind == OpKind::fft ? costs_.fft_seconds(at(program_.ffts, op.call), {})
                                  : costs_.copy_seconds(at(program_.copies, op.call), {});
  }
  const TileMessages& messages(const Op& op) const {
    return at(at(program_.reshapes, op.reshape).sent.tiles, op.tile);
  }
  TileUnderWay& under_way(const Op& op) { return under_way_[{op.reshape, op.tile}]; }

  Program program_;
  Costs costs_;
  const ReplayLinks& links_;
  Parts parts_;
  std::vector<std::vector<int>> members_;  ///< [reshape]: the ranks that exchange data with each other
  std::size_t at_ = 0;
  std::map<std::pair<int, int>, TileUnderWay> under_way_;
  struct Queued {
    sg::Mailbox* to;
    std::uint64_t bytes;
    sg::SemaphorePtr sent;
  };
  std::deque<Queued> queue_;
  sg::SemaphorePtr queued_ = sg::Semaphore::create(0);
  int payload_ = 0;
  int* received_ = nullptr;
};

sg::CommPtr SimulatedRank::send(const Op& op, const Message& m) {
  pass(part_seconds(m.peer));
  return box(op.reshape, op.tile, program_.rank, m.peer)
      ->put_async(&payload_, static_cast<std::uint64_t>(m.bytes));
}

void SimulatedRank::send_beside(const Op& op, const Message& m, TileUnderWay& tile) {
  if (parts_ == Parts::share) {
    tile.sends.push_back(send(op, m));
    return;
  }
  pass(part_seconds(m.peer));
  queue_.push_back(
      {box(op.reshape, op.tile, program_.rank, m.peer), static_cast<std::uint64_t>(m.bytes), tile.sent});
  queued_->release();
  ++tile.queued;
}

/// In the order of a ring that begins behind the rank, as carriers send; all at once.
void SimulatedRank::post(const Op& op) {
  TileUnderWay& tile = under_way(op);
  const TileMessages& all = messages(op);
  for (std::size_t i = 0; i < all.receives.size(); ++i) {
    if (all.receives[i].peer == program_.rank) {
      tile.own = i;
    } else {
      tile.receives.push_back(ask_for(op, all.receives[i]));
      tile.which.push_back(i);
    }
  }
  std::vector<Message> sends = all.sends;
  std::sort(sends.begin(), sends.end(), [&](const Message& a, const Message& b) {
    return ring_distance(program_.rank, a.peer, program_.ranks) <
           ring_distance(program_.rank, b.peer, program_.ranks);
  });
  for (const Message& m : sends)
    if (m.peer != program_.rank) send_beside(op, m, tile);
}

/// A collective among the ranks that exchange data with each other: in each round a rank sends to one that is
/// so many places behind it, and receives from one as many places before it.
void SimulatedRank::go_round(const Op& op) {
  const TileMessages& all = messages(op);
  const std::vector<int>& members = at(members_, op.reshape);
  const std::size_t count = members.size();
  const auto place =
      static_cast<std::size_t>(std::find(members.begin(), members.end(), program_.rank) - members.begin());
  const auto find = [](const std::vector<Message>& list, int peer) {
    return std::find_if(list.begin(), list.end(), [&](const Message& m) { return m.peer == peer; });
  };
  for (std::size_t round = 1; round < count; ++round) {
    const auto out = find(all.sends, members[(place + round) % count]);
    const auto in = find(all.receives, members[(place + count - round) % count]);
    const sg::CommPtr received = in == all.receives.end() ? nullptr : ask_for(op, *in);
    const sg::CommPtr sent = out == all.sends.end() ? nullptr : send(op, *out);
    if (received) {
      received->wait();
      pass(part_seconds(in->peer));
    }
    if (sent) sent->wait();
  }
}

void SimulatedRank::receive(const Op& op) {
  const std::size_t first = at_;
  const auto unpack = [&](std::size_t which) {
    if (op.count > 0) pass(local_seconds(program_.ops[first + which]));
  };
  if (at(program_.reshapes, op.reshape).leg.traits.in_rounds) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(op.count); ++i) unpack(i);
  } else {
    TileUnderWay& tile = under_way(op);
    if (tile.own != TileUnderWay::none) unpack(tile.own);
    while (!tile.receives.empty()) {
      const auto next = sg::Activity::wait_any(tile.receives);
      const std::size_t which = tile.which[static_cast<std::size_t>(next)];
      tile.receives.erase(tile.receives.begin() + next);
      tile.which.erase(tile.which.begin() + next);
      pass(part_seconds(messages(op).receives[which].peer));
      unpack(which);
    }
  }
  at_ += static_cast<std::size_t>(op.count);
}

void SimulatedRank::step(const Op& op) {
  switch (op.kind) {
    case OpKind::post:
      at(program_.reshapes, op.reshape).leg.traits.in_rounds ? go_round(op) : post(op);
      return;
    case OpKind::receive:
      return receive(op);
    case OpKind::wait_sent:
      sg::Comm::wait_all(std::exchange(under_way(op).sends, {}));
      for (TileUnderWay& tile = under_way(op); tile.queued > 0; --tile.queued) tile.sent->acquire();
      return;
    case OpKind::put:
    case OpKind::signal_free:
    case OpKind::await_free:
    case OpKind::signal_full:
    case OpKind::await_full:
      throw Error("simulation", std::string(name_of(op.kind)), "an exchange that sends all parts");
    default:
      pass(local_seconds(op));
  }
}

double simulate(const Simulation& simulation) {
  std::string name = "simgrid_test", quiet = "--log=root.thresh:warning";
  char* arguments[] = {name.data(), quiet.data(), nullptr};
  int count = 2;
  sg::Engine engine(&count, arguments);
  choose_network_model();
  const std::vector<sg::Host*> hosts = plant(simulation.tree);
  engine.seal_platform();
  const ReplayRequest& replay = simulation.replay;
  const ReplayLinks links(replay.machine, replay.nodes, replay.rails);
  std::vector<SimulatedRank> ranks;
  std::size_t finished = 0;
  for (int r = 0; r < static_cast<int>(replay.nodes.size()); ++r)
    ranks.emplace_back(replay.program_of(r), simulation, links);
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const sg::ActorPtr actor = sg::Actor::create("rank", at(hosts, replay.nodes[r]), [&, r] {
      ranks[r].run();
      ++finished;
    });
    if (simulation.parts == Parts::follow)
      sg::Actor::create("link", at(hosts, replay.nodes[r]), [&, r] { ranks[r].carry(); })->daemonize();
    ranks[r].receives_early(actor, simulation.early_rounds);
  }
  engine.run();
  if (finished != ranks.size())
    throw Error("simulation", std::to_string(finished) + " finished ranks", "all of them");
  return sg::Engine::get_clock();
}

}  // namespace

double simulated_seconds(const Simulation& simulation) {
  int ends[2];
  if (pipe(ends) != 0) throw Error("simulation", "no pipe", "one to the simulating process");
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    try {
      const double seconds = simulate(simulation);
      std::_Exit(write(ends[1], &seconds, sizeof seconds) == sizeof seconds ? 0 : 1);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s\n", e.what());
    }
    std::_Exit(1);
  }
  close(ends[1]);
  double seconds = 0;
  const bool there = child > 0 && read(ends[0], &seconds, sizeof seconds) == sizeof seconds;
  close(ends[0]);
  int status = 1;
  if (child > 0) waitpid(child, &status, 0);
  if (!there || status != 0)
    throw Error("simulation", "status " + std::to_string(status),
                "a process that simulates until all ranks have finished");
  return seconds;
}

}  // namespace weft::test
