// Execution allocates nothing: all ways in which the process can get memory from the C library are counted
// while plans execute. (FFTW allocates scratch for some sizes by itself; these are sizes for which it does
// not.)
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "kernels/cpu/zfp.hpp"
#include "support/allocations.hpp"
#include "support/scoped_variable.hpp"
#include "weft/weft.h"
#include "weft/weft.hpp"

namespace weft::test {

namespace {

struct Variant {
  const char *exchange, *pipeline;
  bool in_place, users_workspace;
  int threads = 1;
  const char* codec = "none";
  bool is_line = false;
};

template <class Real>
void execute_and_count(const Comm& comm, const Variant& v) {
  using Complex = std::complex<Real>;
  Problem p;
  p.shape = {16, 16, 16};
  p.transforms = {v.is_line ? Transform::none : Transform::c2c, Transform::c2c, Transform::r2c};
  if (v.is_line) p.line = {1, 2};
  p.precision = sizeof(Real) == 8 ? Precision::float64 : Precision::float32;
  p.in_place = v.in_place;
  p.backward_scale = Scale::full;
  Options o;
  o.set("pipeline", v.pipeline)
      .set("exchange", v.exchange)
      .set("threads", v.threads)
      .set("codec", v.codec)
      .set("workspace", v.users_workspace ? "user" : "plan");
  Plan plan(comm, p, o);
  Buffer<Complex> out(plan.buffer_bytes() / sizeof(Complex) + 1);
  Buffer<Real> in(plan.input_count());
  Buffer<char> work(v.users_workspace ? plan.workspace_bytes() : 0);
  Real* real = v.in_place ? reinterpret_cast<Real*>(out.data()) : in.data();
  const auto both = [&] {
    plan.forward(real, out.data(), work.data(), work.size());
    plan.start_backward(out.data(), real, work.data(), work.size());
    plan.test();
    plan.wait();
  };
  EXPECT_EQ(allocations_of(comm, both), 0)
      << v.exchange << " " << v.pipeline << " on " << comm.size() << " ranks";
}

}  // namespace

TEST(Execution, AllocatesNothing) {
  for (const char* pipeline : {"sequential", "th", "windowed", "planes", "two-front"})
    for (const bool in_place : {false, true})
      for (const int ranks : {1, 4}) {
        ThreadTeam team(ranks);
        team.run([&](const Comm& comm) {
          for (const Variant& v :
               {Variant{"direct", pipeline, in_place, false}, Variant{"copy", pipeline, in_place, true},
                Variant{"copy", pipeline, in_place, false}, Variant{"direct", pipeline, in_place, false, 3},
                Variant{"direct", pipeline, in_place, false, 3, "none", true}}) {
            execute_and_count<double>(comm, v);
            execute_and_count<float>(comm, v);
          }
        });
      }
}

/// With effort online once it has settled, also while it measures now and then.
TEST(Execution, OfOneArrayAllocatesNothing) {
  ThreadTeam(4).run([](const Comm& comm) {
    for (const bool in_place : {false, true})
      for (const int threads : {1, 3})
        execute_and_count<double>(comm, {"direct", "shared", in_place, false, threads});
  });
}

TEST(Execution, OfATunedPlanAllocatesNothing) {
  ThreadTeam(2).run([](const Comm& comm) {
    Problem p;
    p.shape = {16, 16, 16};
    Plan plan(comm, p, Options().set("effort", "online").set("online", 4));
    const Buffer<std::complex<double>> in(plan.input_count());
    Buffer<std::complex<double>> out(plan.output_count());
    const auto some = [&] {
      for (int i = 0; i < 20; ++i) plan.forward(in.data(), out.data());
    };
    some();
    for (int attempt = 0; attempt < 10; ++attempt) {
      const std::string before = plan.explain().online.state;
      const bool trying = plan.explain().online.trying;
      const long count = allocations_of(comm, some);
      // Where other programs are busy it may have looked again.
      if (trying || plan.explain().online.state != before) continue;
      EXPECT_EQ(count, 0);
      return;
    }
    ADD_FAILURE() << plan;
  });
}

TEST(Execution, OfCodecsAllocatesNothing) {
  for (const char* codec : {"fp16", "trim:12", "zfp:16", "zfp-accuracy:16"}) {
    if (find_codec(codec).row->by_library && !zfp::missing().empty()) GTEST_SKIP() << zfp::missing();
    ThreadTeam(4).run([&](const Comm& comm) {
      for (const char* pipeline : {"sequential", "planes"}) {
        const Variant v{"copy", pipeline, false, false, 3, codec};
        execute_and_count<double>(comm, v);
        execute_and_count<float>(comm, v);
      }
    });
  }
}

TEST(Execution, OfTracedPlansAllocatesNothing) {
  const std::string file = testing::TempDir() + "/weft-allocation-trace-" + std::to_string(getpid());
  const ScopedVariable variable("WEFT_TRACE", file);
  ThreadTeam(4).run([&](const Comm& comm) {
    for (const char* pipeline : {"sequential", "windowed", "planes"})
      for (const char* exchange : {"copy", "direct"})
        execute_and_count<double>(comm, {exchange, pipeline, false, false});
  });
  EXPECT_EQ(std::remove(file.c_str()), 0);
}

TEST(Execution, ThroughCAllocatesNothing) {
  weft_comm comm = nullptr;
  weft_plan plan = nullptr;
  weft_problem problem{};
  problem.size = sizeof problem;
  problem.ndim = 2;
  problem.shape[0] = problem.shape[1] = 16;
  ASSERT_EQ(weft_comm_self(&comm), WEFT_SUCCESS);
  ASSERT_EQ(weft_plan_create(comm, &problem, nullptr, &plan), WEFT_SUCCESS);
  Buffer<std::complex<double>> in(256), out(256);
  const auto both = [&] {
    int complete = 0;
    weft_layout layout{};
    layout.size = sizeof layout;
    EXPECT_EQ(weft_forward(plan, in.data(), out.data()), WEFT_SUCCESS);
    EXPECT_EQ(weft_start(plan, WEFT_BACKWARD, out.data(), in.data(), nullptr, 0), WEFT_SUCCESS);
    EXPECT_EQ(weft_test(plan, &complete), WEFT_SUCCESS);
    EXPECT_EQ(weft_wait(plan), WEFT_SUCCESS);
    EXPECT_EQ(weft_plan_layout(plan, WEFT_INPUT, &layout), WEFT_SUCCESS);
  };
  EXPECT_EQ(allocations_of(Comm::self(), both), 0);
  EXPECT_EQ(weft_plan_free(&plan), WEFT_SUCCESS);
  EXPECT_EQ(weft_comm_free(&comm), WEFT_SUCCESS);
}

TEST(Execution, TheCounterCounts) {
  begin_counting();
  void* volatile p = std::malloc(10);
  void* volatile q = ::operator new(10);
  void* volatile r = std::aligned_alloc(64, 64);
  stand_aside(true);
  void* volatile unseen = std::malloc(10);
  stand_aside(false);
  EXPECT_EQ(end_counting(), 3);
  for (void* volatile* each : {&p, &r, &unseen}) std::free(*each);
  ::operator delete(q);
}

}  // namespace weft::test
