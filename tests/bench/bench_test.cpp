// The benchmark's own claims: its breakdown adds up, its bytes are the schedule's.
#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "array.hpp"
#include "base/cache.hpp"
#include "base/test_hook.hpp"
#include "base/text.hpp"
#include "device/device.hpp"
#include "measured_on.hpp"
#include "measurement.hpp"
#include "report.hpp"
#include "statistics.hpp"
#include "support/device_double.hpp"
#include "support/expect_error.hpp"
#include "support/first_rank.hpp"
#include "support/scoped_variable.hpp"
#include "support/tuned.hpp"
#include "transports.hpp"
#include "weft/plan.hpp"
#include "weft/thread_team.hpp"
#include "weft/wisdom.hpp"
#if defined(WEFT_WITH_CUDA) && defined(WEFT_WITH_MPI)
#include "cuda/cufftmp_library.hpp"
#endif

namespace weft::test {

using bench::Case;
using bench::Measured;

TEST(Bench, BytesAreTheSchedules) {
  for (const char* exchange : {"direct", "copy"}) {
    Case c;
    c.shape = "24,24,10";
    c.repeat = 2;
    c.options.set("exchange", exchange).set("pipeline", "sequential");
    const Measured m = measured_on(4, c);
    const double all = 24 * 24 * 10 * 16;
    // Slabs to slabs: each rank keeps a quarter of what it has. A direct exchange puts that quarter too.
    if (std::string(exchange) == "copy") {
      EXPECT_EQ(m.operations.at("exchange").bytes_all, all * 3 / 4);
      EXPECT_EQ(m.operations.at("pack").bytes_all, all);
      EXPECT_EQ(m.operations.at("unpack").bytes_all, all);
    } else {
      EXPECT_EQ(m.operations.at("put").bytes_all, all);
    }
    EXPECT_EQ(m.operations.at("fft").bytes_all, 2 * all);
  }
}

TEST(Bench, PlanesPassOverMemoryAsOftenAsTheirStages) {
  // Twice through boxes that fit the cache, and through ones that are copied to scratch memory and back.
  for (const Index cache : {Index{0}, Index{8} << 10})
    for (const char* transform : {"c2c", "r2c"})
      for (const bool natural : {false, true}) {
        const ScopedSwitch second_cache(detail::pretended_second_cache, cache);
        Case c;
        c.shape = "32,24,20";
        c.transform = transform;
        c.output = natural ? "natural" : "transposed";
        c.direction = "both";
        c.repeat = 1;
        c.options.set("pipeline", "planes").set("subtile", 4);
        const Measured m = measured_on(2, c);
        const int passes = natural ? 3 : 2;
        // In forward the last pass only copies, and not the half that stays on the rank.
        const double kept = natural ? 0.5 : 0;
        EXPECT_EQ(m.traffic.bound_passes, 2 * passes - kept) << transform;
        EXPECT_DOUBLE_EQ(m.traffic.passes(), 2 * passes - kept) << transform << " cache " << cache;
        const double spectrum = 32 * 24 * 16 * (transform[0] == 'r' ? 11 : 20);
        const double input = 32 * 24 * 20 * (transform[0] == 'r' ? 8 : 16);
        EXPECT_EQ(m.traffic.read, input + (2 * passes - 1 - kept) * spectrum) << transform;
        EXPECT_EQ(m.traffic.written, m.traffic.read) << transform;
      }
}

TEST(Bench, PackingTakesPassesOfItsOwn) {
  Case c;
  c.shape = "24,24,10";
  c.repeat = 1;
  c.options.set("exchange", "copy");
  const Measured m = measured_on(4, c);
  EXPECT_EQ(m.traffic.bound_passes, 2);
  EXPECT_DOUBLE_EQ(m.traffic.passes(), 4);
}

TEST(Bench, OperationsAddUpToTheTotal) {
  Case c;
  c.shape = "64,64,64";
  c.direction = "both";
  c.repeat = 5;
  double best = 1;
  for (int attempt = 0; attempt < 5 && best > 0.1; ++attempt) {
    const Measured m = measured_on(2, c);
    double accounted = 0;
    for (const auto& [kind, o] : m.operations) accounted += o.seconds;
    EXPECT_LE(accounted, m.median_total_s * 1.001);
    best =
        std::min(best, 1 - accounted / m.median_total_s);  // a rank may lose its core between two operations
  }
  EXPECT_LT(best, 0.1);
}

TEST(Bench, JsonHasTheDocumentedKeys) {
  Case c;
  c.shape = "8,8,8";
  c.repeat = 3;
  const Measured m = measured_on(2, c);
  const auto j = nlohmann::json::parse(json_of(c, m, 2, "threads"));
  for (const char* key :
       {"median_s", "min_s", "quartiles_s", "gflops", "error_l2", "operations", "bound", "peers", "plan",
        "machine", "versions", "problem", "options", "planning_s", "memory_bytes", "memory_traffic"})
    EXPECT_TRUE(j.contains(key)) << key;
  EXPECT_TRUE(says(j["plan"].get<std::string>(), "weft plan: 8x8x8 "));
  EXPECT_EQ(j["design"]["forward"]["reshapes"].size(), 1u);
  EXPECT_LE(j["min_s"], j["quartiles_s"][0]);
  EXPECT_LE(j["quartiles_s"][0], j["median_s"]);
  EXPECT_LE(j["median_s"], j["quartiles_s"][1]);
  const auto trace = nlohmann::json::parse(trace_of(m));
  std::set<int> lanes;
  for (const auto& event : trace["traceEvents"]) lanes.insert(event["tid"].get<int>());
  EXPECT_EQ(lanes, (std::set<int>{0, 1}));
}

TEST(Bench, JsonHasAllTrials) {
  forget_wisdom();
  Case c;
  c.shape = "8,8,8";
  c.repeat = 1;
  for (const char* effort : {"measure", "patient"}) {
    c.options = quick(effort, "", 6);
    const Measured m = measured_on(2, c);
    const auto learnt = nlohmann::json::parse(json_of(c, m, 2, "threads"))["learnt"];
    std::map<std::string, int> rounds;
    double best = 1e9;
    for (const auto& t : learnt["trials_made"]) {
      const std::string round = t["round"];
      ++rounds[round];
      EXPECT_GT(t["seconds"], 0);
      if (t["options"] == learnt["options"] && round != "point") best = t["seconds"];
    }
    EXPECT_EQ(rounds["candidate"] + rounds["point"], learnt["trials"]) << effort;
    EXPECT_EQ(rounds["point"], learnt["history"].size()) << effort;
    EXPECT_EQ(best, learnt["best_s"]) << effort;
  }
  forget_wisdom();
}

TEST(Bench, ArraysInMemoryOfDevices) {
  const ScopedDeviceDouble devices;
  for (const char* exchange : {"direct", "copy"})
    for (const char* transform : {"c2c", "r2c", "dct2", "c2c,dst1,r2c"})
      for (const bool in_place : {false, true}) {
        Case c;
        c.device = "cuda";
        c.shape = "12,10,14";
        c.transform = transform;
        c.direction = in_place ? "forward" : "both";
        c.in_place = in_place;
        c.repeat = 2;
        c.batch = 2;
        c.options.set("exchange", exchange);
        const bool direct = *exchange == 'd', by_kernels = direct && in_place;
        if (direct) c.options.set("puts", by_kernels ? "kernel" : "engine");
        const Measured m = measured_on(3, c);
        EXPECT_GT(m.error_l2, 0);
        EXPECT_LT(m.error_l2, 5e-15) << transform << " " << exchange;
        EXPECT_GT(m.operations.at("fft").seconds, 0);
        const auto j = nlohmann::json::parse(json_of(c, m, 3, "threads"));
        EXPECT_EQ(j["machine"]["device"], "double (device 0)");
        EXPECT_EQ(j["transport"], direct ? "direct" : "copy through pinned memory");
        EXPECT_EQ(j["bound"]["link_bytes_per_s"].size(), 2);
        // A lane for each stream; kernels put where they compute.
        const auto trace = nlohmann::json::parse(trace_of(m));
        std::map<int, int> operations;
        for (const auto& event : trace["traceEvents"])
          if (event["ph"] == "X") ++operations[event["tid"].get<int>()];
        EXPECT_EQ(operations.size(), by_kernels ? 3 : 6);
      }
}

TEST(Bench, TransportsBetweenGpusAreExchangesByOtherNames) {
  const ScopedDeviceDouble devices;
  ThreadTeam(2).run([](const Comm& comm) {
    set_double_device(comm.rank());
    const auto design_by = [&](const char* name) {
      Case c;
      c.device = "cuda";
      c.shape = "12,10,14";
      bench::choose_transport(name, comm.impl(), c.options);
      return design_of(Plan(comm, c.problem(), c.options));
    };
    for (const char* name : {"auto", "peer"}) EXPECT_EQ(first_leg(design_by(name)).exchange, "direct");
    const Design staged = design_by("staged");
    EXPECT_EQ(first_leg(staged).exchange, "copy");
    EXPECT_EQ(staged.memory.staged, std::vector<std::string>{"copy"});
    expect_error([&] { design_by("mpi"); }, "\"p2p\"");
    expect_error([&] { design_by("ucx"); }, "auto, peer, nccl, nvshmem, mpi, staged");
  });
}

TEST(Bench, CeilingsOfDevicesAreMeasuredOnce) {
  forget_wisdom();
  const ScopedDeviceDouble devices;
  const std::string file = new_wisdom_file();
  const auto found = [&](int ranks) {
    forget_wisdom();
    return on_first_rank(ranks, [&](const Comm& comm) {
      set_double_device(comm.rank());
      return bench::find_ceilings(comm, {1 << 16, current_device(), file});
    });
  };
  const bench::Ceilings measured = found(2), again = found(2);
  EXPECT_FALSE(measured.remembered);
  EXPECT_GT(measured.copy_bytes_per_s, 0);
  EXPECT_TRUE(again.remembered);
  EXPECT_EQ(again.link_bytes_per_s, measured.link_bytes_per_s);
  EXPECT_EQ(again.send_bytes_per_s, measured.send_bytes_per_s);
  EXPECT_FALSE(found(1).remembered);
  EXPECT_TRUE(found(1).remembered);
  remove_wisdom(file);
  forget_wisdom();
}

TEST(Bench, EffortsWithArraysInMemoryOfDevices) {
  forget_wisdom();
  const ScopedDeviceDouble devices;
  Case c;
  c.device = "cuda";
  c.shape = "12,10,14";
  c.repeat = 1;
  c.options = quick("patient", "", 8).set("exchange", "direct");
  const Measured m = measured_on(2, c);
  EXPECT_LT(m.error_l2, 5e-15);
  EXPECT_EQ(m.learnt.origin, Origin::trial);
  forget_wisdom();
}

TEST(Bench, TheTimelineHasBothDirectionsOneBehindTheOther) {
  Case c;
  c.shape = "16,16,16";
  c.repeat = 1;
  const std::size_t forward = measured_on(2, c).timeline.at(0).size();
  c.direction = "both";
  for (const auto& lane : measured_on(2, c).timeline) {
    EXPECT_GT(lane.size(), forward);
    for (std::size_t i = 1; i < lane.size(); ++i) EXPECT_GE(lane[i].begin, lane[i - 1].end);
  }
}

TEST(Bench, TheTimelineOfAllRanksHasOneZero) {
  Case c;
  c.shape = "16,16,16";
  c.repeat = 1;
  static constexpr double late = 0.02;  // seconds, of rank 1, between agreeing to execute and executing
  static thread_local bool is_late = false;
  TestHook hook;
  hook.on_workspace = [](std::byte*, std::size_t) {
    if (is_late) std::this_thread::sleep_for(std::chrono::duration<double>(late));
  };
  const ScopedTestHook scoped(hook);
  const Measured m = on_first_rank(2, [&](const Comm& comm) {
    is_late = comm.rank() == 1;
    return measure(comm, c);
  });
  EXPECT_EQ(m.timeline.at(0).front().begin, 0);
  EXPECT_GT(m.timeline.at(1).front().begin, 0.9 * late);
  // What rank 0 waits for ends after rank 1 has begun.
  EXPECT_GT(m.timeline.at(0).back().end, m.timeline.at(1).front().begin);
}

TEST(Bench, MediansAndQuartiles) {
  const bench::Summary s = bench::summarise({5, 1, 4, 2, 3});
  EXPECT_EQ(s.median, 3);
  EXPECT_EQ(s.min, 1);
  EXPECT_EQ(s.first_quartile, 2);
  EXPECT_EQ(s.third_quartile, 4);
  EXPECT_EQ(bench::summarise({1, 2}).median, 1.5);
}

TEST(Bench, WordsItDoesNotKnow) {
  const auto with = [](std::string Case::*field, const char* value) {
    return [=] {
      Case c;
      c.*field = value;
      static_cast<void>(c.problem());
    };
  };
  expect_error(with(&Case::shape, "64,x"), "--shape");
  expect_error(with(&Case::modes, "64,,64"), "--modes");
  expect_error(with(&Case::modes, "64,64"), "2 lengths; expected one per axis, 3");
  expect_error(with(&Case::modes, "64,64,200"), "200 along axis 2; expected 1 to 128");
  expect_error(with(&Case::points, "64;64"), "--points");
  expect_error(with(&Case::line, "0,3"), "two different axes of 3");
  expect_error(with(&Case::line, "0,4294967296"), "two different axes of 3");
  expect_error(with(&Case::line, "0,x"), "two axes: 0,1");
  expect_error(with(&Case::between, "lines"), "none, modes or points");
  expect_error(with(&Case::transform, "fft"), "--transform");
  expect_error(with(&Case::precision, "half"), "double or float");
  expect_error(with(&Case::output, "sideways"), "natural, transposed, slab1, pencil or brick");
  Case c;
  c.shape = "8,8,8";
  c.peers = {"fftw-mpi"};
  c.transform = "dct2";
  expect_error([&] { measured_on(2, c); }, "for this problem");
  c.transform = "c2c";
  c.between = "modes";
  expect_error([&] { measured_on(2, c); }, "all modes and points and nothing between");
  c.between = "none";
  c.line = "0,1";
  expect_error([&] { measured_on(2, c); }, "fftw-mpi for this problem");
  c.line = "";
  c.results = 3;
  expect_error([&] { measured_on(2, c); }, "0, as there is no operator");
  c.results = 0;
  c.peers = {"cufft"};
  expect_error([&] { measured_on(2, c); }, "cufft with --device host");
  c.peers = {"cufftmp"};
  expect_error([&] { measured_on(2, c); }, "cufftmp for this problem");
  c.output = "slab1";
  expect_error([&] { measured_on(2, c); }, "cufftmp with --device host");
  expect_error(with(&Case::device, "abacus"), "host or cuda");
  c.device = "cuda";
  if (device_row() == nullptr) expect_error([&] { c.check_device(); }, "WEFT_CUDA=ON");
}

TEST(Bench, CufftMpSaysWhatItNeeds) {
  const ScopedDeviceDouble devices;
  Case c;
  c.shape = "8,8,8";
  c.device = "cuda";
  c.peers = {"cufftmp"};
  c.output = "natural";
  c.transform = "r2c";
  expect_error([&] { measured_on(2, c); }, "c2c to natural slabs");
  c.output = "slab1";
#if defined(WEFT_WITH_CUDA) && defined(WEFT_WITH_MPI)
  expect_error([&] { measured_on(2, c); }, "cufftmp among threads; expected MPI ranks");
  const ScopedVariable variable("WEFT_CUFFTMP_LIBRARY", "/no/such/library");
  ThreadTeam(2).run([](const Comm& comm) {
    for (const char* text :
         {"cufftmp: /no/such/library: cannot open", "LD_LIBRARY_PATH", "WEFT_CUFFTMP_LIBRARY"})
      expect_error([&] { bench::cufftmp::find(comm); }, text);
  });
#else
  expect_error([&] { measured_on(2, c); }, "a build of the benchmark with it");
#endif
}

TEST(Bench, WithoutMemoryItSaysHowMuchItNeedsForWhat) {
  constexpr std::size_t too_many = std::numeric_limits<std::size_t>::max();
  expect_error([] { const bench::Array array(too_many, nullptr, "the input"); },
               "no memory for 16384.00 PiB: the input");
  Case c;
  c.device = "cuda";
  c.shape = "64,64,64";
  c.transform = "r2c";
  c.output = "natural";
  c.repeat = 1;
  c.options.set("exchange", "direct").set("pipeline", "sequential");
  std::set<std::string> lacking;
  for (std::size_t quarters = 14; quarters <= 28; ++quarters) {  // of a MiB
    DoubleManner manner;
    manner.room = quarters << 18;
    const ScopedDeviceDouble devices(manner);
    ThreadTeam(2).run([&](const Comm& comm) {
      set_double_device(comm.rank());
      try {
        measure(comm, c);
      } catch (const Error& e) {
        EXPECT_TRUE(says(e.got(), "no memory for "));
        if (comm.rank() == 0) lacking.insert(e.operation());
      }
    });
  }
  for (const char* what : {"weft-bench: an array that is exchanged to measure how fast ranks send",
                           "weft-bench: the output of this rank, beside workspace of 2.06 MiB and an input "
                           "of 1.00 MiB"})
    EXPECT_TRUE(lacking.contains(what)) << what << " is not among " << join(lacking, " | ");
}

}  // namespace weft::test
