// Executions that are started, looked at and waited for: several at a time, beside each other and beside
// other work, and every way to get that wrong.
#include <gtest/gtest.h>

#include <thread>

#include "support/bad_input.hpp"
#include "support/expect_error.hpp"
#include "weft/weft.hpp"

namespace weft::test {

namespace {

using Complex = std::complex<double>;

struct Flight {
  Flight(const Comm& comm, const Options& options, double height, const Problem& problem = small_cube())
      : plan(comm, problem, options), in(plan.input_count()), out(plan.output_count()), expected(height) {
    if (plan.input_box().lo == Shape{0, 0, 0}) in[0] = height;  // an impulse at the origin
  }
  void check() const {
    for (std::size_t i = 0; i < out.size(); ++i) EXPECT_NEAR(std::abs(out[i] - expected), 0, 1e-13);
  }
  Plan plan;
  Buffer<Complex> in, out;
  double expected;
};

}  // namespace

TEST(Handles, SeveralPlansOfOneCommAreUnderWayTogether) {
  ThreadTeam team(4);
  for (const char* exchange : {"direct", "copy"})
    for (const char* pipeline : {"sequential", "windowed"})
      team.run([&](const Comm& comm) {
        const Options o = Options().set("exchange", exchange).set("pipeline", pipeline);
        Flight a(comm, o, 1), b(comm, o, 2), c(comm, o, 3);
        for (int repeat = 0; repeat < 3; ++repeat) {
          for (Flight* f : {&a, &b, &c}) f->plan.start_forward(f->in.data(), f->out.data());
          // Ranks complete them in different orders.
          Flight* order[] = {&a, &b, &c};
          std::rotate(order, order + comm.rank() % 3, order + 3);
          bool all = false;
          while (!all) {
            all = true;
            for (Flight* f : order) all = f->plan.test() && all;
            if (!all) std::this_thread::yield();
          }
          for (Flight* f : order) f->plan.wait();  // nothing is left to wait for
          for (Flight* f : order) f->check();
        }
      });
}

TEST(Handles, AStartThatWaitsForAllRanksLetsThemCompleteWhatIsUnderWay) {
  ThreadTeam team(3);
  for (const char* exchange : {"direct", "copy"})
    team.run([&](const Comm& comm) {
      Problem natural = small_cube();
      natural.output = Distribution::slab(0);  // two reshapes: the second waits for what the first brings
      const Options options = Options().set("exchange", exchange);
      Flight a(comm, options, 1, natural), b(comm, options, 2, natural);
      for (int repeat = 0; repeat < 3; ++repeat) {
        a.plan.start_forward(a.in.data(), a.out.data());
        if (comm.rank() == 1) a.plan.wait();  // the others are in the next call meanwhile
        b.plan.start_forward(b.in.data(), b.out.data());
        a.plan.wait();
        b.plan.wait();
        a.check();
        b.check();
      }
    });
}

TEST(Handles, TestNeverWaitsForAnotherRank) {
  ThreadTeam team(2);
  team.run([](const Comm& comm) {
    Flight f(comm, {}, 1);
    f.plan.start_forward(f.in.data(), f.out.data());
    if (comm.rank() == 0) {
      // The other rank does nothing until it has seen this rank come to the barrier.
      for (int i = 0; i < 100; ++i) f.plan.test();
      comm.barrier();
    } else {
      comm.barrier();
    }
    f.plan.wait();
    f.check();
  });
}

TEST(Handles, BackwardToo) {
  ThreadTeam team(3);
  team.run([](const Comm& comm) {
    Problem p = small_cube();
    p.transforms = {Transform::dct2, Transform::c2c, Transform::r2c};
    p.backward_scale = Scale::full;
    Plan plan(comm, p);
    Buffer<double> x(plan.input_count()), back(plan.input_count());
    Buffer<Complex> modes(plan.output_count());
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i * 7 % 13);
    plan.start_forward(x.data(), modes.data());
    plan.wait();
    plan.start_backward(modes.data(), back.data());
    while (!plan.test()) std::this_thread::yield();
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(back[i], x[i], 1e-13);
  });
}

TEST(Handles, MisuseIsSaid) {
  ThreadTeam team(2);
  team.run([](const Comm& comm) {
    Flight f(comm, {}, 1);
    EXPECT_TRUE(f.plan.test());  // nothing is under way
    f.plan.wait();
    f.plan.start_forward(f.in.data(), f.out.data());
    expect_error([&] { f.plan.start_forward(f.in.data(), f.out.data()); }, "is under way");
    expect_error([&] { f.plan.backward(f.out.data(), f.in.data()); }, "whose forward is under way");
    f.plan.wait();
    f.check();
    f.plan.forward(f.in.data(), f.out.data());
    f.check();
  });
}

TEST(Handles, APlanDestroyedUnderWayFailsTheOthers) {
  ThreadTeam team(2);
  expect_error(
      [&] {
        team.run([](const Comm& comm) {
          auto f = std::make_unique<Flight>(comm, Options(), 1);
          f->plan.start_forward(f->in.data(), f->out.data());
          if (comm.rank() == 1) {
            f.reset();
          } else {
            f->plan.wait();
          }
          comm.barrier();
        });
      },
      "destroyed while it was under way");
}

TEST(Handles, ThreadsWithCommsOfTheirOwn) {
  // Two teams at the same time: nothing is shared between them.
  std::vector<std::thread> outer;
  for (int t = 0; t < 2; ++t)
    outer.emplace_back([t] {
      ThreadTeam team(3);
      team.run([t](const Comm& comm) {
        Flight f(comm, Options().set("threads", 2), 1.0 + t);
        for (int i = 0; i < 5; ++i) {
          f.plan.start_forward(f.in.data(), f.out.data());
          f.plan.wait();
          f.check();
        }
      });
    });
  for (std::thread& t : outer) t.join();
}

}  // namespace weft::test
