// A rank that fails in the middle of an execution: no stream waits for ever, and all ranks are told.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/test_hook.hpp"
#include "support/device_mirror.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "weft/weft.hpp"

namespace weft::test {

namespace {

using Complex = std::complex<double>;

/// A plan with arrays of its own.
class Executed {
 public:
  Executed(const Comm& comm, const Options& options) : plan_(comm, problem(), options) {
    plan_.set_stream(static_cast<CUstream_st*>(mirror_.stream().native()));
    in_ = reinterpret_cast<Complex*>(mirror_.fresh(plan_.input_count() * sizeof(Complex)));
    out_ = reinterpret_cast<Complex*>(mirror_.fresh(plan_.output_count() * sizeof(Complex)));
  }
  /// The input becomes one number among zeros.
  void set(double number) {
    std::vector<Complex> values(plan_.input_count());
    values.at(0) = number;
    in_ = reinterpret_cast<Complex*>(mirror_.upload(values.data(), values.size() * sizeof(Complex)));
  }
  void forward() { plan_.forward(in_, out_); }
  void backward() { plan_.backward(out_, in_); }

 private:
  static Problem problem() {
    Problem p;
    p.shape = {12, 12, 12};
    p.memory = MemoryKind::cuda;
    return p;
  }
  DeviceMirror mirror_;
  Plan plan_;
  Complex *in_ = nullptr, *out_ = nullptr;
};

}  // namespace

TEST(DeviceFailures, ARankThatFailsInTheMiddleLetsGoOfAllStreams) {
  struct Way {
    const char *exchange, *graph;
    int reach;
    const char* codec = "none";
    bool traced = false;  // each execution waits for the one before
  };
  // The last: direct within pairs of devices, and by messages between them.
  const std::vector<Way> ways{{"direct", "off", 0},
                              {"direct", "on", 0},
                              {"copy", "off", 0},
                              {"direct", "on", 0, "fp16"},
                              {"direct", "off", 0, "none", true},
                              {"direct", "off", 2}};
  const std::string trace = testing::TempDir() + "/weft-failure-trace-" + std::to_string(getpid()) + ".json";
  // Each pipeline and each way fails at each moment, not all three with each other.
  const std::array moments{0, 2, 5, 9, 14};
  std::size_t turn = 0;
  for (const char* pipeline : {"sequential", "windowed", "planes", "two-front"})
    for (const auto& [exchange, graph, reach, codec, traced] : ways)
      for (int twice = 0; twice < 2; ++twice) {
        const int when = moments[turn++ % moments.size()];
        const ScopedDevices devices(
            {.delays = true, .ordered = false, .reach = ScopedDevices::reach_of(reach)});
        const int own = std::min(4, ScopedDevices::count());
        const int ranks = std::string(exchange) == "direct" ? own : std::min(4, 2 * own);
        if (ranks < 2) continue;
        ThreadTeam team(ranks);
        std::atomic<int> armed{-1};  // operations and launches of rank 1 until it fails; negative: never
        TestHook hook;
        hook.at_point = [&](const char* point, int rank) {
          const std::string name = point;
          if ((name == "op" || name == "launch") && rank == 1 && armed >= 0 && armed-- == 0)
            throw Error("test", "broken on purpose", "");
        };
        const ScopedTestHook scoped(hook);
        Options options;
        options.set("pipeline", pipeline).set("exchange", exchange).set("graph", graph).set("codec", codec);
        if (traced) options.set("trace", trace);
        // With graphs in the middle of a capture, or, once all are captured, between two launches.
        const int before = std::string(graph) == "on" && when % 2 != 0 ? 2 : 1;
        if (std::string(pipeline) != "sequential") options.set("tile", 1);
        std::atomic<int> failures{0};
        expect_error(
            [&] {
              team.run([&](const Comm& comm) {
                ScopedDevices::choose(comm.rank() % ScopedDevices::count());
                Executed plan(comm, options);
                for (int i = 0; i < before; ++i) {
                  plan.forward();
                  if (before > 1) plan.backward();
                }
                comm.barrier();
                if (comm.rank() == 1) armed = when;
                comm.barrier();
                try {
                  for (int i = 0; i < 100; ++i) {
                    plan.forward();
                    plan.backward();
                  }
                } catch (const Error& e) {
                  ++failures;
                  // Who looks at the device first hears of it there, perhaps of one that has only heard of
                  // it.
                  const std::string what = e.what();
                  EXPECT_TRUE(says(what, "broken on purpose") || says(what, "has failed in the middle"))
                      << what;
                  throw;
                }
              });
            },
            "broken on purpose");
        EXPECT_EQ(failures, ranks) << pipeline << " " << exchange << " " << reach << " graph " << graph << " "
                                   << when;
        // The team is as good as new.
        team.run([&](const Comm& comm) {
          ScopedDevices::choose(comm.rank() % ScopedDevices::count());
          Executed(comm, options).forward();
        });
      }
  std::filesystem::remove(trace);
}

/// Of what is encoded into the memory of a peer.
TEST(DeviceFailures, ANumberThatACodecMakesInfiniteIsToldOnAllRanks) {
  const ScopedDevices devices;
  const int ranks = std::min(3, ScopedDevices::count());
  if (ranks < 2) GTEST_SKIP() << "one device";
  for (const char* pipeline : {"windowed", "planes"})
    for (const char* puts : {"kernel", "engine"}) {
      ThreadTeam team(ranks);
      team.run([&](const Comm& comm) {
        ScopedDevices::choose(comm.rank());
        Executed plan(comm, Options()
                                .set("exchange", "direct")
                                .set("codec", "fp16")
                                .set("pipeline", pipeline)
                                .set("puts", puts));
        const bool breaks = comm.rank() == 1;
        plan.set(breaks ? std::numeric_limits<double>::max() : 1);
        expect_error(
            [&] {
              for (int i = 0; i < 1000; ++i) plan.forward();
            },
            breaks ? "would make infinite" : "");
      });
    }
}

}  // namespace weft::test
