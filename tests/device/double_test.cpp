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
  manner.reach = false;
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
