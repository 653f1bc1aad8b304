#include "support/check_spectra.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>

#include "weft/weft.hpp"

namespace weft::test {

namespace {

const Shape shape{6, 9, 8};
constexpr Index items = 2;
const AxisVector<double> units{1, 0.5, 2};

double value(const Shape& x, Index item) {
  return static_cast<double>((31 * x[0] + 17 * x[1] + 7 * x[2] + 5 * x[0] * x[2] + 3 * item) % 23) - 11;
}

double signed_wave(Index k, Index n) {
  return static_cast<double>(2 * k >= n ? k - n : k);
}

/// By shell, of the unscaled transforms on this rank alone, shells as long as the plan's.
std::vector<double> expected(std::size_t shells) {
  std::vector<double> sums(shells);
  Problem whole;
  whole.shape = shape;
  Plan plan(Comm::self(), whole);
  Buffer<std::complex<double>> in(plan.input_count()), out(plan.output_count());
  for (Index item = 0; item < items; ++item) {
    std::size_t i = 0;
    for (Index x = 0; x < shape[0]; ++x)
      for (Index y = 0; y < shape[1]; ++y)
        for (Index z = 0; z < shape[2]; ++z) in[i++] = value({x, y, z}, item);
    plan.forward(in.data(), out.data());
    i = 0;
    for (Index x = 0; x < shape[0]; ++x)
      for (Index y = 0; y < shape[1]; ++y)
        for (Index z = 0; z < shape[2]; ++z) {
          const double k =
              std::hypot(units[0] * signed_wave(x, shape[0]), units[1] * signed_wave(y, shape[1]),
                         units[2] * signed_wave(z, shape[2]));
          sums.at(static_cast<std::size_t>(std::floor(k + 0.5))) += std::norm(out[i++]);
        }
  }
  return sums;
}

template <class In, class Out>
void check_one(const Comm& comm, Problem problem, double tolerance) {
  problem.batch = items;
  Plan plan(comm, problem);
  Buffer<In> in(plan.input_count());
  Buffer<Out> out(plan.output_count());
  double squares = 0;
  for_each_input(plan, [&](const Shape& x, std::size_t at) {
    for (Index item = 0; item < items; ++item)
      in[at + static_cast<std::size_t>(item * plan.input_distance())] = static_cast<In>(value(x, item));
  });
  for (Index x = 0; x < shape[0]; ++x)
    for (Index y = 0; y < shape[1]; ++y)
      for (Index z = 0; z < shape[2]; ++z)
        for (Index item = 0; item < items; ++item) squares += std::pow(value({x, y, z}, item), 2);
  plan.forward(in.data(), out.data());
  const std::vector<double> found = shell_spectrum(plan, out.data(), units);
  const std::vector<double> sums = expected(found.size());
  double all = 0;
  for (std::size_t s = 0; s < sums.size(); ++s) {
    EXPECT_NEAR(found[s], sums[s], tolerance * squares * plan.scale_factor()) << s;
    all += found[s];
  }
  EXPECT_NEAR(all, squares * plan.scale_factor(), tolerance * squares * plan.scale_factor());
  EXPECT_GT(found.back(), 0);
}

}  // namespace

void check_spectra(const Comm& comm) {
  const AxisVector<Transform> halved{Transform::c2c, Transform::c2c, Transform::r2c};
  check_one<std::complex<double>, std::complex<double>>(
      comm, {.shape = shape, .output = Distribution::slab(1)}, 1e-14);
  check_one<double, std::complex<double>>(
      comm, {.shape = shape, .transforms = halved, .output = Distribution::fastest()}, 1e-14);
  check_one<double, std::complex<double>>(comm,
                                          {.shape = shape,
                                           .transforms = {Transform::c2c, Transform::r2c, Transform::c2c},
                                           .input = Distribution::brick(),
                                           .output = Distribution::pencil(0).with_order({2, 0, 1})},
                                          1e-14);
  check_one<float, std::complex<float>>(
      comm, {.shape = shape, .transforms = halved, .precision = Precision::float32}, 1e-6);
}

}  // namespace weft::test
