// Plans of arrays in device memory: what they print, how they go with streams, and what they refuse.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/timing.hpp"
#include "support/design_of.hpp"
#include "support/device_mirror.hpp"
#include "support/device_problem.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/says.hpp"
#include "weft/weft.hpp"

namespace weft::test {

namespace {

using Complex = std::complex<double>;
}  // namespace

TEST(DevicePlans, SayWhereTheyAreAndWhatCarriesThem) {
  const ScopedDevices devices;
  ThreadTeam(2).run([&](const Comm& comm) {
    ScopedDevices::choose(comm.rank() % ScopedDevices::count());
    const Plan plan(comm, on_device());
    EXPECT_TRUE(says(plan.to_string(), std::string("memory ") + device_row()->name + ", rank " +
                                           std::to_string(comm.rank()) + " on "));
    const bool own = ScopedDevices::count() > 1;
    EXPECT_EQ(first_leg(plan).traits.stores, own);
    EXPECT_EQ(setting_of(plan).devices->own_devices(), own);
    EXPECT_EQ(setting_of(plan).devices->no_peers.empty(), own);
    const Plan staged(comm, on_device(), Options().set("exchange", "copy"));
    EXPECT_EQ(design_of(staged).memory.staged, std::vector<std::string>{"copy"});
  });
}

TEST(DevicePlans, RefuseMemoryOfTheOtherKind) {
  const ScopedDevices devices;
  ScopedDevices::choose(0);
  Plan plan(Comm::self(), on_device());
  std::vector<Complex> host(plan.input_count());
  expect_error([&] { plan.forward(host.data(), host.data() + 1); }, "overlap");
  std::vector<Complex> other(plan.output_count());
  expect_error([&] { plan.forward(host.data(), other.data()); }, "in is not in memory of");
  DeviceMirror mirror;
  const auto there = [&](std::size_t count) {
    return reinterpret_cast<Complex*>(mirror.fresh(count * sizeof(Complex)));
  };
  Complex *const good_in = there(plan.input_count()), *const good_out = there(plan.output_count());
  for (int i = 0; i < 2; ++i) {  // pointers that were found there are not asked for again
    plan.forward(good_in, good_out);
    expect_error([&] { plan.forward(host.data(), good_out); }, "in is not in memory of");
    expect_error([&] { plan.forward(good_in, other.data()); }, "out is not in memory of");
  }
  plan.wait();
  Problem p = on_device();
  p.memory = MemoryKind::host;
  Plan on_host(Comm::self(), p);
  auto* in = there(on_host.input_count());
  expect_error([&] { on_host.forward(in, other.data()); }, "in is in memory of a GPU");
  expect_error([&] { on_host.set_stream(nullptr); }, "arrays on the host");
  expect_error([&] { on_host.set_stream(0); }, "arrays on the host");  // NOLINT(modernize-use-nullptr)
  expect_error([&] { on_host.set_stream(static_cast<ihipStream_t*>(nullptr)); }, "arrays on the host");
}

TEST(DevicePlans, RefuseWhatIsNotDoneThere) {
  const ScopedDevices devices;
  ScopedDevices::choose(0);
  const auto plan = [](const Options& options) { const Plan made(Comm::self(), on_device(), options); };
  expect_error([&] { plan(Options().set("threads", 2)); }, "the host does not compute");
  expect_error([&] { plan(Options().set("fft", "fftw")); }, "for memory of a GPU");
}

TEST(DevicePlans, FailOnAllRanksWithoutMemory) {
  const ScopedDevices devices;
  ThreadTeam team(2);
  team.run([&](const Comm& comm) {
    ScopedDevices::choose(comm.rank() % ScopedDevices::count());
    Problem p = on_device();
    p.shape = {4096, 4096, 4096};  // a TiB
    expect_error([&] { const Plan made(comm, p); }, "no memory for");
    const Plan after(comm, on_device());
  });
}

TEST(DevicePlans, NoteTheTimesOfOperations) {
  const ScopedDevices devices;
  ThreadTeam(2).run([&](const Comm& comm) {
    ScopedDevices::choose(comm.rank() % ScopedDevices::count());
    Plan plan(comm, on_device());
    DeviceMirror mirror;
    plan.set_stream(static_cast<CUstream_st*>(mirror.stream().native()));
    auto* in = reinterpret_cast<Complex*>(mirror.fresh(plan.input_count() * sizeof(Complex)));
    auto* out = reinterpret_cast<Complex*>(mirror.fresh(plan.output_count() * sizeof(Complex)));
    plan.record_times(true);
    plan.forward(in, out);
    const std::vector<OperationTime> times = plan.operation_times();
    EXPECT_FALSE(times.empty());
    for (const OperationTime& t : times) {
      EXPECT_GE(t.begin, 0);
      EXPECT_GE(t.end, t.begin);
    }
    comm.barrier();
  });
}

/// Times of devices are brought to the clock of the host; with graphs, too, which traced executions are not.
TEST(DevicePlans, AreTracedByTheClockOfTheHost) {
  const ScopedDevices devices;
  const std::string file = testing::TempDir() + "/weft-device-trace-" + std::to_string(getpid()) + ".json";
  std::filesystem::remove(file);
  ThreadTeam(2).run([&](const Comm& comm) {
    ScopedDevices::choose(comm.rank() % ScopedDevices::count());
    Plan plan(comm, on_device(), Options().set("trace", file));
    DeviceMirror mirror;
    plan.set_stream(static_cast<CUstream_st*>(mirror.stream().native()));
    auto* in = reinterpret_cast<Complex*>(mirror.fresh(plan.input_count() * sizeof(Complex)));
    auto* out = reinterpret_cast<Complex*>(mirror.fresh(plan.output_count() * sizeof(Complex)));
    std::vector<double> times{seconds_now()};
    for (int i = 0; i < 3; ++i) {
      plan.forward(in, out);
      plan.wait();
      times.push_back(seconds_now());
    }
    const std::vector<TracedOperation>& traced = PlanImpl::of(plan).bound->traced()->operations();
    EXPECT_EQ(traced.front().execution, 0);
    EXPECT_EQ(traced.back().execution, 2);
    // The two clocks count from different zeros; on a loaded machine it takes a while to read both.
    constexpr double between_clocks = 1;
    for (const TracedOperation& t : traced) {
      EXPECT_GT(t.begin, at(times, t.execution) - between_clocks);
      EXPECT_LT(t.end, at(times, t.execution + 1) + between_clocks);
    }
    for (int i = 0; i < Trace::most_executions; ++i) plan.forward(in, out);
    plan.wait();
    EXPECT_EQ(traced.back().execution, Trace::most_executions - 1);
    comm.barrier();
  });
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  for (const char* lane : {"\"rank 0, compute\"", "\"rank 1, transfer\""})
    EXPECT_TRUE(says(text.str(), lane));
  std::filesystem::remove(file);
}

}  // namespace weft::test
