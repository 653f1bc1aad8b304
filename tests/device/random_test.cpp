// Random problems with arrays in device memory, against the exact result.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "support/device_problem.hpp"
#include "support/devices.hpp"
#include "support/disturbance.hpp"
#include "weft/thread_team.hpp"

namespace weft::test {

TEST(DeviceProblems, OnThreadRanksWithADeviceEachOrSharingOne) {
  const int most = std::min(8, 2 * ScopedDevices::count());
  std::vector<std::unique_ptr<ThreadTeam>> teams;
  for (int n = 1; n <= most; ++n) teams.push_back(std::make_unique<ThreadTeam>(n));
  const int count = problem_count(ScopedDevices::problems());
  for (int i = 0; i < count; ++i) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(i);
    const int ranks = 1 + static_cast<int>(seed % static_cast<std::uint64_t>(most));
    const int devices = seed % 3 == 0 ? std::min(2, ScopedDevices::count()) : ScopedDevices::count();
    std::vector<std::string> exchanges{"copy"};
    if (ranks <= devices) exchanges.emplace_back("direct");
    const RandomProblem p = make_device_problem(seed, ranks, exchanges);
    const ScopedDevices all(p.delays);
    const ScopedTestHook hook(disturbance(p.delays));
    ASSERT_NO_THROW(teams[static_cast<std::size_t>(ranks - 1)]->run([&](const Comm& comm) {
      ScopedDevices::choose(comm.rank() % devices);
      run_random_problem(comm, p);
    })) << p.describe();
  }
}

}  // namespace weft::test
