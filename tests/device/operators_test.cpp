// Ready-made operators and operators of users on modes and points in device memory, beside the same on the
// host.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <random>
#include <vector>

#include "api/ordered_operators.hpp"
#include "support/device_mirror.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/rank_counts.hpp"
#include "weft/operators.hpp"
#include "weft/weft.hpp"

namespace weft::test {

namespace {

using Make = std::function<ModeOperator(const Problem&)>;

std::vector<double> random_numbers(std::size_t n) {
  std::minstd_rand random(7);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> all(n);
  for (double& x : all) x = uniform(random);
  return all;
}

template <class Real>
void check_on_device(const Comm& comm, const Problem& asked, const Make& make, double tolerance) {
  Problem p = asked;
  p.precision = sizeof(Real) == 8 ? Precision::float64 : Precision::float32;
  p.backward_scale = Scale::full;
  p.memory = MemoryKind::host;
  Plan host(comm, p);
  p.memory = MemoryKind::cuda;
  Plan plan(comm, p);
  const std::size_t reals =
      p.element == Element::complex ||
              (!p.element && !p.transforms.contains(Transform::r2c) && p.transforms.contains(Transform::c2c))
          ? 2
          : 1;
  const std::vector<double> wide = random_numbers(host.input_count() * reals);
  const std::vector<Real> in(wide.begin(), wide.end());
  std::vector<Real> expected(host.output_count() * reals), out(expected.size());
  std::vector<Real> kept = in;
  host.apply(kept.data(), expected.data(), make(p));
  DeviceMirror mirror;
  plan.set_stream(static_cast<CUstream_st*>(mirror.stream().native()));
  const void* const from = mirror.upload(in.data(), in.size() * sizeof(Real));
  std::byte* const to = mirror.fresh(out.size() * sizeof(Real));
  plan.apply(from, static_cast<void*>(to), make(p));
  mirror.download(out.data(), to, out.size() * sizeof(Real));
  Real largest = 1;
  for (const Real x : expected) largest = std::max(largest, std::abs(x));
  for (std::size_t i = 0; i < out.size(); ++i)
    ASSERT_NEAR(out[i], expected[i], tolerance * largest) << "element " << i << " of " << out.size();
}

void check_everywhere(const Problem& p, const Make& make) {
  const ScopedDevices devices;
  for (const int ranks : rank_counts(1, 3, ScopedDevices::count()))
    ThreadTeam(ranks).run([&](const Comm& comm) {
      ScopedDevices::choose(comm.rank());
      check_on_device<double>(comm, p, make, 1e-13);
      check_on_device<float>(comm, p, make, 1e-5);
      comm.barrier();
    });
}

Problem of_modes(const AxisVector<Transform>& transforms, Index batch = 1, Index results = 0) {
  Problem p{.shape = {12, 15, 16}, .between = Between::modes};
  p.transforms = transforms;
  p.batch = batch;
  p.results = results;
  return p;
}

const AxisVector<Transform> of_reals{Transform::c2c, Transform::c2c, Transform::r2c},
    of_complex{Transform::c2c, Transform::c2c, Transform::c2c};
const AxisVector<double> lengths{2 * std::numbers::pi, 3, 0.5};

}  // namespace

TEST(DeviceOperators, DerivativesOfEveryOrder) {
  for (int axis = 0; axis < 3; ++axis)
    for (int order = 0; order < 5; ++order)
      check_everywhere(of_modes(order % 2 == 0 ? of_complex : of_reals, 2),
                       [&](const Problem& p) { return derivative(p, axis, order, lengths); });
}

TEST(DeviceOperators, GradientDivergenceAndCurl) {
  for (const auto& transforms : {of_reals, of_complex}) {
    check_everywhere(of_modes(transforms, 1, 3), [](const Problem& p) { return gradient(p, lengths); });
    check_everywhere(of_modes(transforms, 2, 6), [](const Problem& p) { return gradient(p, lengths); });
    check_everywhere(of_modes(transforms, 6, 2), [](const Problem& p) { return divergence(p, lengths); });
    check_everywhere(of_modes(transforms, 3), [](const Problem& p) { return curl(p, lengths); });
    check_everywhere(of_modes(transforms, 6), [](const Problem& p) { return solenoidal_part(p, lengths); });
  }
}

TEST(DeviceOperators, OfComponentsInTheOrderOfDimensions) {
  constexpr auto order = Components::last_axis_first;
  check_everywhere(of_modes(of_reals, 2, 6),
                   [](const Problem& p) { return ordered::gradient(p, lengths, order); });
  check_everywhere(of_modes(of_reals, 6, 2),
                   [](const Problem& p) { return ordered::divergence(p, lengths, order); });
  check_everywhere(of_modes(of_complex, 3),
                   [](const Problem& p) { return ordered::curl(p, lengths, order); });
  check_everywhere(of_modes(of_complex, 6),
                   [](const Problem& p) { return ordered::solenoidal_part(p, lengths, order); });
}

TEST(DeviceOperators, LaplacianItsInverseAndShifts) {
  check_everywhere(of_modes(of_reals), [](const Problem& p) { return laplacian(p, lengths); });
  check_everywhere(of_modes(of_reals), [](const Problem& p) { return inverse_helmholtz(p, 0, lengths); });
  check_everywhere(of_modes(of_complex, 3),
                   [](const Problem& p) { return inverse_helmholtz(p, 2, lengths); });
  for (const auto& transforms : {of_reals, of_complex})
    check_everywhere(of_modes(transforms), [](const Problem& p) {
      return shift(p, {0.3, -2, 0.1}, lengths);
    });
}

/// Real modes, and modes of DCTs and DSTs beside Fourier's.
TEST(DeviceOperators, OfCosinesAndSines) {
  const auto poisson = [](const Problem& p) { return inverse_helmholtz(p, 0.5, lengths); };
  check_everywhere(of_modes({Transform::dct2, Transform::dst1, Transform::dct4}), poisson);
  check_everywhere(of_modes({Transform::dst2, Transform::r2c, Transform::dct1}), poisson);
  check_everywhere(of_modes({Transform::c2c, Transform::dct3, Transform::none}), poisson);
}

/// Of even and odd numbers of modes, points filled up with zeros.
TEST(DeviceOperators, OfKeptModes) {
  for (const ModesNyquist nyquist : {ModesNyquist::shared, ModesNyquist::single}) {
    Problem p = of_modes(of_reals, 1, 3);
    p.modes = {8, 9, 6};
    p.points = {12, 11, 16};
    p.modes_nyquist = nyquist;
    check_everywhere(p, [](const Problem& q) { return gradient(q, lengths); });
    p.results = 0;
    check_everywhere(p, [](const Problem& q) { return shift(q, {0.3, -2, 0.1}, lengths); });
  }
}

TEST(DeviceOperators, ProductWithModesInDeviceMemory) {
  const ScopedDevices devices;
  ThreadTeam(std::min(2, ScopedDevices::count())).run([&](const Comm& comm) {
    ScopedDevices::choose(comm.rank());
    using Complex = std::complex<double>;
    Problem p = of_modes(of_reals);
    Plan host(comm, p);
    p.memory = MemoryKind::cuda;
    Plan plan(comm, p);
    const auto count = static_cast<std::size_t>(host.between_box().count());
    std::vector<Complex> factors(count);
    for (std::size_t i = 0; i < count; ++i) factors[i] = std::polar(1.0, 0.1 * static_cast<double>(i));
    const std::vector<double> in = random_numbers(host.input_count());
    std::vector<double> expected(host.output_count()), out(expected.size());
    for (const bool conjugated : {false, true}) {
      std::vector<double> kept = in;
      host.apply(kept.data(), expected.data(), product(host, factors.data(), conjugated));
      DeviceMirror mirror;
      plan.set_stream(static_cast<CUstream_st*>(mirror.stream().native()));
      const void* const from = mirror.upload(in.data(), in.size() * sizeof(double));
      std::byte* const to = mirror.fresh(out.size() * sizeof(double));
      const auto* const there =
          reinterpret_cast<const Complex*>(mirror.upload(factors.data(), count * sizeof(Complex)));
      plan.apply(from, static_cast<void*>(to), product(plan, there, conjugated));
      mirror.download(out.data(), to, out.size() * sizeof(double));
      for (std::size_t i = 0; i < out.size(); ++i) ASSERT_NEAR(out[i], expected[i], 1e-10);
      plan.set_stream(nullptr);
      expect_error([&] { product(plan, factors.data()); }, "not in memory of");
      expect_error([&] { host.apply(kept.data(), expected.data(), product(plan, there)); }, "another kind");
    }
    comm.barrier();
  });
}

/// An operator of the user's enqueues its work on the stream of a block.
TEST(DeviceOperators, WorkOnTheStreamOfABlock) {
  const ScopedDevices devices;
  ScopedDevices::choose(0);
  Problem p = of_modes(of_complex);
  p.memory = MemoryKind::cuda;
  Plan plan(Comm::self(), p);
  DeviceMirror mirror;
  plan.set_stream(static_cast<CUstream_st*>(mirror.stream().native()));
  std::vector<double> out(plan.output_count() * 2, 1);
  const std::vector<double> in = random_numbers(out.size());
  const std::byte* const from = mirror.upload(in.data(), in.size() * sizeof(double));
  std::byte* const to = mirror.fresh(out.size() * sizeof(double));
  int blocks = 0;
  plan.apply(static_cast<const void*>(from), static_cast<void*>(to), [&](const Block& b) {
    ++blocks;
    EXPECT_EQ(b.memory, MemoryKind::cuda);
    Index last = 0;
    for (int a = 0; a < b.box.ndim(); ++a) last += (b.box.extent(a) - 1) * b.strides[a];
    current_device()->borrow_stream(b.stream)->fill(static_cast<std::byte*>(b.data), 0,
                                                    static_cast<std::size_t>(last + 1) * 16);
  });
  mirror.download(out.data(), to, out.size() * sizeof(double));
  EXPECT_GE(blocks, 1);
  for (const double x : out) ASSERT_EQ(x, 0);
}

TEST(DeviceOperators, RefuseFunctionsOfTheHost) {
  const ScopedDevices devices;
  ScopedDevices::choose(0);
  Problem p = of_modes(of_complex);
  p.memory = MemoryKind::cuda;
  Plan plan(Comm::self(), p);
  DeviceMirror mirror;
  std::byte* const from = mirror.fresh(plan.input_count() * 16);
  std::byte* const to = mirror.fresh(plan.output_count() * 16);
  expect_error(
      [&] {
        plan.apply(static_cast<const void*>(from), static_cast<void*>(to),
                   filter(p, [](double k) { return k; }));
      },
      "product with an array");
  expect_error([&] { const Plan made(Comm::self(), p, Options().set("graph", "on")); },
               "an operator of the caller's");
}

}  // namespace weft::test
