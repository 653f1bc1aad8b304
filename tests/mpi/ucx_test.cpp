// Exchange ucx: over the memory of a machine, and over the loopback device where every rank is taken for a
// machine of its own.
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <complex>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/numa/binding.hpp"
#include "base/test_hook.hpp"
#include "base/timing.hpp"
#include "kernels/cpu/zfp.hpp"
#include "support/design_of.hpp"
#include "support/expect_error.hpp"
#include "support/says.hpp"
#include "support/ucx_ranks.hpp"
#include "transport/ucx/rails.hpp"

namespace weft::test {

#ifdef WEFT_WITH_UCX

/// Which begins no execution, and says nothing of what it took.
TEST_F(Ucx, ARankWithoutPointsIsNotWaitedFor) {
  const Comm machines = apart();
  Problem p = natural({1, 2, 18}, Precision::float64);  // a third rank has none on either side
  p.output = Distribution::slab(1);
  const Options slabs = Options().set("decomposition", "slab").set("layout", "contiguous");
  const Options o = Options(slabs).set("exchange", "ucx").set("rails", two_rails());
  EXPECT_EQ(results<double>(machines, p, o, 5),
            results<double>(machines, p, Options(slabs).set("exchange", "p2p")));
}

/// A rank that waits on one network lets what it sends by another one go on, which needs calls of UCX.
TEST_F(Ucx, WhoWaitsOnOneNetworkLeavesNothingUnsentOnAnother) {
  const std::string rails = two_rails();
  if (rails == "lo") GTEST_SKIP() << "there is no network device but lo";
  if (comm_.size() > 4) GTEST_SKIP() << "more ranks take long on few cores";
  const Comm machines = apart();
  RailSettings both, one;
  both.rails = rails;
  one.rails = "lo";
  ucx::Rails::prepare(machines.impl(), nullptr, both);
  const auto on_both = ucx::Rails::of(machines.impl(), both);
  ucx::Rails::prepare(machines.impl(), nullptr, one);
  const auto on_one = ucx::Rails::of(machines.impl(), one);
  const int talk = ucx::new_conversation(machines.impl()), rank = machines.rank();
  constexpr int messages = 200, bytes = 200 << 10, far = 1;  // more than sockets take
  struct Talk {
    std::vector<char> data = std::vector<char>(bytes);
    std::vector<ucx::Operation> all = std::vector<ucx::Operation>(messages);
    ucx::Operation answer;
    ucx::DoneList done;
  };
  auto* const t = new Talk;
  t->done.operations.reserve(messages + 1);
  for (ucx::Operation& o : t->all) o.list = &t->done;
  t->answer.list = &t->done;
  const auto await = [&](const ucx::Rails& by, std::size_t count) {
    for (const double end = seconds_now() + 60; seconds_now() < end; std::this_thread::yield()) {
      const auto held = ucx::lock();
      if (t->done.operations.size() >= count) return true;
      by.progress();
    }
    return false;
  };
  {
    const auto held = ucx::lock();  // rank 1 reads nothing before all has been sent that finds room
    if (rank == 0) {
      on_one->worker(0)->receive(nullptr, 0, ucx::tag_of(talk, 1, 1), t->answer);
      for (ucx::Operation& o : t->all)
        on_both->worker(far)->send(on_both->endpoint(far, 1), t->data.data(), bytes, ucx::tag_of(talk, 0, 0),
                                   o);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
      for (ucx::Operation& o : t->all)
        on_both->worker(far)->receive(t->data.data(), bytes, ucx::tag_of(talk, 0, 0), o);
  }
  const double begin = seconds_now();
  bool all_there = true;
  if (rank == 1) {
    all_there = await(*on_both, messages);
    const auto held = ucx::lock();
    on_one->worker(0)->send(on_one->endpoint(0, 0), nullptr, 0, ucx::tag_of(talk, 1, 1), t->answer);
  }
  if (rank <= 1) all_there = await(*on_one, messages + 1) && all_there;
  EXPECT_TRUE(all_there);
  EXPECT_LT(seconds_now() - begin, 3);  // a rank that is not let run for a while is helped by chance
  if (all_there) delete t;              // else UCX still has it
  MPI_Barrier(MPI_COMM_WORLD);
}

/// The same bits as p2p in every pipeline, with rails and without, however parts are cut.
TEST_F(Ucx, CarriesEveryPipeline) {
  const Comm machines = apart();
  const Problem p = natural({15, 22, 17}, Precision::float64);
  for (const char* pipeline : {"sequential", "windowed", "planes", "two-front"}) {
    SCOPED_TRACE(pipeline);
    const auto in_pipeline = [&](Options o) {
      return o.set("pipeline", pipeline).set("layout", "contiguous");
    };
    const auto expected = results<double>(machines, p, in_pipeline(Options().set("exchange", "p2p")));
    for (const char* one_sided : {"off", "on"}) {
      SCOPED_TRACE(one_sided);
      const auto sending = [&](const Options& o) { return in_pipeline(o).set("one_sided", one_sided); };
      EXPECT_EQ(results<double>(comm_, p, sending(ucx_), 2), expected);
      for (const auto& [chunk, inflight, barrier] :
           {std::tuple("auto", "4", "off"), {"1024", "1", "on"}, {"1500", "3", "2"}, {"4KiB", "2", "off"}}) {
        SCOPED_TRACE(chunk);
        const Options o = Options(lo_).set("chunk", chunk).set("inflight", inflight).set("barrier", barrier);
        EXPECT_EQ(results<double>(machines, p, sending(o), 2), expected);
      }
    }
  }
}

TEST_F(Ucx, TwoRailsShareTheTransfers) {
  const std::string rails = two_rails();
  if (rails == "lo") GTEST_SKIP() << "there is no network device but lo";
  const Comm machines = apart();
  const Problem p = natural({24, 25, 18}, Precision::float32);
  const Options o = Options(ucx_).set("rails", rails).set("chunk", 2048);
  EXPECT_EQ(results<float>(machines, p, o, 3), results<float>(machines, p, Options().set("exchange", "p2p")));
  const Plan plan(machines, p, o);
  EXPECT_TRUE(says(plan.to_string(), "exchange ucx 2 rails: lo (TCP, messages), "));
}

namespace {

/// How often something is put, or registered; and with which number rank 1 cannot register its workspace.
struct PutHook {
  std::atomic<int> puts{0};
  int registered = 0, fails_at = 0;
  ScopedTestHook hook{[this] {
    TestHook h;
    h.at_point = [this](const char* point, int rank) {
      if (std::string(point) == "ucx put") ++puts;
      if (std::string(point) == "ucx register" && ++registered == fails_at && rank == 1)
        throw Error("test", "too little locked memory", "more");
    };
    return h;
  }()};
};

}  // namespace

/// By rule what a device does by itself is put: here none does, unless the test says so. Short transfers are
/// messages also then.
TEST_F(Ucx, PutsWhereTheDeviceDoesThem) {
  for (const char* device : {"lo", ucx::shared_memory}) EXPECT_FALSE(ucx::writes_alone(device));
  const Comm machines = apart();
  const Problem p = natural({32, 32, 60}, Precision::float64);
  const auto expected = results<double>(machines, p, Options().set("exchange", "p2p"));
  const auto puts_of = [&](bool alone, const char* one_sided, const char* chunk, const char* way) {
    const ScopedSwitch writing(ucx::detail::pretended_writing, alone);
    PutHook hook;
    const Options o = Options(lo_).set("one_sided", one_sided).set("chunk", chunk);
    EXPECT_EQ(results<double>(machines, p, o), expected);
    EXPECT_TRUE(says(Plan(machines, p, o).to_string(), std::string("1 rail: lo (TCP, ") + way + ")\n"));
    return hook.puts.load();
  };
  EXPECT_EQ(puts_of(false, "auto", "auto", "messages"), 0);
  EXPECT_EQ(puts_of(true, "off", "auto", "messages"), 0);
  EXPECT_EQ(puts_of(true, "auto", "8KiB", "puts"), 0);
  EXPECT_GT(puts_of(true, "auto", "auto", "puts"), 0);
  EXPECT_GT(puts_of(false, "on", "1024", "puts"), puts_of(false, "on", "auto", "puts"));
}

/// Where one rank cannot register its workspace with a lane, all ranks send messages there, and puts on
/// others.
TEST_F(Ucx, MessagesWhereMemoryIsNotRegistered) {
  const std::string rails = two_rails();
  const Comm machines = apart();
  const Problem p = natural({24, 25, 18}, Precision::float64);
  const Options o = Options(ucx_).set("rails", rails).set("chunk", 2048).set("one_sided", "on");
  const auto expected = results<double>(machines, p, Options().set("exchange", "p2p"));
  const ScopedVariable warnings("WEFT_WARNINGS", "on");
  PutHook hook;
  hook.fails_at = 1;
  testing::internal::CaptureStderr();
  const Plan plan(machines, p, o);
  const std::string warning = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(says(plan.to_string(), "lo (TCP, messages)"));
  if (rails != "lo") {
    EXPECT_TRUE(says(plan.to_string(), "(TCP, puts)"));
  }
  if (comm_.rank() == 0) {
    EXPECT_TRUE(says(warning, "rail lo sends messages, and puts nothing: "));
    EXPECT_TRUE(says(warning, "too little locked memory"));
  }
  hook.registered = 0;
  EXPECT_EQ(results<double>(machines, p, o, 3), expected);
  EXPECT_EQ(hook.puts > 0, rails != "lo");
}

/// It is not known while planning.
TEST_F(Ucx, NothingIsPutIntoWorkspaceOfTheUser) {
  const Problem p = natural({8, 8, 8}, Precision::float64);
  const Options o = Options(ucx_).set("workspace", "user");
  expect_error([&] { const Plan plan(comm_, p, Options(o).set("one_sided", "on")); },
               "plan: option one_sided: on, with workspace of the user");
  EXPECT_TRUE(says(Plan(comm_, p, o).to_string(), "share its memory (messages)"));
}

/// What is registered goes with its plan, and whoever puts there next has the new key.
TEST_F(Ucx, PlansComeAndGoWithTheirRegistrations) {
  const Comm machines = apart();
  const Problem p = natural({8, 12, 6}, Precision::float64);
  const Options o = Options(lo_).set("one_sided", "on");
  const auto expected = results<double>(machines, p, Options().set("exchange", "p2p"));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(results<double>(machines, p, o), expected);
}

namespace {

/// The threads of this process that may run on this processor alone.
int threads_bound_to(int processor) {
  int count = 0;
  cpu_set_t wanted, mask;
  CPU_ZERO(&wanted);
  CPU_SET(processor, &wanted);
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    const pid_t thread = std::stoi(entry.path().filename());
    if (sched_getaffinity(thread, sizeof mask, &mask) == 0 && CPU_EQUAL(&mask, &wanted)) ++count;
  }
  return count;
}

}  // namespace

/// Two NUMA nodes, one of them with the last processor and the network.
TEST_F(Ucx, NumaNodesArePrintedAndTheThreadOfNetworksIsThere) {
  const numa::Processors mine = numa::of_thread();
  const int last = mine.back();
  const numa::Map machine{
      {{0, numa::Processors(mine.begin(), mine.end() - 1)}, {7, {last}}}, {}, {{"lo", 7}}};
  const Problem p = natural({8, 8, 8}, Precision::float64);
  const auto text = [&] { return Plan(apart(), p, lo_).to_string(); };
  EXPECT_TRUE(says(text(), "exchange ucx 1 rail: lo (TCP, messages)\n"));
  const int before = threads_bound_to(last);
  {
    const ScopedSwitch<const numa::Map*> pretended(numa::detail::pretended_machine, &machine);
    EXPECT_TRUE(says(text(), "exchange ucx 1 rail: lo (TCP, messages, NUMA node 7)\n"));
    if (mine.size() > 1) {
      EXPECT_EQ(threads_bound_to(last), before + 1);
    }
    const ScopedVariable off("WEFT_NUMA", "off");
    EXPECT_TRUE(says(text(), "exchange ucx 1 rail: lo (TCP, messages)\n"));
    EXPECT_EQ(threads_bound_to(last), before);
  }
  EXPECT_EQ(numa::of_thread(), mine);
}

/// Parts for ranks of the same machine go through its memory, others by the rail.
TEST_F(Ucx, MachinesOfSeveralRanks) {
  if (comm_.size() < 3) GTEST_SKIP() << "two ranks are one machine, or two";
  const ScopedSwitch two(detail::pretended_ranks_per_node, 2);
  const Comm machines = Comm::mpi(MPI_COMM_WORLD);
  const Problem p = natural({13, 16, 9}, Precision::float64);
  for (const char* barrier : {"on", "off"})
    for (const char* one_sided : {"on", "off"})
      EXPECT_EQ(results<double>(
                    machines, p,
                    Options(lo_).set("barrier", barrier).set("chunk", 1024).set("one_sided", one_sided)),
                results<double>(machines, p, Options().set("exchange", "p2p")));
  EXPECT_TRUE(says(Plan(machines, p, lo_).to_string(), "shared memory among ranks of a machine"));
}

TEST_F(Ucx, CarriesCodecs) {
  const Comm machines = apart();
  const Problem p = natural({16, 22, 18}, Precision::float64);
  for (const char* codec : {"fp32", "trim:20", "zfp-accuracy:12"}) {
    if (std::string(codec).starts_with("zfp") && !zfp::missing().empty()) continue;
    SCOPED_TRACE(codec);
    const auto coded = [&](Options o) { return o.set("codec", codec); };
    const auto expected = results<double>(machines, p, coded(Options().set("exchange", "p2p")));
    for (const char* one_sided : {"off", "on"})
      EXPECT_EQ(results<double>(machines, p, coded(lo_).set("chunk", 1024).set("one_sided", one_sided)),
                expected);
  }
}

/// Of several plans under way each gets its own messages, in whatever order they are waited for.
TEST_F(Ucx, SeveralPlansAreUnderWayTogether) {
  const Comm machines = apart();
  const auto plan = [&](const char* one_sided, const char* pipeline) {
    return Plan(machines, natural({12, 18, 8}, Precision::float64),
                Options(lo_).set("one_sided", one_sided).set("pipeline", pipeline));
  };
  Plan a = plan("on", "auto"), b = plan("on", "windowed"), c = plan("off", "windowed");
  Buffer<std::complex<double>> in(a.input_count()), x(a.output_count()), y(a.output_count()),
      z(a.output_count());
  in[0] = machines.rank() == 0 ? 1 : 0;
  for (int i = 0; i < 4; ++i) {
    a.start_forward(in.data(), x.data());
    b.start_forward(in.data(), y.data());
    c.start_forward(in.data(), z.data());
    (machines.rank() % 2 == 0 ? a : b).wait();
    c.wait();
    (machines.rank() % 2 == 0 ? b : a).wait();
    for (const auto* out : {&x, &y, &z})
      for (const auto& v : *out) ASSERT_NEAR(std::abs(v - 1.0), 0, 1e-13);
  }
}

/// A rank that is done does not have to look at its messages any more: they are on their way.
TEST_F(Ucx, RanksThatAreDoneAreNotNeeded) {
  const Comm machines = apart();
  for (const char* one_sided : {"off", "on"}) {
    Plan plan(machines, natural({48, 50, 33}, Precision::float64),
              Options(lo_).set("chunk", 3000).set("one_sided", one_sided));
    Buffer<std::complex<double>> in(plan.input_count()), out(plan.output_count());
    for (int i = 0; i < 5; ++i) {
      plan.forward(in.data(), out.data());
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
}

TEST_F(Ucx, DevicesThatDoNotExistAreAnError) {
  const Comm machines = apart();
  const Problem p = natural({8, 8, 8}, Precision::float64);
  expect_error([&] { const Plan plan(machines, p, Options(ucx_).set("rails", "nonsense")); },
               "plan: option rails: \"nonsense\", which is no network device of rank 0");
  expect_error([&] { const Plan plan(machines, p, Options(ucx_).set("rails", "99")); }, "99");
  for (const char* wrong : {"", "0", "-1", "lo,", "lo,lo"})
    expect_error([&] { Options().set("rails", wrong); }, "options: rails");
  for (const auto& [option, wrong] : {std::pair("chunk", "12"),
                                      {"chunk", "many"},
                                      {"chunk", "5KB"},
                                      {"chunk", "2048MiB"},
                                      {"chunk", ""},
                                      {"inflight", "0"},
                                      {"barrier", "perhaps"},
                                      {"one_sided", "kernel"}})
    expect_error([&, o = option, w = wrong] { Options().set(o, w); }, std::string("options: ") + option);
  results<double>(machines, p, lo_);  // the ranks can still plan
}

#endif

/// Run with a library that is not there, and in builds without UCX.
TEST(UcxMissing, IsAnErrorThatSaysWhatToDo) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  const std::string why = why_no_exchange(comm, "ucx");
  if (why.empty()) GTEST_SKIP() << "UCX is there";
  EXPECT_TRUE(says(why, "UCX"));
  Problem p = natural({8, 8, 8}, Precision::float64);
  expect_error([&] { const Plan plan(comm, p, Options().set("exchange", "ucx")); }, "\"ucx\": " + why);
  expect_error([&] { const Plan plan(comm, p, Options().set("exchange", "ucx")); },
               exchange_row("ucx").carrier == nullptr ? "libucx-dev" : "WEFT_UCX_LIBRARY");
}

}  // namespace weft::test
