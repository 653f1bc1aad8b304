// Efforts that make trials, with arrays in device memory: what they choose among, that results are right
// whatever is chosen, and what wisdom does with it. Times decide what is found.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/description_file.hpp"
#include "support/device_problem.hpp"
#include "support/devices.hpp"
#include "support/disturbance.hpp"
#include "support/expect_error.hpp"
#include "support/says.hpp"
#include "support/tuned.hpp"
#include "weft/weft.hpp"

namespace weft::test {

namespace {

int ranks() {
  return std::max(2, std::min(4, ScopedDevices::count()));
}

/// A plan whose ranks have a device each, as far as there are so many.
PlanRecord plan_of(ThreadTeam& team, const Problem& problem, const Options& options) {
  return record(team, problem, options,
                [](int rank) { ScopedDevices::choose(rank % ScopedDevices::count()); });
}

class DeviceTuning : public testing::Test {
 protected:
  void SetUp() override { forget_wisdom(); }
  void TearDown() override { forget_wisdom(); }
};

}  // namespace

TEST_F(DeviceTuning, OfExecutionsIsForArraysOnTheHost) {
  ThreadTeam(1).run([](const Comm& comm) {
    ScopedDevices::choose(0);
    Problem p;
    p.shape = {8, 8};
    p.memory = MemoryKind::cuda;
    expect_error([&] { Plan(comm, p, Options().set("effort", "online")); }, "measure or patient");
  });
}

TEST_F(DeviceTuning, EveryKindOfProblemComesOutRight) {
  ThreadTeam team(ranks());
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    RandomProblem p = make_device_problem(7000 + seed, team.size(), {"auto"});
    p.options = quick(seed % 3 == 0 ? "measure" : "patient");
    if (p.user_workspace) p.options.set("workspace", "user");
    p.delays = false;
    const ScopedDevices devices;
    const ScopedTestHook hook(disturbance(false));
    ASSERT_NO_THROW(team.run([&](const Comm& comm) {
      ScopedDevices::choose(comm.rank() % ScopedDevices::count());
      run_random_problem(comm, p);
    })) << p.describe();
  }
}

/// Kernels that store are slow in this description, so that another plan than the rules' is taken.
TEST_F(DeviceTuning, ADescriptionChooses) {
  MachineDescription machine = described_machine_with_device();
  for (LinkDescription& l : machine.links)
    if (l.between == over_peer && l.carries == by_stores) l.bytes_per_s = Curve({{64, 1e3}});
  const DescriptionFile file(machine);
  const ScopedDevices devices;
  ThreadTeam team(2);
  const PlanRecord r = plan_of(team, on_device(), Options().set("machine", file.name()));
  EXPECT_EQ(r.plans, 1);  // nothing is tried
  ASSERT_TRUE(r.learnt.machine);
  ASSERT_GT(r.learnt.candidates.size(), 1U) << r.learnt.text;
  // Two that share a device do not store.
  EXPECT_EQ(r.learnt.origin, ScopedDevices::count() > 1 ? Origin::model : Origin::rule) << r.learnt.text;
  EXPECT_EQ(plan_of(team, on_device(), Options().set("machine", "none")).learnt.origin, Origin::rule);
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    RandomProblem p = make_device_problem(7500 + seed, team.size(), {"auto"});
    p.options = Options().set("machine", file.name());
    if (p.user_workspace) p.options.set("workspace", "user");
    ASSERT_NO_THROW(team.run([&](const Comm& comm) {
      ScopedDevices::choose(comm.rank() % ScopedDevices::count());
      run_random_problem(comm, p);
    })) << p.describe();
  }
}

TEST_F(DeviceTuning, SearchesAmongTilesAndNotAmongWhatOnlyHostsHave) {
  const ScopedDevices devices;
  ThreadTeam team(2);
  Problem p = on_device();
  p.shape = {32, 32, 8};
  for (const char* pipeline : {"windowed", "planes"}) {
    const Options o = quick("patient", "", 16).set("pipeline", pipeline).set("exchange", "copy");
    const PlanRecord r = plan_of(team, p, o);
    EXPECT_GT(r.plans, 3);
    EXPECT_EQ(r.learnt.origin, Origin::trial);
    for (const Leg& leg : all_legs(r.design)) {
      EXPECT_TRUE(leg.axis < 0 || find_parameter(leg, "tile"));
      for (const char* host : {"px", "uy", "fy", "fp", "subtile"}) EXPECT_FALSE(find_parameter(leg, host));
    }
    int tiles = 0;  // "tile.0", "tile.1"
    for (const std::string& name : r.learnt.tuned.names) {
      tiles += name.starts_with("tile") ? 1 : 0;
      EXPECT_TRUE(name.starts_with("tile") || name.starts_with("window")) << name;
    }
    EXPECT_GT(tiles, 0);
  }
}

TEST_F(DeviceTuning, WithWisdomMakesNoTrialAndTheSamePlan) {
  const ScopedDevices devices;
  ThreadTeam team(ranks());
  for (const char* effort : {"measure", "patient"}) {
    forget_wisdom();
    const std::string file = new_wisdom_file();
    const PlanRecord found = plan_of(team, on_device(), quick(effort, file));
    EXPECT_GT(found.plans, 2);
    EXPECT_EQ(found.learnt.origin, Origin::trial);
    forget_wisdom();
    const PlanRecord again = plan_of(team, on_device(), quick(effort, file));
    EXPECT_EQ(again.plans, 1);
    EXPECT_EQ(again.learnt.origin, Origin::wisdom);
    EXPECT_EQ(again.identity, found.identity);
    const Options with = Options().set("wisdom", file);
    EXPECT_EQ(plan_of(team, on_device(), with).learnt.origin, Origin::wisdom);
    // The host is another machine, and arrays there another problem.
    Problem host = on_device();
    host.memory = MemoryKind::host;
    const std::string said =
        warnings_of([&] { EXPECT_EQ(plan_of(team, host, with).learnt.origin, Origin::rule); });
    EXPECT_EQ(said, "");
    remove_wisdom(file);
  }
}

TEST_F(DeviceTuning, KeepsToItsBudgetAndTheUsersChoices) {
  const ScopedDevices devices;
  ThreadTeam team(2);
  const PlanRecord late = plan_of(team, on_device(), quick("patient").set("budget", "0"));
  EXPECT_EQ(late.learnt.tuned.trials, 1);
  EXPECT_FALSE(late.learnt.tuned.finished);
  EXPECT_EQ(plan_of(team, on_device(), quick("measure", "", 0)).plans, 1);
  const PlanRecord chosen =
      plan_of(team, on_device(), quick("patient").set("exchange", "copy").set("pipeline", "windowed"));
  for (const Leg& leg : all_legs(chosen.design)) {
    EXPECT_EQ(leg.exchange, "copy");
    EXPECT_EQ(leg.pipeline, "windowed");
  }
  const auto refused = [&](const Options& o) { return [&team, o] { plan_of(team, on_device(), o); }; };
  expect_error(refused(quick("measure").set("tile", "1000")), "option tile");
  expect_error(refused(quick("measure").set("threads", 2)), "memory of a GPU");
}

TEST_F(DeviceTuning, SaysWhereWisdomIsImpossible) {
  const ScopedDevices devices;
  ThreadTeam team(2);
  const std::string file = new_wisdom_file();
  plan_of(team, on_device(), quick("measure", file));
  for (const char* bad : {R"("exchange": "pigeon")", R"("tile": "100000")"}) {
    forget_wisdom();
    edit_options(file, bad);
    PlanRecord r;
    const std::string said =
        warnings_of([&] { r = plan_of(team, on_device(), Options().set("wisdom", file)); });
    EXPECT_TRUE(says(said, "says of this problem"));
    EXPECT_EQ(r.plans, 1);
    EXPECT_EQ(r.learnt.origin, Origin::rule);
  }
  remove_wisdom(file);
}

}  // namespace weft::test
