// A first transform: the spectrum of a wave that is spread over all ranks.
//
//   mpirun -n 4 first [--grid N] [--comm mpi|threads:P] [--set OPTION=VALUE]...
#include <cmath>
#include <complex>
#include <numbers>

#include "ranks.hpp"

namespace {

bool run(const example::Ranks& ranks, const example::Settings& settings) {
  const weft::Index n = settings.grid;
  const weft::Shape wave = {3, n - 2, 1};  // of the wave's vector; n - 2 stands for -2

  // [problem]
  weft::Problem problem{.shape = {n, n, n}};
  problem.transforms = {weft::Transform::c2c, weft::Transform::c2c, weft::Transform::r2c};
  problem.input = weft::Distribution::slab(0);
  problem.output = weft::Distribution::slab(1);
  // [/problem]

  // [plan]
  weft::Plan plan(ranks.comm, problem, settings.options);
  weft::Buffer<double> field(plan.input_count());
  weft::Buffer<std::complex<double>> modes(plan.output_count());
  // [/plan]

  // [fill]
  const weft::Box& mine = plan.input_box();
  std::size_t at = 0;
  for (weft::Index i = mine.lo[0]; i < mine.hi[0]; ++i)
    for (weft::Index j = mine.lo[1]; j < mine.hi[1]; ++j)
      for (weft::Index k = mine.lo[2]; k < mine.hi[2]; ++k) {
        const auto phase = static_cast<double>((wave[0] * i + wave[1] * j + wave[2] * k) % n);
        field[at++] = std::cos(2 * std::numbers::pi * phase / static_cast<double>(n));
      }
  // [/fill]

  // [forward]
  plan.forward(field.data(), modes.data());
  // [/forward]

  // [check]
  // The wave is half exp(+i...) and half exp(-i...), of which the half-complex output holds one.
  const double peak = plan.scale_factor() / 2;
  double squares = 0;
  weft::for_each_output(plan, [&](const weft::Shape& k, std::size_t position) {
    squares += std::norm(modes[position] - (k == wave ? peak : 0.0));
  });
  const double error = std::sqrt(ranks.sum(squares)) / peak;
  return ranks.close("first", {{"error", error, 1e-13}});
  // [/check]
}

}  // namespace

// [main]
int main(int argc, char** argv) {
  return example::run(example::parse(argc, argv, {"first", 32, "at least 8"}), run);
}
// [/main]
