// The Madelung constant of rock salt, by Ewald summation with a distributed transform.
//
// Ions of charge +1 and -1 alternate on a simple cubic lattice with nearest distance 1, in a periodic cube of
// 8 x 8 x 8 ions. They sit exactly on every (n/8)-th node of an n x n x n grid, so that the transform of the
// gridded charge is their structure factor S(k) without any interpolation. With Ewald's splitting parameter
// alpha,
//   E = 1/2 sum_ij' q_i q_j erfc(alpha r_ij)/r_ij                                       (real space)
//     + 1/(2V) sum_{k != 0} 4 pi/k^2 exp(-k^2/(4 alpha^2)) |S(k)|^2                     (reciprocal space)
//     - alpha/sqrt(pi) sum_i q_i^2                                                      (self)
// and the constant is -2 E per ion. Every rank handles the ions and the wave vectors of its own boxes.
//
//   mpirun -n 4 madelung [--grid N] [--comm mpi|threads:P]
#include <chrono>
#include <cmath>
#include <cstdio>
#include <numbers>

#include "ranks.hpp"

namespace {

constexpr double published = 1.747564594633182190636;
constexpr double tolerance = 1e-10;
constexpr int ions = 8;  // per edge of the periodic cube, whose length they also are
constexpr double alpha =
    2.5;  // both sums converge to rounding within a few neighbours and a fraction of the grid

class Clock {
 public:
  explicit Clock(const weft::Comm& comm) : comm_(comm) { lap(); }
  /// Seconds since the last lap, when the slowest rank is there.
  double lap() {
    comm_.barrier();
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - start_).count();
    start_ = now;
    return seconds;
  }

 private:
  const weft::Comm& comm_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Puts the ions of this rank's box on the grid; returns the sum of their squared charges.
double place_ions(const weft::Plan& plan, weft::Index n, weft::Buffer<double>& charge) {
  const weft::Index step = n / ions;
  double squared = 0;
  weft::for_each_input(plan, [&](const weft::Shape& x, std::size_t at) {
    const bool ion = x[0] % step == 0 && x[1] % step == 0 && x[2] % step == 0;
    charge[at] = !ion ? 0 : (x[0] / step + x[1] / step + x[2] / step) % 2 == 0 ? 1 : -1;
    squared += charge[at] * charge[at];
  });
  return squared;
}

/// Half the sum over this rank's ions and all their neighbours within a cutoff, where erfc(alpha r) is below
/// rounding.
double real_space(const weft::Plan& plan, weft::Index n) {
  const weft::Index step = n / ions;
  constexpr int reach = 3;
  double energy = 0;
  weft::for_each_input(plan, [&](const weft::Shape& ion, std::size_t) {
    if (ion[0] % step != 0 || ion[1] % step != 0 || ion[2] % step != 0) return;
    for (int x = -reach; x <= reach; ++x)
      for (int y = -reach; y <= reach; ++y)
        for (int z = -reach; z <= reach; ++z) {
          if (x == 0 && y == 0 && z == 0) continue;
          const double r = std::sqrt(static_cast<double>(x * x + y * y + z * z));
          energy += ((x + y + z) % 2 == 0 ? 0.5 : -0.5) * std::erfc(alpha * r) / r;
        }
  });
  return energy;
}

/// This rank's part of the reciprocal sum. The output is half-complex along the last axis: a wave vector
/// stands for itself and for its opposite, except where that is on the grid as well.
double reciprocal_space(const weft::Plan& plan, weft::Index n, const weft::Buffer<std::complex<double>>& s) {
  const double unit = 2 * std::numbers::pi / ions, volume = std::pow(ions, 3);
  double energy = 0;
  weft::for_each_mode(plan, [&](const weft::AxisVector<double>& m, std::size_t at) {
    const double k2 = unit * unit * (m[0] * m[0] + m[1] * m[1] + m[2] * m[2]);
    if (k2 == 0) return;
    const double times = m[2] == 0 || 2 * m[2] == static_cast<double>(n) ? 1 : 2;
    energy += times * 4 * std::numbers::pi / k2 * std::exp(-k2 / (4 * alpha * alpha)) * std::norm(s[at]) /
              (2 * volume);
  });
  return energy;
}

bool run(const example::Ranks& ranks, const example::Settings& settings) {
  const weft::Index n = settings.grid;
  weft::Problem problem;
  problem.shape = {n, n, n};
  problem.transforms = {weft::Transform::c2c, weft::Transform::c2c, weft::Transform::r2c};
  problem.input = weft::Distribution::brick();
  problem.output = weft::Distribution::fastest();  // a sum needs no order

  Clock clock(ranks.comm);
  weft::Plan plan(ranks.comm, problem, settings.options);
  const double t_plan = clock.lap();
  weft::Buffer<double> charge(plan.input_count());
  weft::Buffer<std::complex<double>> spectrum(plan.output_count());
  const double squared = ranks.sum(place_ions(plan, n, charge));
  const double t_ions = clock.lap();
  plan.forward(charge.data(), spectrum.data());
  const double t_fft = clock.lap();
  const double reciprocal = ranks.sum(reciprocal_space(plan, n, spectrum));
  const double t_reciprocal = clock.lap();
  const double real = ranks.sum(real_space(plan, n));
  const double t_real = clock.lap();
  const double self = -alpha / std::sqrt(std::numbers::pi) * squared;

  const double count = std::pow(ions, 3);
  const double constant = -2 * (real + reciprocal + self) / count;
  const double error = std::abs(constant - published);
  if (ranks.first()) {
    std::printf("Madelung constant of rock salt: %d ions on a grid of %lld x %lld x %lld\n\n%s\n",
                ions * ions * ions, static_cast<long long>(n), static_cast<long long>(n),
                static_cast<long long>(n), plan.to_string().c_str());
    std::printf("energy per ion: real space %.15f, reciprocal space %.15f, self %.15f\n", real / count,
                reciprocal / count, self / count);
    std::printf("computed   %.15f\npublished  %.15f\nerror      %.1e (allowed %.0e)\n\n", constant, published,
                error, tolerance);
    std::printf("time of each stage, slowest rank, ms\n");
    std::printf("  plan %.2f, place ions %.2f, transform %.2f, reciprocal sum %.2f, real-space sum %.2f\n",
                1e3 * t_plan, 1e3 * t_ions, 1e3 * t_fft, 1e3 * t_reciprocal, 1e3 * t_real);
    std::printf("%s\n", error <= tolerance ? "right" : "WRONG: the error exceeds what is allowed");
  }
  return error <= tolerance;
}

}  // namespace

int main(int argc, char** argv) {
  const example::Settings s = example::parse(argc, argv, {"madelung", 128, "a multiple of 8 of at least 64"});
  if (s.grid < 8 * ions || s.grid % ions != 0) example::usage(s, "this grid does not fit the ions");
  return example::run(s, run);
}
