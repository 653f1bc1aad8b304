// Two transforms under way at the same time: the velocity of a flow, three components interleaved point by
// point as codes with vectors keep them, and a pressure. The components are a batch with a stride of 3 and a
// distance of 1; their spectra come out as three arrays, one behind the other. Each component is one wave, so
// that its spectrum is one number.
//
//   mpirun -n 4 fields [--grid N] [--comm mpi|threads:P] [--set OPTION=VALUE]...
#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <thread>

#include "ranks.hpp"

namespace {

using Complex = std::complex<double>;

struct Wave {
  weft::Shape k;
  double height;
  double at(const weft::Shape& x, weft::Index n) const {
    const auto phase = static_cast<double>((k[0] * x[0] + k[1] * x[1] + k[2] * x[2]) % n);
    return height * std::cos(2 * std::numbers::pi * phase / static_cast<double>(n));
  }
};

const std::array<Wave, 3> velocity_waves{{{{1, 2, 3}, 1}, {{0, 5, 1}, 2}, {{4, 0, 2}, -3}}};
const Wave pressure_wave{{2, 2, 2}, 0.5};

/// Squared distance of a spectrum on this rank from that of one wave, in units of the number of points.
double distance(const weft::Plan& plan, const Complex* modes, const Wave& wave) {
  double squares = 0;
  weft::for_each_output(plan, [&](const weft::Shape& k, std::size_t at) {
    squares += std::norm(modes[at] / plan.scale_factor() - (k == wave.k ? wave.height / 2 : 0.0));
  });
  return squares;
}

bool run(const example::Ranks& ranks, const example::Settings& settings) {
  const weft::Index n = settings.grid;
  // [problems]
  weft::Problem scalar;
  scalar.shape = {n, n, n};
  scalar.transforms = {weft::Transform::c2c, weft::Transform::c2c, weft::Transform::r2c};
  scalar.output = weft::Distribution::slab(1);

  weft::Problem vector = scalar;
  vector.batch = 3;
  vector.input = weft::Distribution::slab(0).with_strides({3 * n * n, 3 * n, 3});
  vector.input_distance = 1;  // from one component of a point to the next

  weft::Plan of_velocity(ranks.comm, vector, settings.options);
  weft::Plan of_pressure(ranks.comm, scalar, settings.options);
  // [/problems]

  // [fill]
  weft::Buffer<double> velocity(of_velocity.input_count()), pressure(of_pressure.input_count());
  weft::for_each_input(of_velocity, [&](const weft::Shape& x, std::size_t at) {
    for (std::size_t c = 0; c < 3; ++c) velocity[at + c] = velocity_waves[c].at(x, n);
  });
  weft::for_each_input(of_pressure,
                       [&](const weft::Shape& x, std::size_t at) { pressure[at] = pressure_wave.at(x, n); });
  // [/fill]

  // [overlap]
  weft::Buffer<Complex> velocity_modes(of_velocity.output_count());
  weft::Buffer<Complex> pressure_modes(of_pressure.output_count());
  of_velocity.start_forward(velocity.data(), velocity_modes.data());
  of_pressure.start_forward(pressure.data(), pressure_modes.data());
  while (!of_pressure.test()) {
    of_velocity.test();         // both go on, each inside its own test
    std::this_thread::yield();  // or work that needs neither
  }
  double squares = distance(of_pressure, pressure_modes.data(), pressure_wave);
  of_velocity.wait();
  // [/overlap]

  for (std::size_t c = 0; c < 3; ++c)
    squares += distance(of_velocity,
                        velocity_modes.data() + c * static_cast<std::size_t>(of_velocity.output_distance()),
                        velocity_waves[c]);
  return ranks.close("fields", {{"error", std::sqrt(ranks.sum(squares)), 1e-13}});
}

}  // namespace

int main(int argc, char** argv) {
  return example::run(example::parse(argc, argv, {"fields", 32, "at least 12"}), run);
}
