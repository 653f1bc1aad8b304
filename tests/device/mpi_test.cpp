// Random problems on MPI ranks with arrays in device memory: direct exchange between processes, and staged.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/test_hook.hpp"
#include "comm/mpi_devices.hpp"
#include "support/design_of.hpp"
#include "support/device_problem.hpp"
#include "support/devices.hpp"
#include "support/disturbance.hpp"
#include "support/expect_error.hpp"
#include "support/has_exchange.hpp"
#include "support/tuned.hpp"
#include "transport/ucx/devices.hpp"
#include "weft/error.hpp"
#include "weft/mpi.hpp"
#include "weft/plan.hpp"
#include "weft/wisdom.hpp"

namespace weft::test {

namespace {

/// Whether an exchange goes through pinned memory: the exchanges of a plan that do.
std::vector<std::string> staged(const Comm& comm, const char* staging, const char* exchange = "p2p") {
  const Plan plan(comm, on_device(), Options().set("exchange", exchange).set("staging", staging));
  return design_of(plan).memory.staged;
}

/// Some MPI libraries make no windows, which exchange ring needs.
bool makes_windows(const Comm& comm) {
  try {
    const Plan plan(comm, on_device(), Options().set("exchange", "ring"));
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("MPI_Win_create fails"), std::string::npos) << e.what();
    return false;
  }
  return true;
}

}  // namespace

TEST(DeviceProblems, OnMpiRanksWithADeviceEachOrSharingOne) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  std::vector<std::string> common{"direct", "p2p", "alltoallv"};
  {
    const ScopedDevices all({.processes = true});
    ScopedDevices::choose(comm.rank() % ScopedDevices::count());
    if (makes_windows(comm)) common.emplace_back("ring");
  }
  const int count = problem_count(ScopedDevices::problems() / 2);
  for (int i = 0; i < count; ++i) {
    const std::uint64_t seed = first_seed() + 5000 + static_cast<std::uint64_t>(i);
    const bool shared = seed % 3 == 0 && ScopedDevices::count() > 2;
    const int devices = shared ? 2 : ScopedDevices::count();
    std::vector<std::string> exchanges = common;
    if (ScopedDevices::nccl_between_processes() && comm.size() <= devices) exchanges.emplace_back("nccl");
    RandomProblem p = make_device_problem(seed, comm.size(), exchanges);
    // Among processes only what kernels put is captured.
    if (p.puts != "kernel" || comm.size() > devices) p.graph = "auto";
    draw_far_pairs(p);
    const ScopedDevices all({.delays = p.delays, .processes = true, .reach = p.reach});
    const ScopedTestHook hook(disturbance(p.delays, p.block_bytes));
    ScopedDevices::choose(comm.rank() % devices);
    ASSERT_NO_THROW(run_random_problem(comm, p)) << p.describe();
  }
}

TEST(DeviceProblems, GivenToMpiWhereItLiesIfMpiSaysThatItCan) {
  static const bool yes = true;
  const ScopedSwitch<const bool*> says(detail::pretended_mpi_takes_devices,
                                       ScopedDevices::are_on_host() ? &yes : nullptr);
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  if (!mpi_takes_devices()) GTEST_SKIP() << "this MPI does not say so";
  const int count = problem_count(ScopedDevices::problems() / 4);
  for (int i = 0; i < count; ++i) {
    const std::uint64_t seed = first_seed() + 7000 + static_cast<std::uint64_t>(i);
    RandomProblem p = make_device_problem(seed, comm.size(), {"p2p", "alltoallv", "alltoall", "ialltoallv"});
    p.options.set("staging", seed % 2 == 0 ? "off" : "auto");
    const ScopedDevices all({.delays = p.delays, .processes = true});
    const ScopedTestHook hook(disturbance(p.delays, p.block_bytes));
    ScopedDevices::choose(comm.rank() % ScopedDevices::count());
    ASSERT_NO_THROW(run_random_problem(comm, p)) << p.describe();
  }
  const ScopedDevices all({.processes = true});
  ScopedDevices::choose(comm.rank() % ScopedDevices::count());
  EXPECT_TRUE(staged(comm, "auto").empty());
  EXPECT_EQ(staged(comm, "on"), std::vector<std::string>{"p2p"});
}

TEST(DeviceProblems, NotGivenToAnMpiThatDoesNotSaySo) {
  static const bool no = false;
  const ScopedSwitch<const bool*> says(detail::pretended_mpi_takes_devices, &no);
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  const ScopedDevices all({.processes = true});
  ScopedDevices::choose(comm.rank() % ScopedDevices::count());
  EXPECT_EQ(staged(comm, "auto"), std::vector<std::string>{"p2p"});
  expect_error([&] { staged(comm, "off"); }, "which this one does not");
}

/// On the double it is memory of the host that UCX is given.
TEST(DeviceProblems, GivenToUcxWhereItLiesIfUcxSaysThatItCan) {
  static const bool yes = true, no = false;
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  if (!has_exchange(comm, "ucx")) GTEST_SKIP() << why_no_exchange(comm, "ucx");
  const auto choose = [&] { ScopedDevices::choose(comm.rank() % ScopedDevices::count()); };
  {
    const ScopedSwitch<const bool*> says(ucx::detail::pretended_taking, &no);
    const ScopedDevices all({.processes = true});
    choose();
    EXPECT_EQ(staged(comm, "auto", "ucx"), std::vector<std::string>{"ucx"});
    expect_error([&] { staged(comm, "off", "ucx"); }, "which this one does not");
  }
  const ScopedSwitch<const bool*> says(ucx::detail::pretended_taking,
                                       ScopedDevices::are_on_host() ? &yes : nullptr);
  {
    const ScopedDevices all({.processes = true});
    choose();
    if (staged(comm, "auto", "ucx") == std::vector<std::string>{"ucx"})
      GTEST_SKIP() << "this UCX does not say so";
    EXPECT_EQ(staged(comm, "on", "ucx"), std::vector<std::string>{"ucx"});
  }
  const int count = problem_count(ScopedDevices::problems() / 4);
  for (int i = 0; i < count; ++i) {
    const std::uint64_t seed = first_seed() + 9000 + static_cast<std::uint64_t>(i);
    RandomProblem p = make_device_problem(seed, comm.size(), {"ucx"});
    p.options.set("staging", seed % 3 == 0 ? "off" : "auto");
    p.options.set("one_sided", seed % 2 == 0 && !p.user_workspace ? "on" : "auto");
    const ScopedDevices all({.delays = p.delays, .processes = true});
    const ScopedTestHook hook(disturbance(p.delays, p.block_bytes));
    choose();
    ASSERT_NO_THROW(run_random_problem(comm, p)) << p.describe();
  }
}

TEST(DeviceTuning, ComesOutRightAndIsRemembered) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  if (comm.size() > 3) return;  // a few trials are enough
  forget_wisdom();
  const ScopedDevices all({.processes = true});
  const ScopedTestHook hook(disturbance(false));
  ScopedDevices::choose(comm.rank() % ScopedDevices::count());
  for (const char* effort : {"patient", "measure"}) {
    RandomProblem p = make_device_problem(first_seed() + 6000, comm.size(), {"auto"});
    p.options = quick(effort, "", 8);
    if (p.user_workspace) p.options.set("workspace", "user");
    p.delays = false;
    ASSERT_NO_THROW(run_random_problem(comm, p)) << p.describe();
  }
  if (comm.size() > 1) {
    EXPECT_GT(record(comm, on_device(), quick("measure")).plans, 2);
  }
  EXPECT_EQ(record(comm, on_device(), quick("measure")).plans, 1);
  forget_wisdom();
}

}  // namespace weft::test
