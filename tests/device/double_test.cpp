// What only the double of the device seam can show: devices that do not reach each other, a machine without
// NCCL, and how often communicators are made.
#include <gtest/gtest.h>

#include <cstdlib>

#include "support/device_double.hpp"
#include "support/device_problem.hpp"
#include "support/expect_error.hpp"
#include "support/nccl_double.hpp"
#include "weft/weft.hpp"

namespace weft::test {

TEST(DeviceDouble, WhoDoesNotReachWhomIsPrinted) {
  DoubleManner manner;
  manner.reach = 1;
  const ScopedDeviceDouble devices(manner);
  ThreadTeam(3).run([](const Comm& comm) {
    set_double_device(comm.rank() == 0 ? 0 : comm.rank() + 4);
    const std::string text = Plan(comm, on_device()).to_string();
    EXPECT_NE(
        text.find("exchange copy (auto: it serves these ranks; not direct: devices of ranks 0 and 1, double "
                  "(device 0) and double (device 5), do not reach each other; through pinned memory)"),
        std::string::npos)
        << text;
    expect_error([&] { const Plan plan(comm, on_device(), Options().set("exchange", "direct")); },
                 "among GPUs that do not reach each other");
  });
}

TEST(DeviceDouble, PairsThatDoNotReachEachOtherExchangeThroughPinnedMemory) {
  DoubleManner manner;
  manner.reach = 2;
  const ScopedDeviceDouble devices(manner);
  const std::string far =
      "; through pinned memory (copy) between ranks 0-1 and 2-3: devices of ranks 0 and 2, double (device 0) "
      "and double (device 2), do not reach each other)";
  ThreadTeam(4).run([&](const Comm& comm) {
    set_double_device(comm.rank());
    const std::string text = Plan(comm, on_device()).to_string();
    EXPECT_NE(text.find("exchange direct (auto: nothing is packed" + far), std::string::npos) << text;
    const std::string asked = Plan(comm, on_device(), Options().set("exchange", "direct")).to_string();
    EXPECT_NE(asked.find("exchange direct (as asked for" + far), std::string::npos) << asked;
    // The first and the last share a device.
    set_double_device(comm.rank() % 3 + (comm.rank() % 3 == 0 ? 0 : 3));
    const std::string shared = Plan(comm, on_device()).to_string();
    EXPECT_NE(shared.find("between ranks 0 and 1-2 and 3: "), std::string::npos) << shared;
    EXPECT_NE(shared.find("threads of one process that share a device"), std::string::npos) << shared;
  });
}

TEST(DeviceDouble, WithoutNcclItIsAClearErrorOnAllRanks) {
  setenv("WEFT_NCCL_LIBRARY", "/no/such/library", 1);
  const ScopedDeviceDouble devices;
  ThreadTeam(2).run([](const Comm& comm) {
    set_double_device(comm.rank());
    expect_error([&] { const Plan plan(comm, on_device(), Options().set("exchange", "nccl")); },
                 "\"nccl\": /no/such/library");
    const Plan after(comm, on_device());
  });
  unsetenv("WEFT_NCCL_LIBRARY");
}

TEST(DeviceDouble, ARankOnWhichNcclFailsLeavesNobodyWaiting) {
  const ScopedDeviceDouble devices;
  nccl::replace_functions(&nccl_double());
  ThreadTeam team(3);
  const auto plan = [&](const Comm& comm) {
    set_double_device(20 + comm.rank());
    const Plan made(comm, on_device(), Options().set("exchange", "nccl"));
  };
  nccl_double_fails_on(1);
  team.run([&](const Comm& comm) { expect_error([&] { plan(comm); }, "ncclCommInitRankConfig"); });
  nccl_double_fails_on(-1);
  team.run(plan);
  nccl::replace_functions(nullptr);
}

TEST(DeviceDouble, CommunicatorsOfNcclAreMadeOncePerSetOfRanks) {
  const ScopedDeviceDouble devices;
  nccl::replace_functions(&nccl_double());
  const auto plan_some = [] {
    ThreadTeam(2).run([](const Comm& comm) {
      set_double_device(6 + comm.rank());
      for (int i = 0; i < 3; ++i) const Plan plan(comm, on_device(), Options().set("exchange", "nccl"));
    });
  };
  plan_some();
  const int made = nccl_double_made();
  EXPECT_GE(made, 2);
  plan_some();
  EXPECT_EQ(nccl_double_made(), made);
  nccl::replace_functions(nullptr);
}

}  // namespace weft::test
