// What is wrong in other libraries and must not be wrong here. Each case is one that users of heFFTe 2.4.1
// meet; two more of them concern MPI alone and are in tests/mpi.
#include <gtest/gtest.h>

#include <mutex>
#include <random>
#include <thread>

#include "geometry/layout.hpp"
#include "support/expect_error.hpp"
#include "support/reference.hpp"
#include "weft/weft.hpp"

namespace weft::test {

namespace {

using Complex = std::complex<double>;
using enum Transform;

std::vector<Exact> random_values(const Shape& shape, bool real) {
  std::minstd_rand random(5);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<Exact> values;
  for (Index i = 0; i < Box::whole(shape).count(); ++i) {
    const double re = uniform(random), im = uniform(random);
    values.emplace_back(re, real ? 0 : im);
  }
  return values;
}

/// Calls f(position in the whole array in C order, position in memory).
template <class F>
void for_points(const Shape& shape, const Box& box, const Strides& strides, const F& f) {
  const Strides whole = dense_strides(shape, c_order(3));
  for (Index i = box.lo[0]; i < box.hi[0]; ++i)
    for (Index j = box.lo[1]; j < box.hi[1]; ++j)
      for (Index k = box.lo[2]; k < box.hi[2]; ++k)
        f(static_cast<std::size_t>(i * whole[0] + j * whole[1] + k * whole[2]),
          static_cast<std::size_t>((i - box.lo[0]) * strides[0] + (j - box.lo[1]) * strides[1] +
                                   (k - box.lo[2]) * strides[2]));
}

/// The largest error of a forward transform of real or complex values on these ranks, all of a batch.
template <class In>
double worst_error(const Comm& comm, const Problem& problem, const Options& options) {
  const std::vector<Exact> values = random_values(problem.shape, std::is_same_v<In, double>);
  const std::vector<Exact> exact = direct_sum(problem.shape, problem.transforms, values);
  Plan plan(comm, problem, options);
  Buffer<In> in(plan.input_count());
  Buffer<Complex> out(plan.output_count());
  for (Index b = 0; b < problem.batch; ++b)
    for_points(problem.shape, plan.input_box(), plan.input_strides(), [&](std::size_t g, std::size_t l) {
      const auto factor = static_cast<double>(b + 1);
      In& to = in[l + static_cast<std::size_t>(b * plan.input_distance())];
      if constexpr (std::is_same_v<In, double>) {
        to = factor * static_cast<double>(values[g].real());
      } else {
        to = factor * Complex(values[g]);
      }
    });
  plan.forward(in.data(), out.data());
  double worst = 0;
  const Shape half = [&] {
    Shape s = problem.shape;
    for (int a = 0; a < 3; ++a)
      if (problem.transforms[a] == r2c) s[a] = s[a] / 2 + 1;
    return s;
  }();
  for (Index b = 0; b < problem.batch; ++b)
    for_points(half, plan.output_box(), plan.output_strides(), [&](std::size_t g, std::size_t l) {
      const Complex expected = static_cast<double>(b + 1) * Complex(exact[g]);
      worst =
          std::max(worst, std::abs(out[l + static_cast<std::size_t>(b * plan.output_distance())] - expected));
    });
  return worst;
}

}  // namespace

TEST(PeersDefects, BatchedR2cOnOneRankWithoutReordering) {
  Problem p;
  p.shape = {4, 6, 10};
  p.batch = 5;
  for (int real = 0; real < 3; ++real) {
    p.transforms = {c2c, c2c, c2c};
    p.transforms[real] = r2c;
    for (const char* layout : {"strided", "contiguous"})
      EXPECT_LT(worst_error<double>(Comm::self(), p, Options().set("layout", layout)), 1e-12) << real;
  }
}

TEST(PeersDefects, LocalTransformsOfSeveralAxesFollowTheMemoryOrderOfTheBox) {
  ThreadTeam team(2);
  for (const Order& order :
       {Order{0, 1, 2}, Order{0, 2, 1}, Order{1, 0, 2}, Order{1, 2, 0}, Order{2, 0, 1}, Order{2, 1, 0}}) {
    Problem p;
    p.shape = {6, 10, 15};  // not a cube: a wrong order cannot pass
    p.transforms = {c2c, c2c, c2c};
    p.input = Distribution::slab(0).with_order(order);
    p.output = Distribution::slab(1).with_order(order);
    EXPECT_LT(worst_error<Complex>(Comm::self(), p, {}), 1e-12);
    team.run([&](const Comm& comm) {
      EXPECT_LT(worst_error<Complex>(comm, p, Options().set("layout", "strided")), 1e-12);
      EXPECT_LT(worst_error<Complex>(comm, p, {}), 1e-12);
    });
  }
}

TEST(PeersDefects, ASubCommunicatorIsTheOnlyOneThatIsUsed) {
  ThreadTeam team(5);
  team.run([](const Comm& comm) {
    const Comm part = comm.split(comm.rank() < 3 ? 0 : 1);
    EXPECT_EQ(part.size(), comm.rank() < 3 ? 3 : 2);
    EXPECT_EQ(part.rank(), comm.rank() < 3 ? comm.rank() : comm.rank() - 3);
    if (comm.rank() >= 3) return;  // takes no part in anything from here on
    Problem p;
    p.shape = {6, 8, 10};
    p.transforms = {c2c, c2c, r2c};
    EXPECT_LT(worst_error<double>(part, p, {}), 1e-12);
  });
}

TEST(PeersDefects, AFailureOutsideASubCommunicatorInTheMiddleOfItsCollectives) {
  ThreadTeam team(7);
  for (int repeat = 0; repeat < 50; ++repeat) {
    expect_error(
        [&] {
          team.run([repeat](const Comm& comm) {
            const Comm part = comm.split(comm.rank() == 6 ? 1 : 0);
            if (comm.rank() == 6) {
              for (int i = 0; i < repeat * 20; ++i) std::this_thread::yield();
              throw Error("rank 6", "gives up", "");
            }
            Problem p;
            p.shape = {6, 8, 10};
            for (;;) Plan(part, p);
          });
        },
        "gives up");
    team.run([](const Comm& comm) { comm.barrier(); });  // the team is as good as before
  }
}

TEST(PeersDefects, AFailureOutsideASubCommunicatorEndsItsWaits) {
  ThreadTeam team(3);
  expect_error(
      [&] {
        team.run([](const Comm& comm) {
          const Comm part = comm.split(comm.rank() == 2 ? 1 : 0);
          if (comm.rank() == 1) throw Error("rank 1", "gives up", "");
          if (comm.rank() == 0) part.barrier();
        });
      },
      "gives up");
}

}  // namespace weft::test
