// Executions that are captured as graphs and launched again give the bits of those that are not: with arrays
// that change, in either direction, on one stream and on another, and where only some ranks capture.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstring>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "support/design_of.hpp"
#include "support/device_mirror.hpp"
#include "support/device_problem.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "weft/weft.hpp"

namespace weft::test {

namespace {

using Bytes = std::vector<std::byte>;

/// A plan with three sets of arrays, each filled with values of its own.
class Executed {
 public:
  Executed(const Comm& comm, const Problem& problem, const Options& options)
      : in_place_(problem.in_place), plan_(comm, problem, options) {
    use(0);
    std::mt19937 random(static_cast<unsigned>(comm.rank()));
    for (Arrays& a : arrays_) {
      const std::vector<double> values = random_values(random);
      a.in = mirrors_[0].upload(values.data(), plan_.buffer_bytes());
      a.out = in_place_ ? a.in : mirrors_[0].fresh(plan_.buffer_bytes());
    }
  }

  void use(std::size_t stream) {
    plan_.set_stream(static_cast<CUstream_st*>(mirrors_[stream].stream().native()));
  }
  /// There and back; backward is scaled.
  void execute(std::size_t set) {
    const Arrays& a = arrays_[set];
    plan_.forward(static_cast<const void*>(a.in), static_cast<void*>(a.out));
    plan_.backward(static_cast<const void*>(a.out), static_cast<void*>(a.in));
  }
  Bytes result(std::size_t set) {
    plan_.wait();
    Bytes bytes(plan_.buffer_bytes());
    mirrors_[0].download(bytes.data(), arrays_[set].in, bytes.size());
    return bytes;
  }
  Plan& plan() { return plan_; }

 private:
  struct Arrays {
    std::byte *in = nullptr, *out = nullptr;
  };
  std::vector<double> random_values(std::mt19937& random) const {
    std::vector<double> values(plan_.buffer_bytes() / sizeof(double));
    std::uniform_real_distribution<double> any(-1, 1);
    for (double& v : values) v = any(random);
    return values;
  }

  bool in_place_;
  std::array<DeviceMirror, 2> mirrors_;
  Plan plan_;
  std::array<Arrays, 3> arrays_;
};

Problem round_trip(bool in_place) {
  Problem p = on_device();
  p.in_place = in_place;
  p.backward_scale = Scale::full;
  return p;
}

int ranks_here() {
  return std::min(4, ScopedDevices::count());
}

Options of_pipeline(const char* pipeline) {
  Options options;
  options.set("pipeline", pipeline);
  if (std::string(pipeline) != "sequential") options.set("tile", 2);
  return options;
}

}  // namespace

TEST(DeviceGraphs, GiveTheBitsOfExecutionsThatAreEnqueued) {
  const ScopedDevices devices({.delays = true});
  for (const int ranks : {1, ranks_here()}) {
    ThreadTeam team(ranks);
    for (const char* pipeline : {"sequential", "windowed", "planes"})
      for (const bool in_place : {false, true})
        team.run([&](const Comm& comm) {
          ScopedDevices::choose(comm.rank());
          const Options options = of_pipeline(pipeline);
          Executed enqueued(comm, round_trip(in_place), Options(options).set("graph", "off"));
          Executed launched(comm, round_trip(in_place), Options(options).set("graph", "on"));
          // One set again and again, two in turn, three in turn; each rank begins with another one.
          const std::array<std::size_t, 16> sets{0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 1, 2, 0, 1, 2, 0};
          for (std::size_t i = 0; i < sets.size(); ++i) {
            const std::size_t set = (sets[i] + (i < 6 ? 0 : static_cast<std::size_t>(comm.rank()))) % 3;
            for (Executed* e : {&enqueued, &launched}) {
              if (i == 4) e->use(1);
              if (i == 8) e->plan().record_times(comm.rank() == 0);
              if (i == 10) e->plan().record_times(false);
              e->execute(set);
            }
            if (i % 5 == 4) {
              EXPECT_EQ(enqueued.result(set), launched.result(set)) << pipeline << " execution " << i;
            }
          }
          for (std::size_t set = 0; set < 3; ++set) EXPECT_EQ(enqueued.result(set), launched.result(set));
        });
  }
}

TEST(DeviceGraphs, AreChosenForSmallBoxesAndRefusedWhereTheHostCarries) {
  const ScopedDevices devices;
  ThreadTeam(2).run([](const Comm& comm) {
    ScopedDevices::choose(comm.rank() % ScopedDevices::count());
    // After how many executions, and who chose that.
    const auto graph = [&](const Problem& p, const Options& o) {
      const auto chosen = design_of(Plan(comm, p, o)).plain_executions;
      return std::pair(chosen.value, chosen.origin);
    };
    constexpr auto never = std::optional<int>();
    const Options on = Options().set("graph", "on"), copy = Options().set("exchange", "copy");
    EXPECT_EQ(graph(on_device(), copy), std::pair(never, Origin::rule));
    Problem host = on_device();
    host.memory = MemoryKind::host;
    expect_error([&] { graph(host, on); }, "on with arrays on the host");
    if (ScopedDevices::count() < 2) return;  // ranks that share a device reach no other, which comes first
    expect_error([&] { graph(on_device(), Options(copy).set("graph", "on")); }, "on with exchange copy");
    EXPECT_EQ(graph(on_device(), on), std::pair(std::optional(0), Origin::option));
    EXPECT_EQ(graph(on_device(), {}), std::pair(std::optional(1), Origin::rule));
    EXPECT_EQ(graph(on_device(), Options().set("graph", "off")), std::pair(never, Origin::option));
    Problem large = on_device();
    large.shape = {512, 256, 256};
    EXPECT_EQ(graph(large, {}), std::pair(never, Origin::rule));
  });
}

}  // namespace weft::test
