// Random problems on MPI ranks with arrays in device memory: direct exchange between processes, and staged.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/device_problem.hpp"
#include "support/devices.hpp"
#include "support/disturbance.hpp"
#include "weft/mpi.hpp"

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
    RandomProblem p = make_device_problem(seed, comm.size(), exchanges);
    draw_far_pairs(p);
    const ScopedDevices all({.delays = p.delays, .processes = true, .reach = p.reach});
    const ScopedTestHook hook(disturbance(p.delays));
    ScopedDevices::choose(comm.rank() % devices);
    ASSERT_NO_THROW(run_random_problem(comm, p)) << p.describe();
  }
}

}  // namespace weft::test
