// The model of arrays in memory of devices: descriptions, hand-made programs whose times are counted by hand,
// and what holds for all plans.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "model/machine_json.hpp"
#include "support/described_machine.hpp"
#include "support/expect_error.hpp"
#include "support/random_problem.hpp"

namespace weft::test {

namespace {

constexpr double ms = 1e-3;
constexpr double tiny = 1e-7;  ///< of sums of milliseconds

/// A program that is put together operation by operation, of a rank among some with one reshape.
class Made {
 public:
  explicit Made(int rank = 0, int ranks = 1) {
    p_.rank = rank;
    p_.ranks = ranks;
    Leg leg;
    leg.traits.stores = true;
    leg.exchange = "direct";
    p_.reshapes.push_back({leg, {16, {}, 1}, {16, {}, 1}});
    p_.reshapes[0].sent.tiles.resize(1);
    p_.reshapes[0].stored.tiles.resize(1);
  }
  /// Reads and writes so many bytes in all: 1 ms for 1e6.
  int copy(double bytes, std::vector<int> deps = {}, Lane lane = Lane::compute) {
    return add(call_of(bytes / 2, -1), {.kind = OpKind::copy, .lane = lane}, std::move(deps));
  }
  /// Writes so many bytes into the workspace of another rank.
  int put(double bytes, int peer, Lane lane, std::vector<int> deps = {}) {
    p_.reshapes[0].leg.store_lane = lane;
    p_.reshapes[0].stored.tiles[0].sends.push_back({peer, 0, static_cast<Index>(bytes)});
    return add(call_of(bytes, peer), {.kind = OpKind::put, .reshape = 0, .peer = peer, .lane = lane},
               std::move(deps));
  }
  int signal_full(int peer, Lane lane, std::vector<int> deps) {
    return add({.kind = OpKind::signal_full, .reshape = 0, .peer = peer, .lane = lane}, std::move(deps));
  }
  int await_full(int peer) {
    p_.reshapes[0].stored.tiles[0].receives.push_back({peer, 0, 16});
    return add({.kind = OpKind::await_full, .reshape = 0, .peer = peer}, {});
  }
  /// Of n x n points along both axes.
  int fft(Index n, std::vector<int> deps = {}) {
    FftCall call;
    call.axes = {0, 1};
    call.extents = {n, n};
    call.from = {Space::input, 0, {n, 1}};
    call.to = {Space::output, 0, {n, 1}};
    call.from_bytes = call.to_bytes = 16;
    call.from_box = call.to_box = {{0, 0}, {n, n}};
    p_.ffts.push_back(call);
    return add({.kind = OpKind::fft, .call = static_cast<int>(p_.ffts.size()) - 1}, std::move(deps));
  }
  const Program& program() const { return p_; }

 private:
  static CopyCall call_of(double bytes, int to_rank) {
    const auto n = static_cast<Index>(bytes / 8);
    CopyCall call;
    call.element_bytes = 8;
    call.from = {Space::input, 0, {1}};
    call.to = {Space::output, 0, {1}};
    call.to_rank = to_rank;
    call.box = {{0}, {n}};
    return call;
  }
  int add(const CopyCall& call, Op op, std::vector<int> deps) {
    p_.copies.push_back(call);
    op.call = static_cast<int>(p_.copies.size()) - 1;
    return add(op, std::move(deps));
  }
  int add(Op op, std::vector<int> deps) {
    op.deps_begin = static_cast<int>(p_.deps.size());
    p_.deps.insert(p_.deps.end(), deps.begin(), deps.end());
    op.deps_end = static_cast<int>(p_.deps.size());
    p_.ops.push_back(op);
    return static_cast<int>(p_.ops.size()) - 1;
  }

  Program p_;
};

/// On the described device; by default each rank has one of its own.
Replayed replayed(const std::vector<Made>& made, const DeviceReplay& manner = {}) {
  const MachineDescription machine = described_machine_with_device();
  return replay_timed({machine,
                       std::vector<int>(made.size(), 0),
                       [&](int rank) { return made[static_cast<std::size_t>(rank)].program(); },
                       {},
                       {},
                       manner});
}

/// Copies of so many bytes, each behind the one before.
Made copies_in_a_row(int count, double bytes, int rank = 0, int ranks = 1) {
  Made made(rank, ranks);
  for (int i = 0, last = -1; i < count; ++i)
    last = made.copy(bytes, last < 0 ? std::vector<int>{} : std::vector<int>{last});
  return made;
}

DescribedPlan plan_of(int ranks, const char* exchange, const char* pipeline) {
  DescribedPlan plan;
  plan.ranks = plan.per_node = ranks;
  plan.threads = true;
  for (int r = 0; r < ranks; ++r) plan.devices.push_back(r);
  plan.options.set("exchange", exchange).set("pipeline", pipeline);
  return plan;
}

LinkDescription& link_of(MachineDescription& m, const std::string& between, const std::string& carries) {
  for (LinkDescription& l : m.links)
    if (l.between == between && l.carries == carries) return l;
  throw std::logic_error("no link " + between);
}

}  // namespace

TEST(DeviceFile, ComesBackAsItWas) {
  const MachineDescription machine = described_machine_with_device();
  EXPECT_EQ(read_machine(to_json(machine)), machine);
  EXPECT_FALSE(read_machine(to_json(described_machine())).device.has_value());
}

TEST(DeviceFile, ErrorsNameTheField) {
  const auto refuses = [](const auto& change, const char* text) {
    nlohmann::ordered_json json = nlohmann::ordered_json::parse(to_json(described_machine_with_device()));
    change(json);
    expect_error([&] { read_machine(json.dump()); }, text);
  };
  const nlohmann::json whole = nlohmann::json::parse(to_json(described_machine_with_device()))["device"];
  for (const auto& one : whole.items()) {
    const std::string& field = one.key();
    const std::string missing = "device." + field + " is missing";
    refuses([&](auto& j) { j["device"].erase(field); }, missing.c_str());
  }
  refuses([](auto& j) { j["device"] = 3; }, "device.is no object");
  refuses([](auto& j) { j["device"]["kernel_s"] = -1; }, "device.kernel_s = -1");
  refuses([](auto& j) { j["device"]["execution_s"] = 1e9; }, "device.execution_s");
  refuses([](auto& j) { j["device"]["cache_bytes"] = 0; }, "device.cache_bytes = 0");
  refuses([](auto& j) { j["device"]["copy_alone"] = nlohmann::json::array(); },
          "device.copy_alone has no points");
  refuses([](auto& j) { j["device"]["ffts"] = nlohmann::json::array(); }, "device.ffts is empty");
  refuses([](auto& j) { j["device"]["ffts"][0]["call_s"] = -1; }, "device.ffts[cufft, 64].call_s = -1");
  refuses([](auto& j) { j["device"]["ffts"][0]["shape"] = "cubes"; }, "lines, columns, middle or planes");
  refuses([](auto& j) { j["processor"]["ffts"][0]["shape"] = "middle"; }, "shape = middle");
  refuses([](auto& j) { j["links"][3]["carries"] = "messages"; }, "expected stores or engines");
  refuses([](auto& j) { j["links"][5]["carries"] = "stores"; }, "expected engines");
  refuses([](auto& j) { j["links"][5]["bytes_per_s"] = nlohmann::json::array(); },
          "links[host, engines].bytes_per_s has no points");
}

TEST(DeviceReplay, OfSmallOperationsIsWhatTheHostTakesToLaunchThem) {
  const Replayed small = replayed({copies_in_a_row(5, 16)});
  // The host begins, launches five, and the last one is done.
  EXPECT_NEAR(small.seconds, (7 + 5 * 2 + 1) * ms, tiny);
  // Copies that do not depend on each other are one launch.
  Made together;
  for (int i = 0; i < 5; ++i) together.copy(1e6);
  EXPECT_NEAR(replayed({together}).seconds, (7 + 2 + 1 + 5 * 1) * ms, tiny);
}

TEST(DeviceReplay, OfLargeOperationsIsWhatTheDeviceTakes) {
  EXPECT_NEAR(replayed({copies_in_a_row(5, 10e6)}).seconds, (7 + 2 + 5 * (1 + 10)) * ms, tiny);
}

TEST(DeviceReplay, OfLocalFftsIsAPassForEachAxis) {
  Made made;
  made.fft(1000);
  // Figures are of 64 points: the work grows with the logarithm of the length.
  EXPECT_NEAR(replayed({made}).seconds, (7 + 3 + 2 + 2 * 1 * std::log2(1000) / 6) * ms, tiny);
}

TEST(DeviceReplay, EnginesWorkBesideKernels) {
  Made made(0, 2);
  made.copy(10e6);
  made.put(10e6, 1, Lane::transfer);
  // The copy is launched at 9 ms, the put at 13; the user's stream waits for the other one.
  EXPECT_NEAR(replayed({made, Made(1, 2)}).seconds, (7 + 2 + 4 + 1 + 10 + 0.25) * ms, tiny);
}

TEST(DeviceReplay, KernelsOfBothStreamsTakeTurns) {
  Made made;
  made.copy(10e6);
  made.copy(10e6, {}, Lane::transfer);
  EXPECT_NEAR(replayed({made}).seconds, (7 + 2 + 2 * (1 + 10) + 0.25) * ms, tiny);
}

TEST(DeviceReplay, WaitsForTheOtherStream) {
  Made made(0, 2);
  const int computed = made.copy(10e6);
  made.put(10e6, 1, Lane::transfer, {computed});
  const Replayed r = replayed({made, Made(1, 2)});
  EXPECT_NEAR(r.seconds, (7 + 2 + 1 + 10 + 0.25 + 1 + 10 + 0.25) * ms, tiny);
  EXPECT_EQ(r.slowest, 0);
}

TEST(DeviceReplay, FlagsGoFromRankToRank) {
  Made sends(0, 2), receives(1, 2);
  const int put = sends.put(10e6, 1, Lane::transfer);
  sends.signal_full(1, Lane::transfer, {put});
  const int full = receives.await_full(0);
  receives.copy(10e6, {full});
  // The put is launched at 11 ms and done at 22, with its flag, which travels for 1 ms.
  EXPECT_NEAR(replayed({sends, receives}).seconds, (7 + 4 + 11 + 1 + 1 + 10) * ms, tiny);
  // A put by a kernel: launched at 9 ms. Nobody waits for another stream.
  Made kernel(0, 2);
  kernel.signal_full(1, Lane::compute, {kernel.put(10e6, 1, Lane::compute)});
  EXPECT_NEAR(replayed({kernel, receives}).seconds, (7 + 2 + 11 + 1 + 1 + 10) * ms, tiny);
  // Both on one device: a copy there, and flags do not travel.
  EXPECT_NEAR(replayed({kernel, receives}, {{3, 3}}).seconds, (7 + 2 + 1 + 20 + 1 + 10) * ms, tiny);
  // A flag that is up already is seen all the same: two launches, then a look, then the copy.
  Made early(0, 2);
  early.signal_full(1, Lane::compute, {early.put(16, 1, Lane::compute)});
  Made late(1, 2);
  const int before = late.copy(20e6);
  const int seen = late.await_full(0);
  late.copy(10e6, {before, seen});
  EXPECT_NEAR(replayed({early, late}).seconds, (7 + 2 + 21 + 0.2 + 1 + 10) * ms, tiny);
}

TEST(DeviceReplay, AGraphIsOneLaunch) {
  // Ten for the graph and a tenth for each node, on the device half for each node.
  EXPECT_NEAR(replayed({copies_in_a_row(5, 16)}, {{}, true}).seconds, (7 + 10 + 5 * 0.1 + 5 * 0.5) * ms,
              tiny);
}

TEST(DeviceReplay, RanksThatShareADeviceTakeTurns) {
  const std::vector<Made> both{copies_in_a_row(1, 10e6, 0, 2), copies_in_a_row(1, 10e6, 1, 2)};
  EXPECT_NEAR(replayed(both, {{0, 1}}).seconds, (7 + 2 + 11) * ms, tiny);
  EXPECT_NEAR(replayed(both, {{5, 5}}).seconds, (7 + 2 + 2 * 11) * ms, tiny);
}

TEST(DeviceModel, OfOneRankIsItsLocalFft) {
  DescribedPlan plan = plan_of(1, "auto", "auto");
  plan.options.set("graph", "off");
  const double points = 64 * 64 * 64;
  EXPECT_NEAR(plan.seconds_on(described_machine_with_device()), (7 + 3 + 2 * 2) * ms + 3 * points * 1e-9,
              tiny);
  plan.options.set("graph", "on");
  EXPECT_NEAR(plan.seconds_on(described_machine_with_device()), (7 + 10 + 0.3) * ms + 3 * points * 1e-9,
              tiny);
}

/// What goes through pinned memory: to it, from rank to rank on the host, and back.
TEST(DeviceModel, StagedPartsGoThroughPinnedMemory) {
  DescribedPlan plan = plan_of(2, "copy", "sequential");
  plan.shape = {128, 128, 128};
  const auto seconds_at = [&](double speed) {
    MachineDescription machine = described_machine_with_device();
    link_of(machine, over_host, by_engines).bytes_per_s = Curve({{64, speed}});
    return plan.seconds_on(machine);
  };
  // Half of an array, of which a half goes to the other rank; over links that are slower than all else.
  const double part = 128.0 * 128 * 128 * 16 / 4;
  EXPECT_NEAR(seconds_at(1e7) - seconds_at(1e8), 2 * part * (1e-7 - 1e-8), tiny);
  EXPECT_NEAR(plan.on(described_machine_with_device()).prediction.activities.at("stage"),
              2 * (part / 1e9 + 1 * ms), tiny);
  // Two ranks of one device take turns on each of its engines, and the host of either takes what has come
  // once its own part is away.
  plan.devices = {0, 0};
  EXPECT_NEAR(seconds_at(1e7) - seconds_at(1e8), 4 * part * (1e-7 - 1e-8), 0.01 * part * 1e-7);
}

TEST(DeviceModel, TheCriticalPathAddsUpToTheTime) {
  for (const char* exchange : {"direct", "copy"})
    for (const char* pipeline : {"sequential", "windowed", "planes", "two-front"})
      for (const int ranks : {1, 2, 4}) {
        DescribedPlan plan = plan_of(ranks, ranks == 1 ? "auto" : exchange, pipeline);
        const Prediction p = plan.on(described_machine_with_device()).prediction;
        double sum = 0;
        for (const auto& [activity, seconds] : p.critical) sum += seconds;
        EXPECT_NEAR(sum, p.seconds, 1e-3 * p.seconds) << exchange << ", " << pipeline << ", " << ranks;
        EXPECT_GE(p.seconds, 0.999 * p.compute_s) << exchange << ", " << pipeline << ", " << ranks;
      }
}

TEST(DeviceModel, NeverFallsWhenSomethingIsSlowerOrAnArrayIsLarger) {
  for (const char* exchange : {"direct", "copy"})
    for (const char* pipeline : {"sequential", "windowed", "planes", "two-front"}) {
      DescribedPlan plan = plan_of(4, exchange, pipeline);
      const auto rises = [&](const char* what, const auto& change) {
        double before = 0;
        for (const double times : {1.0, 2.0, 10.0, 100.0}) {
          MachineDescription machine = described_machine_with_device();
          change(machine, times);
          const double seconds = plan.seconds_on(machine);
          EXPECT_GE(seconds, before * (1 - 1e-12))
              << what << " " << times << ", " << exchange << ", " << pipeline;
          before = seconds;
        }
      };
      rises("memory", [](auto& m, double t) { m.device->copy_alone = Curve({{64, 1e9 / t}}); });
      rises("ffts", [](auto& m, double t) {
        for (FftSpeed& f : m.device->ffts) f.in_cache_s *= t, f.in_memory_s *= t;
      });
      rises("launches", [](auto& m, double t) {
        m.device->launch_kernel_s *= t;
        m.device->launch_fft_s *= t;
      });
      rises("kernels", [](auto& m, double t) { m.device->kernel_s *= t; });
      rises("flags", [](auto& m, double t) { link_of(m, over_peer, by_stores).flag_s *= t; });
      using Link = std::pair<const char*, const char*>;
      for (const Link& of :
           {Link(over_peer, by_stores), Link(over_peer, by_engines), Link(over_host, by_engines)})
        rises(of.first, [&](auto& m, double t) {
          LinkDescription& link = link_of(m, of.first, of.second);
          link.bytes_per_s = Curve({{64, 1e9 / t}});
          link.latency_s *= t;
        });
      double before = 0;
      for (const Index n : {16, 32, 64, 128}) {
        plan.shape = {n, n, n};
        const double seconds = plan.seconds_on(described_machine_with_device());
        EXPECT_GE(seconds, before) << exchange << " " << pipeline << " " << n;
        before = seconds;
      }
    }
}

TEST(DeviceModel, OfLikeRanksReplayedOnceIsThatOfAll) {
  for (const char* exchange : {"direct", "copy"}) {
    DescribedPlan plan = plan_of(16, exchange, "sequential");
    const PlanPrediction all = plan.on(described_machine_with_device());
    plan.replayed = ReplayedRanks::classes;
    const PlanPrediction some = plan.on(described_machine_with_device());
    EXPECT_EQ(all.replayed.ranks.size(), 16u);
    EXPECT_NEAR(some.prediction.seconds, all.prediction.seconds, 0.1 * all.prediction.seconds) << exchange;
  }
}

TEST(DeviceModel, OfRandomProblemsIsFiniteAndPositive) {
  const MachineDescription machine = described_machine_with_device();
  for (int i = 0; i < problem_count(150); ++i) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(i);
    RandomProblem p = make_random_problem(seed, 1 + static_cast<int>(seed % 5), true);
    if (!p.problem.points.empty() || !p.problem.modes.empty() || p.problem.between != Between::none)
      continue;  // of arrays on the host, as lines are
    p.problem.line = {};
    Problem problem = p.of(0);
    problem.memory = MemoryKind::cuda;
    check_problem(problem, p.ranks);
    const std::vector<int> nodes(static_cast<std::size_t>(p.ranks), 0);
    std::vector<int> devices;  // of every second one two ranks
    for (int r = 0; r < p.ranks; ++r) devices.push_back(seed % 2 == 0 ? r : r / 2);
    Setting setting = described_setting(machine, nodes, true, devices);
    setting.given = {p.input_boxes, p.output_boxes, p.input_orders, p.output_orders};
    try {
      const Design d = design(problem, wishes_of({}), setting);
      for (const Direction direction : {Direction::forward, Direction::backward}) {
        const Prediction of = predict({machine, d, setting, problem.precision}, direction).prediction;
        EXPECT_TRUE(std::isfinite(of.seconds) && of.seconds > 0) << p.describe();
        EXPECT_GE(of.seconds, 0.999 * of.compute_s) << p.describe();
      }
    } catch (const Error& e) {
      ADD_FAILURE() << e.what() << "\n" << p.describe();
    }
  }
}

TEST(DeviceModel, SaysWhatAMachineLacks) {
  DescribedPlan plan = plan_of(2, "auto", "auto");
  expect_error([&] { plan.seconds_on(described_machine()); }, "a machine description with a device");
  MachineDescription machine = described_machine_with_device();
  std::erase_if(machine.links, [](const LinkDescription& l) { return l.between == over_peer; });
  // Then devices do not reach each other, and parts go through the host.
  const PlanPrediction far = plan.on(machine);
  EXPECT_GT(far.prediction.activities.at("stage"), 0);
  std::erase_if(machine.links, [](const LinkDescription& l) { return l.between == over_host; });
  expect_error([&] { plan.seconds_on(machine); }, "without a link for engines between a device and its host");
  plan.options.set("exchange", "nccl");
  expect_error([&] { plan.seconds_on(described_machine_with_device()); }, "exchange nccl among devices");
  DescribedPlan few = plan_of(2, "auto", "auto");
  few.devices = {0};
  expect_error([&] { few.seconds_on(described_machine_with_device()); }, "1 devices of 2 ranks");
}

}  // namespace weft::test
