// What only the double of the device seam can show: devices that do not reach each other.
#include <gtest/gtest.h>

#include "support/device_double.hpp"
#include "support/expect_error.hpp"
#include "weft/weft.hpp"

namespace weft::test {

namespace {

Problem on_device() {
  Problem p;
  p.shape = {16, 12, 8};
  p.memory = MemoryKind::cuda;
  return p;
}

}  // namespace

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

}  // namespace weft::test
