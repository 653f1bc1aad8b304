// Gradients by one transform along each axis in device memory, beside the same on the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <type_traits>
#include <vector>

#include "support/device_mirror.hpp"
#include "support/devices.hpp"
#include "support/rank_counts.hpp"
#include "weft/gradient.hpp"
#include "weft/weft.hpp"

namespace weft::test {

namespace {

template <class Real>
void check_on_device(const Comm& comm, const Problem& asked, double tolerance) {
  Problem p = asked;
  p.precision = sizeof(Real) == 8 ? Precision::float64 : Precision::float32;
  p.memory = MemoryKind::host;
  Gradient host(comm, p);
  p.memory = MemoryKind::cuda;
  Gradient gradient(comm, p);
  const std::size_t reals = p.transforms.contains(Transform::r2c) ? 1 : 2;
  std::minstd_rand random(11);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<Real> in(host.input_count() * reals), expected(host.output_count() * reals);
  for (Real& x : in) x = static_cast<Real>(uniform(random));
  const auto run = [](Gradient& of, const void* from, void* to) { of(from, to); };
  run(host, in.data(), expected.data());
  ASSERT_EQ(gradient.input_count(), host.input_count());
  ASSERT_EQ(gradient.output_count(), host.output_count());
  DeviceMirror mirror;
  gradient.set_stream(static_cast<CUstream_st*>(mirror.stream().native()));
  std::vector<Real> out(expected.size());
  std::byte* const from = mirror.upload(in.data(), in.size() * sizeof(Real));
  std::byte* const to = mirror.upload(out.data(), out.size() * sizeof(Real));
  run(gradient, from, to);
  mirror.download(out.data(), to, out.size() * sizeof(Real));
  Real largest = 1;
  for (const Real x : expected) largest = std::max(largest, std::abs(x));
  for (std::size_t i = 0; i < out.size(); ++i)
    ASSERT_NEAR(out[i], expected[i], tolerance * largest) << "element " << i << " of " << out.size();
}

void check_everywhere(const Problem& p) {
  const ScopedDevices devices;
  for (const int ranks : rank_counts(1, 3, ScopedDevices::count()))
    ThreadTeam(ranks).run([&](const Comm& comm) {
      ScopedDevices::choose(comm.rank());
      check_on_device<double>(comm, p, 1e-13);
      check_on_device<float>(comm, p, 1e-5);
      comm.barrier();
    });
}

}  // namespace

TEST(DeviceGradient, OfRealAndComplexFields) {
  Problem p{.shape = {12, 15, 16}};
  p.transforms = {Transform::c2c, Transform::c2c, Transform::r2c};
  check_everywhere(p);
  p.transforms = {Transform::c2c, Transform::c2c, Transform::c2c};
  check_everywhere(p);
}

TEST(DeviceGradient, OfSeveralFieldsAlongSomeAxes) {
  Problem p{.shape = {9, 14, 8}};
  p.transforms = {Transform::none, Transform::c2c, Transform::r2c};
  p.batch = 2;
  check_everywhere(p);
}

}  // namespace weft::test
