// Poisson's equation, laplacian(u) = f, by a transform: f is expanded in functions of which the laplacian is
// a multiple, divided by the multiples, and summed up again. Along axes 0 and 1 the domain is periodic with
// length 2 pi. Along axis 2 there are three cases, and the transform of that axis is all that they differ in:
//   periodic   c2c    length 2 pi, points z = 2 pi j/n
//   Dirichlet  dst1   u = 0 at walls z = 0 and z = pi, points z = pi (j+1)/(n+1) between them
//   Neumann    dct2   du/dz = 0 at the same walls, points z = pi (j+1/2)/n
// The exact solution is exp(cos x) sin(y) g(z), with g(z) = exp(cos z), or sin(z) exp(cos z) for Dirichlet.
//
//   mpirun -n 4 poisson [--grid N] [--comm mpi|threads:P] [--set OPTION=VALUE]...
#include <cmath>
#include <complex>
#include <numbers>

#include "ranks.hpp"

namespace {

constexpr double pi = std::numbers::pi;

struct Case {
  const char* name;
  weft::Transform transform;             ///< along axis 2
  double (*z)(weft::Index j, double n);  ///< where point j lies
};

/// A value of a function and its second derivative.
struct Curve {
  double value, second;
};

double real(weft::Index i) {
  return static_cast<double>(i);
}

// [cases]
const Case cases[] = {
    {"periodic", weft::Transform::c2c, [](weft::Index j, double n) { return 2 * pi * real(j) / n; }},
    {"Dirichlet", weft::Transform::dst1, [](weft::Index j, double n) { return pi * real(j + 1) / (n + 1); }},
    {"Neumann", weft::Transform::dct2, [](weft::Index j, double n) { return pi * (real(j) + 0.5) / n; }},
};
// [/cases]

/// exp(cos t)
Curve even(double t) {
  const double c = std::cos(t), s = std::sin(t), e = std::exp(c);
  return {e, (s * s - c) * e};
}
/// sin(t) exp(cos t)
Curve odd(double t) {
  const double c = std::cos(t), s = std::sin(t), e = std::exp(c);
  return {s * e, (s * s - 3 * c - 1) * s * e};
}

/// The solution at a point of the grid, and its laplacian.
Curve solution(const Case& c, const weft::Shape& at, const weft::Shape& shape) {
  const double y = 2 * pi * real(at[1]) / real(shape[1]), z = c.z(at[2], real(shape[2]));
  const Curve a = even(2 * pi * real(at[0]) / real(shape[0]));
  const Curve g = c.transform == weft::Transform::dst1 ? odd(z) : even(z);
  const double b = std::sin(y);
  return {a.value * b * g.value, b * (a.second * g.value - a.value * g.value + a.value * g.second)};
}

/// Solves one case; returns the relative error.
double solve(const Case& c, const example::Ranks& ranks, const example::Settings& settings) {
  const weft::Index n = settings.grid;
  const weft::Shape shape = {n, n, n};
  // [problem]
  weft::Problem problem;
  problem.shape = shape;
  problem.transforms = {weft::Transform::c2c, weft::Transform::r2c, c.transform};
  problem.output = weft::Distribution::fastest();
  problem.backward_scale = weft::Scale::full;
  // [/problem]
  weft::Plan plan(ranks.comm, problem, settings.options);
  weft::Buffer<double> u(plan.input_count());
  weft::Buffer<std::complex<double>> modes(plan.output_count());
  weft::for_each_input(plan,
                       [&](const weft::Shape& x, std::size_t at) { u[at] = solution(c, x, shape).second; });

  // [solve]
  plan.forward(u.data(), modes.data());
  weft::for_each_mode(plan, [&](const weft::AxisVector<double>& k, std::size_t at) {
    const double k2 = k[0] * k[0] + k[1] * k[1] + k[2] * k[2];
    modes[at] = k2 == 0 ? 0.0 : -modes[at] / k2;  // the constant is free; this makes the mean zero
  });
  plan.backward(modes.data(), u.data());
  // [/solve]

  double squares = 0, all = 0;
  weft::for_each_input(plan, [&](const weft::Shape& x, std::size_t at) {
    const double expected = solution(c, x, shape).value;
    squares += std::pow(u[at] - expected, 2);
    all += std::pow(expected, 2);
  });
  return std::sqrt(ranks.sum(squares) / ranks.sum(all));
}

bool run(const example::Ranks& ranks, const example::Settings& settings) {
  std::vector<example::Check> checks;
  for (const Case& c : cases) checks.push_back({c.name, solve(c, ranks, settings), 1e-12});
  return ranks.close("poisson", checks);
}

}  // namespace

int main(int argc, char** argv) {
  return example::run(example::parse(argc, argv, {"poisson", 40, "at least 40"}), run);
}
