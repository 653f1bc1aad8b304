// Random problems on MPI ranks with arrays in device memory: direct exchange between processes, and staged.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/device_problem.hpp"
#include "support/devices.hpp"
#include "support/disturbance.hpp"
#include "support/tuned.hpp"
#include "weft/mpi.hpp"
#include "weft/wisdom.hpp"

namespace weft::test {

TEST(DeviceProblems, OnMpiRanksWithADeviceEachOrSharingOne) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  const int count = problem_count(ScopedDevices::problems() / 2);
  for (int i = 0; i < count; ++i) {
    const std::uint64_t seed = first_seed() + 5000 + static_cast<std::uint64_t>(i);
    const bool shared = seed % 3 == 0 && ScopedDevices::count() > 2;
    const int devices = shared ? 2 : ScopedDevices::count();
    std::vector<std::string> exchanges{"direct", "p2p", "alltoallv"};
    if (ScopedDevices::nccl_between_processes() && comm.size() <= devices) exchanges.emplace_back("nccl");
    const RandomProblem p = make_device_problem(seed, comm.size(), exchanges);
    const ScopedDevices all(p.delays, true);
    const ScopedTestHook hook(disturbance(p.delays));
    ScopedDevices::choose(comm.rank() % devices);
    ASSERT_NO_THROW(run_random_problem(comm, p)) << p.describe();
  }
}

TEST(DeviceTuning, ComesOutRightAndIsRemembered) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  if (comm.size() > 3) return;  // a few trials are enough
  forget_wisdom();
  const ScopedDevices all(false, true);
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
