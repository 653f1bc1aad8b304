// The gradient of a field that lives in an array with halo cells, as finite-difference codes keep it. The
// transform reads the field where it lies; nothing is copied to strip the halo. One plan takes the field to
// its modes, makes three derivatives of them and takes these back. The result is compared with the exact
// gradient, and with central differences of fourth order, which need the halo.
//
// A simulation fills its halo by messages between neighbours; here every rank computes the field there too.
//
//   mpirun -n 4 gradient [--grid N] [--comm mpi|threads:P] [--set OPTION=VALUE]...
#include <array>
#include <cmath>
#include <numbers>

#include "ranks.hpp"

namespace {

constexpr weft::Index halo = 2;  // cells on each side
constexpr std::array<double, 3> wave = {1, 2, 1};

/// The field is sin(x) sin(2y) cos(z): its value (derivative = -1), or its derivative along an axis.
double field(const weft::Shape& at, double h, int derivative) {
  double product = 1;
  for (int a = 0; a < 3; ++a) {
    const auto w = wave[static_cast<std::size_t>(a)];
    const double t = w * h * static_cast<double>(at[a]), s = std::sin(t), c = std::cos(t);
    if (a == 2) {
      product *= a == derivative ? -w * s : c;
    } else {
      product *= a == derivative ? w * c : s;
    }
  }
  return product;
}

bool run(const example::Ranks& ranks, const example::Settings& settings) {
  const weft::Index n = settings.grid;
  const double h = 2 * std::numbers::pi / static_cast<double>(n);

  // [problems]
  weft::Problem problem;
  problem.shape = {n, n, n};
  problem.transforms = {weft::Transform::c2c, weft::Transform::c2c, weft::Transform::r2c};
  problem.input = weft::Distribution::brick().with_halo({halo, halo, halo}, {halo, halo, halo});
  problem.output = weft::Distribution::brick();  // the gradient has no halo
  problem.between = weft::Between::modes;
  problem.results = 3;
  problem.backward_scale = weft::Scale::full;
  weft::Plan plan(ranks.comm, problem, settings.options);
  // [/problems]

  // [fill]
  weft::Buffer<double> u(plan.input_count());  // halo cells included
  weft::Box with_halo = plan.input_box();
  for (int a = 0; a < 3 && !plan.input_box().empty(); ++a) with_halo.lo[a] -= halo, with_halo.hi[a] += halo;
  weft::for_each_point(with_halo, plan.input_strides(), 0,
                       [&](const weft::Shape& x, std::size_t at) { u[at] = field(x, h, -1); });
  // [/fill]

  // [gradient]
  weft::Buffer<double> gradient(plan.output_count());
  plan.apply(u.data(), gradient.data(), weft::gradient(problem));
  // [/gradient]

  // [differences]
  double exact_squares = 0, difference_squares = 0, all = 0;
  const weft::Strides& step = plan.input_strides();
  const weft::Strides& dense = plan.output_strides();
  weft::for_each_input(plan, [&](const weft::Shape& x, std::size_t at) {
    weft::Index there = 0;  // the same point in an array without halo
    for (int a = 0; a < 3; ++a) there += (x[a] - plan.input_box().lo[a]) * dense[a];
    for (int a = 0; a < 3; ++a) {
      const double* p = u.data() + at;
      const double difference =
          (8 * (p[step[a]] - p[-step[a]]) - (p[2 * step[a]] - p[-2 * step[a]])) / (12 * h);
      const double mine = gradient[static_cast<std::size_t>(a * plan.output_distance() + there)];
      const double exact = field(x, h, a);
      exact_squares += std::pow(mine - exact, 2);
      difference_squares += std::pow(mine - difference, 2);
      all += std::pow(exact, 2);
    }
  });
  // [/differences]
  // Such a difference of sin(wt) is the derivative but for (wh)^4/30 of it, and w is 2 at most.
  const double norm = ranks.sum(all);
  return ranks.close("gradient",
                     {{"against exact", std::sqrt(ranks.sum(exact_squares) / norm), 1e-13},
                      {"against finite differences", std::sqrt(ranks.sum(difference_squares) / norm),
                       std::pow(2 * h, 4) / 30}});
}

}  // namespace

int main(int argc, char** argv) {
  return example::run(example::parse(argc, argv, {"gradient", 32, "at least 8"}), run);
}
