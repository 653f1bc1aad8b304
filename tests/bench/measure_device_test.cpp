// What --measure-machine finds of a device, on the double of the seam: complete, and good for predictions.
// How fast the double is says nothing.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "measure_device.hpp"
#include "measurement.hpp"
#include "model/machine_json.hpp"
#include "report.hpp"
#include "support/described_machine.hpp"
#include "support/device_double.hpp"
#include "support/first_rank.hpp"
#include "support/says.hpp"
#include "weft/thread_team.hpp"

namespace weft::test {

namespace {

bench::DeviceSizes few() {
  bench::DeviceSizes sizes;
  sizes.small = 4 << 10;
  sizes.cached = 64 << 10;
  sizes.memory = 512 << 10;
  sizes.lengths = {16, 12};
  return sizes;
}

/// With the processor and the links of the host of a test.
MachineDescription measured(const Comm& comm, int device) {
  set_double_device(device);
  const std::shared_ptr<Device> mine = current_device();
  MachineDescription machine = described_machine();
  if (comm.rank() == 0) machine.device = bench::measure_device(mine, few());
  const DeviceDescription described = machine.device.value_or(DeviceDescription());
  for (const LinkDescription& link : bench::measure_device_links(comm, mine, described, few()))
    machine.links.push_back(link);
  return machine;
}

bool has_peers(const MachineDescription& m) {
  return find_link(m, over_peer, by_stores) != nullptr && find_link(m, over_peer, by_engines) != nullptr;
}

}  // namespace

TEST(MeasuredDevice, IsCompleteAndPredicts) {
  const ScopedDeviceDouble devices;
  const MachineDescription machine =
      on_first_rank(1, [](const Comm& comm) { return measured(comm, comm.rank()); });
  EXPECT_EQ(read_machine(to_json(machine)), machine);  // which checks it
  const DeviceDescription& d = *machine.device;
  for (const char* shape : {fft_lines, fft_columns, fft_middle, fft_planes})
    for (const int real : {4, 8})
      EXPECT_EQ(std::count_if(d.ffts.begin(), d.ffts.end(),
                              [&](const FftSpeed& f) { return f.shape == shape && f.real_bytes == real; }),
                2)
          << shape << real;
  for (const double s : {d.kernel_s, d.launch_kernel_s, d.launch_fft_s, d.launch_copy_s, d.launch_event_s})
    EXPECT_GT(s, 0);
  EXPECT_NE(find_link(machine, over_host, by_engines), nullptr);
  EXPECT_FALSE(has_peers(machine));
  DescribedPlan plan;
  plan.ranks = 1;
  plan.devices = {0};
  EXPECT_GT(plan.seconds_on(machine), 0);
  EXPECT_TRUE(std::isfinite(plan.seconds_on(machine)));
}

/// One rank, two with a device each, and two that share one.
TEST(MeasuredDevice, PredictionsStandBesideMeasuredTimes) {
  const ScopedDeviceDouble devices;
  const std::string name = testing::TempDir() + "weft-gpu-" + std::to_string(getpid()) + ".json";
  std::ofstream(name) << to_json(described_machine_with_device());
  bench::Case c;
  c.device = "cuda";
  c.shape = "16,16,16";
  c.repeat = 1;
  c.options.set("machine", name);
  for (const std::pair<int, int>& on : {std::pair(1, 1), std::pair(2, 2), std::pair(2, 1)}) {
    const int ranks = on.first, number = on.second;
    const bench::Measured m = on_first_rank(ranks, [&](const Comm& comm) {
      set_double_device(comm.rank() % number);
      return measure(comm, c);
    });
    ASSERT_EQ(m.predicted.size(), 1u);
    EXPECT_GT(m.predicted[0].seconds, 7e-3);  // an execution
    EXPECT_EQ(m.predicted[0].activities.count("stage") > 0, ranks > number);
    EXPECT_TRUE(says(text_of(c, m), "predicted "));
  }
  std::filesystem::remove(name);
}

TEST(MeasuredDevice, HasLinksBetweenDevicesThatReachEachOther) {
  const ScopedDeviceDouble devices;
  for (const int ranks : {2, 3}) {
    const MachineDescription machine =
        on_first_rank(ranks, [](const Comm& comm) { return measured(comm, comm.rank()); });
    EXPECT_TRUE(has_peers(machine));
    EXPECT_NO_THROW(check_machine(machine));
    DescribedPlan plan;
    plan.ranks = plan.per_node = 2;
    plan.threads = true;
    plan.devices = {0, 1};
    plan.options.set("exchange", "direct");
    EXPECT_GT(plan.seconds_on(machine), 0);
  }
  // Two threads with one device reach each other through the host alone.
  EXPECT_FALSE(has_peers(on_first_rank(2, [](const Comm& comm) { return measured(comm, 0); })));
}

TEST(MeasuredDevice, HasNoLinksBetweenThoseThatDoNot) {
  DoubleManner manner;
  manner.reach = 1;
  const ScopedDeviceDouble devices(manner);
  EXPECT_FALSE(has_peers(on_first_rank(2, [](const Comm& comm) { return measured(comm, comm.rank()); })));
}

}  // namespace weft::test
