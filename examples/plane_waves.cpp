// The lowest energy of a particle in a periodic potential, in plane waves, as electronic structure codes
// compute it: the wave function is a sphere of modes, |k| <= K, of which every rank has some columns. The
// kinetic energy is a factor of each mode. The potential is one of each point: in one execution the modes are
// transformed to points, multiplied, and transformed back, and only the modes of the sphere are exchanged.
//
// With the potential V = 2q (cos 2x + cos 2y + cos 2z) and length 2 pi the Hamiltonian -laplacian + V is a
// sum of three of Mathieu's operators, and its lowest eigenvalue three times the characteristic value a_0(q).
// As V has no more than 2 periods along each axis, a sphere of K < n/2 - 1 has no aliasing errors.
//
//   mpirun -n 4 plane_waves [--grid N] [--comm mpi|threads:P] [--set OPTION=VALUE]...
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "ranks.hpp"

namespace {

using Complex = std::complex<double>;
using Modes = std::vector<Complex>;

constexpr double q = 1;
constexpr double published = 3 * -0.455138604107414;  // DLMF, section 28.6: a_0(1)
constexpr int most_steps = 100;

class Hamiltonian {
 public:
  Hamiltonian(const weft::Comm& comm, weft::Index n, const weft::Options& options)
      : plan_(comm, problem(n), options) {
    weft::for_each_mode(plan_, [&](const weft::AxisVector<double>& k, std::size_t) {
      squares_.push_back(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]);
    });
    for (weft::Index j = 0; j < n; ++j) {
      const double x = 2 * std::numbers::pi * static_cast<double>(j) / static_cast<double>(n);
      wave_.push_back(2 * q * std::cos(2 * x));
    }
  }

  // [problem]
  static weft::Problem problem(weft::Index n) {
    weft::Problem p;
    p.shape = {n, n, n};
    p.input = p.output = weft::Distribution::sphere(3 * static_cast<double>(n) / 8);
    p.between = weft::Between::points;
    p.forward_scale = weft::Scale::full;
    return p;
  }
  // [/problem]

  /// k^2 of this rank's modes.
  const std::vector<double>& squares() const { return squares_; }

  // [apply]
  void apply(const Modes& u, Modes& result) {
    plan_.apply(u.data(), result.data(), [&](const weft::Block& block) {
      weft::for_each_element<Complex>(block, [&](const auto& points, const weft::Shape& x) {
        points[0] *= wave(x[0]) + wave(x[1]) + wave(x[2]);
      });
    });
    for (std::size_t i = 0; i < u.size(); ++i) result[i] += squares_[i] * u[i];
  }
  // [/apply]

 private:
  double wave(weft::Index j) const { return wave_[static_cast<std::size_t>(j)]; }

  weft::Plan plan_;
  std::vector<double> squares_, wave_;
};

/// The smaller eigenvalue of a symmetric matrix {{a, b}, {b, c}}, and its normalised vector.
struct Lowest {
  double value, first, second;
};
Lowest lowest(double a, double b, double c) {
  const double value = (a + c) / 2 - std::hypot((a - c) / 2, b);
  const double norm = std::hypot(b, value - a);
  return norm == 0 ? Lowest{a, 1, 0} : Lowest{value, b / norm, (value - a) / norm};
}

/// Steps of preconditioned steepest descent: each takes the lowest energy in the plane of the wave and its
/// residual, divided by 1 + k^2. The Hamiltonian is a real matrix, as the potential is even.
double lowest_energy(Hamiltonian& h, const example::Ranks& ranks) {
  const std::vector<double>& k2 = h.squares();
  const auto product = [&](const Modes& a, const Modes& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += (std::conj(a[i]) * b[i]).real();
    return ranks.sum(sum);
  };
  const auto scale = [](Modes& a, double factor) {
    for (Complex& v : a) v *= factor;
  };
  const auto mix = [](double f, Modes& a, double g, const Modes& b) {  // a = f a + g b
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = f * a[i] + g * b[i];
  };
  Modes u, hu(k2.size()), w(k2.size()), hw(k2.size());
  for (const double k : k2) u.emplace_back(1 / (1 + k * k));
  scale(u, 1 / std::sqrt(product(u, u)));
  h.apply(u, hu);
  double energy = product(u, hu);
  for (int step = 0; step < most_steps; ++step) {
    for (std::size_t i = 0; i < w.size(); ++i) w[i] = hu[i] - energy * u[i];
    if (product(w, w) < 1e-24) break;
    for (std::size_t i = 0; i < w.size(); ++i) w[i] /= 1 + k2[i];
    mix(1, w, -product(u, w), u);
    scale(w, 1 / std::sqrt(product(w, w)));
    h.apply(w, hw);
    const Lowest best = lowest(energy, product(u, hw), product(w, hw));
    mix(best.first, u, best.second, w);
    mix(best.first, hu, best.second, hw);
    energy = best.value;
  }
  return energy;
}

bool run(const example::Ranks& ranks, const example::Settings& settings) {
  if (settings.grid < 28) example::usage(settings, "a sphere that is too small for the wave");
  Hamiltonian h(ranks.comm, settings.grid, settings.options);
  const double energy = lowest_energy(h, ranks);
  return ranks.close("plane_waves", {{"lowest energy", std::abs(energy / published - 1), 1e-12}});
}

}  // namespace

int main(int argc, char** argv) {
  return example::run(example::parse(argc, argv, {"plane_waves", 32, "at least 28"}), run);
}
