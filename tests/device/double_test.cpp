// What only the double of the device seam can show: devices that do not reach each other, a machine without
// NCCL, and how often communicators are made.
#include <gtest/gtest.h>

#include <cstdlib>

#include "device/device.hpp"
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

TEST(DeviceDouble, CapturesDoWhatTheyWereToldAndNothingElse) {
  const ScopedDeviceDouble devices;
  set_double_device(0);
  const std::shared_ptr<Device> device = current_device();
  const DeviceScope scope(*device);
  const auto origin = device->make_stream(), other = device->make_stream();
  const auto there = device->make_event(false), back = device->make_event(false);
  const std::shared_ptr<std::byte> memory = device->allocate(256, "test");
  const auto fill = [&](unsigned char value) {
    DeviceCapture capture(*origin);
    origin->fill(memory.get(), value, 2);
    origin->record(*there);
    other->wait(*there);
    other->fill(memory.get(), static_cast<unsigned char>(value + 1), 1);
    other->record(*back);
    origin->wait(*back);
    return capture.end();
  };
  const auto launch = [&](DeviceGraph& graph) {
    graph.launch(*origin);
    origin->record(*back);
    device->wait_for(*back);
    return static_cast<int>(memory.get()[0]) * 256 + static_cast<int>(memory.get()[1]);
  };
  origin->fill(memory.get(), 9, 2);
  const std::unique_ptr<DeviceGraph> graph = fill(1);
  origin->record(*back);
  device->wait_for(*back);
  EXPECT_EQ(static_cast<int>(memory.get()[0]), 9);  // captured, not done
  EXPECT_EQ(launch(*graph), 0x201);
  EXPECT_TRUE(graph->update(*fill(4)));
  EXPECT_EQ(launch(*graph), 0x504);
  {
    DeviceCapture capture(*origin);
    EXPECT_FALSE(graph->update(*capture.end()));
  }
  EXPECT_EQ(launch(*graph), 0x504);
}

TEST(DeviceDouble, CapturesRefuseWhatAGpuWould) {
  const ScopedDeviceDouble devices;
  set_double_device(0);
  const std::shared_ptr<Device> device = current_device();
  const DeviceScope scope(*device);
  const auto origin = device->make_stream(), other = device->make_stream();
  const auto outside = device->make_event(false), inside = device->make_event(false);
  other->record(*outside);
  expect_error([&] { const DeviceCapture c(*device->borrow_stream(nullptr)); }, "somebody else's");
  {
    DeviceCapture capture(*origin);
    expect_error([&] { device->allocate(1, "test"); }, "during a capture");
    expect_error([&] { device->passed(*outside); }, "during a capture");
    expect_error([&] { origin->wait(*outside); }, "for an event outside");
    origin->record(*inside);
    expect_error([&] { device->borrow_stream(nullptr)->wait(*inside); }, "somebody else's");
    other->wait(*inside);
    expect_error([&] { capture.end(); }, "what is on other streams");
  }
  expect_error([&] { device->passed(*inside); }, "that was captured");
  expect_error([&] { other->wait(*inside); }, "that has ended");
  other->record(*inside);  // both streams are as good as new
  device->wait_for(*inside);
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
