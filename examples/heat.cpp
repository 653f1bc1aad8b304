// Heat that spreads in a periodic box, in steps that are exact in Fourier space: a program that executes one
// plan many times, and lets its first executions tune it.
//
//   mpirun -n 4 heat [--grid N] [--comm mpi|threads:P] [--set OPTION=VALUE]...
#include <cmath>
#include <complex>
#include <numbers>

#include "ranks.hpp"

namespace {

constexpr int steps = 24;
constexpr double per_step = 0.01;  // time, in units in which a wave of length 2 pi decays by e

bool run(const example::Ranks& ranks, const example::Settings& settings) {
  const weft::Index n = settings.grid;
  weft::Problem problem{.shape = {n, n, n}};
  problem.output = weft::Distribution::fastest();
  problem.backward_scale = weft::Scale::full;

  // [tuned]
  weft::Options options = settings.options;
  options.set("effort", "online");
  weft::Plan plan(ranks.comm, problem, options);
  // [/tuned]

  using Complex = std::complex<double>;
  weft::Buffer<Complex> heat(plan.input_count()), modes(plan.output_count());
  const auto initial = [&](const weft::Shape& at) {
    const double unit = 2 * std::numbers::pi / static_cast<double>(n);
    return std::cos(unit * static_cast<double>(at[0])) +
           std::sin(unit * static_cast<double>(2 * at[1] + at[2]));
  };
  weft::for_each_input(plan, [&](const weft::Shape& at, std::size_t i) { heat[i] = initial(at); });

  for (int step = 0; step < steps; ++step) {
    plan.forward(heat.data(), modes.data());
    weft::for_each_mode(plan, [&](const weft::AxisVector<double>& k, std::size_t i) {
      modes[i] *= std::exp(-per_step * (k[0] * k[0] + k[1] * k[1] + k[2] * k[2]));
    });
    plan.backward(modes.data(), heat.data());
  }
  if (ranks.first()) std::printf("%s\n", plan.explain().online.state.c_str());

  // The first wave has decayed with rate 1, the other one with rate 2 * 2 + 1 * 1.
  double squares = 0;
  weft::for_each_input(plan, [&](const weft::Shape& at, std::size_t i) {
    const double unit = 2 * std::numbers::pi / static_cast<double>(n), time = steps * per_step;
    const double exact = std::exp(-time) * std::cos(unit * static_cast<double>(at[0])) +
                         std::exp(-5 * time) * std::sin(unit * static_cast<double>(2 * at[1] + at[2]));
    squares += std::norm(heat[i] - exact);
  });
  const double error = std::sqrt(ranks.sum(squares) / std::pow(static_cast<double>(n), 3));
  return ranks.close("heat", {{"error", error, 1e-13}});
}

}  // namespace

int main(int argc, char** argv) {
  return example::run(example::parse(argc, argv, {"heat", 32, "at least 8"}), run);
}
