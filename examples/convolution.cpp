// The circular convolution of a field with a kernel, h(x) = sum_y f(x - y) g(y) with all indices modulo the
// lengths, as a product of spectra. The product is taken point by point, so that nobody needs to know which
// rank holds which mode, nor in which order: the spectral side is left to the plan. The kernel has three
// points, so that the sum can be checked term by term.
//
//   mpirun -n 4 convolution [--grid N] [--comm mpi|threads:P] [--set OPTION=VALUE]...
#include <array>
#include <cmath>
#include <complex>

#include "ranks.hpp"

namespace {

struct Point {
  weft::Shape at;
  double weight;
};

/// A field without any symmetry that every rank can compute everywhere.
double field(const weft::Shape& x) {
  return static_cast<double>((x[0] * 1009 + x[1] * 917 + x[2] * 331 + x[0] * x[1] * 13) % 101) / 101.0 - 0.5;
}

bool run(const example::Ranks& ranks, const example::Settings& settings) {
  const weft::Index n = settings.grid;
  const weft::Shape shape = {n, n + 1, n + 2};
  const std::array<Point, 3> kernel{{{{0, 0, 0}, 2}, {{1, 0, n + 1}, -1}, {{3, n, 5}, 0.25}}};

  // [problem]
  weft::Problem problem;
  problem.shape = shape;
  problem.transforms = {weft::Transform::c2c, weft::Transform::c2c, weft::Transform::r2c};
  problem.input = weft::Distribution::brick();
  problem.output = weft::Distribution::fastest();
  problem.backward_scale = weft::Scale::full;
  // [/problem]
  weft::Plan plan(ranks.comm, problem, settings.options);

  weft::Buffer<double> f(plan.input_count()), g(plan.input_count());
  weft::for_each_input(plan, [&](const weft::Shape& x, std::size_t at) {
    f[at] = field(x);
    for (const Point& p : kernel)
      if (x == p.at) g[at] = p.weight;
  });

  // [product]
  weft::Buffer<std::complex<double>> f_modes(plan.output_count()), g_modes(plan.output_count());
  plan.forward(f.data(), f_modes.data());
  plan.forward(g.data(), g_modes.data());
  for (std::size_t i = 0; i < f_modes.size(); ++i) f_modes[i] *= g_modes[i];
  weft::Buffer<double> h(plan.input_count());
  plan.backward(f_modes.data(), h.data());
  // [/product]

  double squares = 0, all = 0;
  weft::for_each_input(plan, [&](const weft::Shape& x, std::size_t at) {
    double expected = 0;
    for (const Point& p : kernel) {
      weft::Shape y = x;
      for (int a = 0; a < 3; ++a) y[a] = (x[a] - p.at[a] + shape[a]) % shape[a];
      expected += p.weight * field(y);
    }
    squares += std::pow(h[at] - expected, 2);
    all += std::pow(expected, 2);
  });
  const double error = std::sqrt(ranks.sum(squares) / ranks.sum(all));
  return ranks.close("convolution", {{"error", error, 1e-13}});
}

}  // namespace

int main(int argc, char** argv) {
  return example::run(example::parse(argc, argv, {"convolution", 30, "at least 8"}), run);
}
