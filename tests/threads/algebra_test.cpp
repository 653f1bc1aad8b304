// Identities that hold for any transform, whatever computes it: impulse, linearity, shift and Parseval, c2c
// and r2c, on ranks whose boxes differ in size.
#include <gtest/gtest.h>

#include <mutex>
#include <numbers>

#include "weft/weft.hpp"

namespace weft::test {

namespace {

using Complex = std::complex<double>;
const Shape shape{10, 9, 7};

/// Calls f(i, j, k, position) for the points of a box in C order.
template <class F>
void for_points(const Box& box, const F& f) {
  std::size_t at = 0;
  for (Index i = box.lo[0]; i < box.hi[0]; ++i)
    for (Index j = box.lo[1]; j < box.hi[1]; ++j)
      for (Index k = box.lo[2]; k < box.hi[2]; ++k) f(i, j, k, at++);
}

template <class T>
T value(Index i, Index j, Index k) {
  const double re = static_cast<double>((i * 31 + j * 17 + k * 7) % 23) - 11;
  if constexpr (std::is_same_v<T, double>) {
    return re;
  } else {
    return {re, static_cast<double>((i + 2 * j + 5 * k) % 13) - 6};
  }
}

/// The phase that a shift by one along axis 0 gives, or an impulse at (s, t, u).
Complex phase(Index i, Index n) {
  return std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n));
}

template <class T>
void check_identities(const Comm& comm) {
  constexpr bool real = std::is_same_v<T, double>;
  Problem problem;
  problem.shape = shape;
  if (real) problem.transforms = {Transform::c2c, Transform::c2c, Transform::r2c};
  problem.output = Distribution::slab(1);
  Plan plan(comm, problem, Options().set("pipeline", "windowed").set("tile", 3));
  const Box box = plan.input_box(), modes = plan.output_box();
  Buffer<T> x(plan.input_count()), shifted(x.size()), impulse(x.size()), sum(x.size());
  for_points(box, [&](Index i, Index j, Index k, std::size_t at) {
    x[at] = value<T>(i, j, k);
    shifted[at] = value<T>((i + 9) % 10, j, k);
    impulse[at] = i == 3 && j == 8 && k == 2 ? 1 : 0;
    sum[at] = 2.0 * x[at] - 3.0 * impulse[at];
  });
  Buffer<Complex> fx(plan.output_count()), fshifted(fx.size()), fimpulse(fx.size()), fsum(fx.size());
  plan.forward(x.data(), fx.data());
  plan.forward(shifted.data(), fshifted.data());
  plan.forward(impulse.data(), fimpulse.data());
  plan.forward(sum.data(), fsum.data());

  double energies[2] = {0, 0};  // of the array, of its modes
  for (const T& v : x) energies[0] += std::norm(v);
  for_points(modes, [&](Index i, Index j, Index k, std::size_t at) {
    ASSERT_NEAR(std::abs(fshifted[at] - phase(i, 10) * fx[at]), 0, 1e-11);
    ASSERT_NEAR(std::abs(fimpulse[at] - phase(3 * i, 10) * phase(8 * j, 9) * phase(2 * k, 7)), 0, 1e-13);
    ASSERT_NEAR(std::abs(fsum[at] - (2.0 * fx[at] - 3.0 * fimpulse[at])), 0, 1e-11);
    energies[1] += (real && k > 0 ? 2 : 1) * std::norm(fx[at]);  // 7 is odd: only k = 0 stands for itself
  });
  static double total[2];
  static std::mutex mutex;
  comm.barrier();
  if (comm.rank() == 0) total[0] = total[1] = 0;
  comm.barrier();
  {
    const std::lock_guard lock(mutex);
    total[0] += energies[0];
    total[1] += energies[1];
  }
  comm.barrier();
  EXPECT_NEAR(total[1] / (total[0] * 630), 1, 1e-14);
  EXPECT_EQ(plan.scale_factor(), 630);
}

}  // namespace

TEST(Algebra, ImpulseLinearityShiftAndParseval) {
  for (int ranks : {1, 3, 4}) {
    ThreadTeam team(ranks);
    team.run([](const Comm& comm) {
      check_identities<Complex>(comm);
      check_identities<double>(comm);
    });
  }
}

}  // namespace weft::test
