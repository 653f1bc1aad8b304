// How inexact may a transform be? As inexact as the solver is anyway. -laplacian(u) + u = f is solved in a
// periodic cube on finer and finer grids. Every solution has a discretisation error, which the grid decides,
// and the transforms need not be better than that: their tolerance follows it, and fewer bytes are sent.
// (lossy-all-to-all, Algorithm 2.) The exact solution is a product of functions 1/(5/4 - cos t).
//
//   mpirun -n 4 tolerance [--grid N] [--comm mpi|threads:P] [--set OPTION=VALUE]...
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdio>
#include <numbers>
#include <string>

#include "ranks.hpp"

namespace {

/// "1.5e-06"
std::string text_of(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3e", value);
  return text.data();
}

double real(weft::Index i) {
  return static_cast<double>(i);
}

/// A value of a function and its second derivative.
struct Curve {
  double value, second;
};
Curve curve(double t) {
  const double d = 1.25 - std::cos(t), s = std::sin(t);
  return {1 / d, (2 * s * s / d - std::cos(t)) / (d * d)};
}

/// The solution at a point of the grid, and the right side.
struct Point {
  double solution, right;
};
Point at(const weft::Shape& x, weft::Index n) {
  const double h = 2 * std::numbers::pi / real(n);
  const Curve a = curve(h * real(x[0])), b = curve(h * real(x[1])), c = curve(h * real(x[2]));
  const double u = a.value * b.value * c.value;
  return {u, u - a.second * b.value * c.value - a.value * b.second * c.value - a.value * b.value * c.second};
}

/// What the plan says of its first codec.
std::string codec_of(const weft::Plan& plan) {
  const std::string text = plan.to_string(), key = ", codec ";
  const std::size_t found = text.find(key);
  if (found == std::string::npos) return "none";
  const std::size_t begin = found + key.size();
  return text.substr(begin, text.find(' ', begin) - begin);
}

struct Solved {
  double error;  ///< relative
  std::string codec;
  double of_codec;  ///< relative error that it makes in the transform of the right side
};

/// Solves the equation on a grid of n^3 points.
Solved solve(const example::Ranks& ranks, weft::Index n, const weft::Options& options) {
  weft::Problem problem;
  problem.shape = {n, n, n};
  problem.transforms = {weft::Transform::c2c, weft::Transform::c2c, weft::Transform::r2c};
  problem.output = weft::Distribution::fastest();
  problem.backward_scale = weft::Scale::full;
  weft::Plan plan(ranks.comm, problem, options);
  weft::Buffer<double> u(plan.input_count());
  weft::Buffer<std::complex<double>> modes(plan.output_count());
  weft::for_each_input(plan, [&](const weft::Shape& x, std::size_t i) { u[i] = at(x, n).right; });
  // [measure]
  const double of_codec = plan.measured_error(weft::Direction::forward, u.data()).l2;
  // [/measure]
  // [solve]
  plan.forward(u.data(), modes.data());
  weft::for_each_mode(plan, [&](const weft::AxisVector<double>& k, std::size_t i) {
    modes[i] /= 1 + k[0] * k[0] + k[1] * k[1] + k[2] * k[2];
  });
  plan.backward(modes.data(), u.data());
  // [/solve]
  double squares = 0, all = 0;
  weft::for_each_input(plan, [&](const weft::Shape& x, std::size_t i) {
    squares += std::pow(u[i] - at(x, n).solution, 2);
    all += std::pow(at(x, n).solution, 2);
  });
  return {std::sqrt(ranks.sum(squares) / ranks.sum(all)), codec_of(plan), of_codec};
}

bool run(const example::Ranks& ranks, const example::Settings& settings) {
  std::vector<example::Check> checks;
  for (weft::Index n = settings.grid / 4; n <= settings.grid; n *= 2) {
    weft::Options options = settings.options;
    const double discretisation = solve(ranks, n, options).error;
    // [tolerance]
    const double tolerance = std::max(discretisation / 10, 1e-13);
    options.set("tolerance", text_of(tolerance));
    // [/tolerance]
    // On one machine shared memory is faster than any codec. Here messages are to be seen.
    if (!options.is_set("exchange")) options.set("exchange", settings.comm == "mpi" ? "p2p" : "copy");
    const Solved solved = solve(ranks, n, options);
    if (ranks.first())
      std::printf("grid %3lld: error %.1e; tolerance %.1e, codec %s makes %.1e: error %.1e\n",
                  static_cast<long long>(n), discretisation, tolerance, solved.codec.c_str(), solved.of_codec,
                  solved.error);
    checks.push_back({std::to_string(n), solved.error, 2 * discretisation});
  }
  return ranks.close("tolerance", checks);
}

}  // namespace

int main(int argc, char** argv) {
  return example::run(example::parse(argc, argv, {"tolerance", 64, "a multiple of 4"}), run);
}
