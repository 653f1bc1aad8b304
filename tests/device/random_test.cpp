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
  int far = 0;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(i);
    const int ranks = 1 + static_cast<int>(seed % static_cast<std::uint64_t>(most));
    const int fewer = seed % 2 == 0 ? 2 : std::max(2, ranks - 1);
    const int devices = std::min(seed % 3 == 0 ? fewer : ScopedDevices::count(), ScopedDevices::count());
    // Those that share a device are served by messages.
    const int alone = std::min(ranks, std::max(0, 2 * devices - ranks));
    std::vector<std::string> exchanges{"copy"};
    if (ranks == 1 || alone > 1) exchanges.emplace_back("direct");
    RandomProblem p = make_device_problem(seed, ranks, exchanges);
    if (alone == ranks) draw_far_pairs(p);
    p.far_pairs = p.far_pairs || alone < ranks;
    far += p.far_pairs && p.exchanges.back() == "direct" ? 1 : 0;
    const ScopedDevices all({.delays = p.delays, .reach = p.reach});
    const ScopedTestHook hook(disturbance(p.delays, p.block_bytes));
    ASSERT_NO_THROW(teams[static_cast<std::size_t>(ranks - 1)]->run([&](const Comm& comm) {
      ScopedDevices::choose(comm.rank() % devices);
      run_random_problem(comm, p);
    })) << p.describe();
  }
  // With few devices there are no pairs to choose from.
  if (count >= 60 && ScopedDevices::count() > 4) {
    EXPECT_GT(far, count / 8);
  }
}

TEST(DeviceProblems, OfColumns) {
  const int most = std::min(8, ScopedDevices::count());
  std::vector<std::unique_ptr<ThreadTeam>> teams;
  for (int n = 1; n <= most; ++n) teams.push_back(std::make_unique<ThreadTeam>(n));
  for (int i = 0; i < problem_count(ScopedDevices::problems() / 10); ++i) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(i);
    const int ranks = 1 + static_cast<int>(seed % static_cast<std::uint64_t>(most));
    const RandomProblem p = make_device_problem(seed, ranks, {"copy", "direct"}, true);
    const ScopedDevices all({.delays = p.delays});
    const ScopedTestHook hook(disturbance(p.delays, p.block_bytes));
    ASSERT_NO_THROW(teams[static_cast<std::size_t>(ranks - 1)]->run([&](const Comm& comm) {
      ScopedDevices::choose(comm.rank());
      run_random_problem(comm, p);
    })) << p.describe();
  }
}

/// What is packed for messages is coded on the device, and goes through pinned memory; what is stored is
/// coded on its way.
TEST(DeviceProblems, WithCodecs) {
  const int most = std::min(8, 2 * ScopedDevices::count());
  std::vector<std::unique_ptr<ThreadTeam>> teams;
  for (int n = 1; n <= most; ++n) teams.push_back(std::make_unique<ThreadTeam>(n));
  const ScopedDevices all;
  for (int i = 0; i < problem_count(ScopedDevices::problems() / 4); ++i) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(i);
    const int ranks = 1 + static_cast<int>(seed % static_cast<std::uint64_t>(most));
    const bool stores = ranks <= ScopedDevices::count() && seed % 3 != 0;
    RandomProblem p = make_device_problem(seed, ranks, {stores ? "direct" : "copy"});
    if (p.exchanges.empty()) p.exchanges = {"copy"};
    draw_codecs(p, false);
    const ScopedTestHook hook(disturbance(p.delays, p.block_bytes));
    ASSERT_NO_THROW(teams[static_cast<std::size_t>(ranks - 1)]->run([&](const Comm& comm) {
      ScopedDevices::choose(comm.rank() % ScopedDevices::count());
      run_random_problem(comm, p);
    })) << p.describe();
  }
}

}  // namespace weft::test
