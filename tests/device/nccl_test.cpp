// NCCL between thread ranks that have a device each.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <complex>
#include <memory>
#include <string>
#include <vector>

#include "support/design_of.hpp"
#include "support/device_mirror.hpp"
#include "support/device_problem.hpp"
#include "support/devices.hpp"
#include "support/disturbance.hpp"
#include "support/expect_error.hpp"
#include "transport/nccl/library.hpp"
#include "weft/weft.hpp"

namespace weft::test {

namespace {

using Complex = std::complex<double>;

Options by_nccl() {
  return Options().set("exchange", "nccl");
}

/// Forward with arrays of its own; whether the plan says that all went well.
void forward(Plan& plan) {
  DeviceMirror mirror;
  plan.set_stream(static_cast<CUstream_st*>(mirror.stream().native()));
  auto* in = reinterpret_cast<Complex*>(mirror.fresh(plan.input_count() * sizeof(Complex)));
  auto* out = reinterpret_cast<Complex*>(mirror.fresh(plan.output_count() * sizeof(Complex)));
  plan.forward(in, out);
  plan.wait();
}

}  // namespace

class DeviceNccl : public testing::Test {
 protected:
  void SetUp() override {
    const ScopedDevices devices;
    if (!nccl::missing().empty()) GTEST_SKIP() << nccl::missing();
    if (ScopedDevices::count() < 2) GTEST_SKIP() << "one device";
  }
};

TEST_F(DeviceNccl, GivesTheBitsOfAnotherExchangeThatPacks) {
  const int most = std::min(4, ScopedDevices::count());
  std::vector<std::unique_ptr<ThreadTeam>> teams;
  for (int n = 1; n <= most; ++n) teams.push_back(std::make_unique<ThreadTeam>(n));
  const int count = problem_count(ScopedDevices::problems() / 2);
  for (int i = 0; i < count; ++i) {
    const std::uint64_t seed = first_seed() + 9000 + static_cast<std::uint64_t>(i);
    const int ranks = 1 + static_cast<int>(seed % static_cast<std::uint64_t>(most));
    const RandomProblem p = make_device_problem(seed, ranks, {"copy", "nccl"});
    const ScopedDevices all({.delays = p.delays});
    const ScopedTestHook hook(disturbance(p.delays, p.block_bytes));
    ASSERT_NO_THROW(teams[static_cast<std::size_t>(ranks - 1)]->run([&](const Comm& comm) {
      ScopedDevices::choose(comm.rank());
      run_random_problem(comm, p);
    })) << p.describe();
  }
}

TEST_F(DeviceNccl, IsTakenIfAskedForAndRefusedWhereItDoesNotServe) {
  const ScopedDevices devices;
  ThreadTeam(2).run([&](const Comm& comm) {
    ScopedDevices::choose(comm.rank());
    const Plan asked(comm, on_device(), by_nccl());
    EXPECT_EQ(first_leg(asked).exchange, "nccl");
    EXPECT_TRUE(design_of(asked).memory.staged.empty());
    EXPECT_NE(first_leg(Plan(comm, on_device())).exchange, "nccl");
    Problem host = on_device();
    host.memory = MemoryKind::host;
    expect_error([&] { const Plan plan(comm, host, by_nccl()); }, "nccl\" with arrays on the host");
    ScopedDevices::choose(0);
    expect_error([&] { const Plan plan(comm, on_device(), by_nccl()); }, "among ranks that share a GPU");
  });
}

TEST_F(DeviceNccl, ARankThatFailsLeavesNobodyWaiting) {
  const ScopedDevices devices;
  ThreadTeam team(2);
  for (int at = 0; at < 6; ++at) {
    std::atomic<int> armed{at};
    std::atomic<int> failures{0};
    TestHook hook;
    hook.at_point = [&](const char* point, int rank) {
      if (std::string(point) == "op" && rank == 1 && armed >= 0 && armed-- == 0)
        throw Error("test", "broken on purpose", "");
    };
    const auto body = [&](const Comm& comm) {
      ScopedDevices::choose(comm.rank());
      Plan plan(comm, on_device(), by_nccl());
      try {
        forward(plan);
      } catch (const std::exception&) {
        ++failures;
        throw;
      }
    };
    {
      const ScopedTestHook scope(hook);
      EXPECT_ANY_THROW(team.run(body)) << at;
    }
    EXPECT_GE(failures, 1);
    team.run([&](const Comm& comm) {
      ScopedDevices::choose(comm.rank());
      Plan after(comm, on_device(), by_nccl());
      forward(after);
    });
  }
}

}  // namespace weft::test
