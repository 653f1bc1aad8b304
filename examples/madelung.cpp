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
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "weft/weft.hpp"
#ifdef WEFT_WITH_MPI
#include "weft/mpi.hpp"
#endif

namespace {

constexpr double published = 1.747564594633182190636;
constexpr double tolerance = 1e-10;
constexpr int ions = 8;  // per edge of the periodic cube, whose length they also are
constexpr double alpha =
    2.5;  // both sums converge to rounding within a few neighbours and a fraction of the grid

struct Settings {
  weft::Index grid = 128;
  std::string comm = "mpi";
  weft::Options options;
};

/// The sum of a number over all ranks.
using Sum = std::function<double(double)>;

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

/// Calls f(i, j, k, position in memory) for every point of a box in its C order.
template <class F>
void for_points(const weft::Box& box, const F& f) {
  std::size_t position = 0;
  for (weft::Index i = box.lo[0]; i < box.hi[0]; ++i)
    for (weft::Index j = box.lo[1]; j < box.hi[1]; ++j)
      for (weft::Index k = box.lo[2]; k < box.hi[2]; ++k) f(i, j, k, position++);
}

/// Puts the ions of this rank's box on the grid; returns the sum of their squared charges.
double place_ions(const weft::Box& box, weft::Index n, weft::Buffer<double>& charge) {
  const weft::Index step = n / ions;
  double squared = 0;
  for_points(box, [&](weft::Index i, weft::Index j, weft::Index k, std::size_t at) {
    const bool ion = i % step == 0 && j % step == 0 && k % step == 0;
    charge[at] = !ion ? 0 : (i / step + j / step + k / step) % 2 == 0 ? 1 : -1;
    squared += charge[at] * charge[at];
  });
  return squared;
}

/// Half the sum over this rank's ions and all their neighbours within a cutoff, where erfc(alpha r) is below
/// rounding.
double real_space(const weft::Box& box, weft::Index n) {
  const weft::Index step = n / ions;
  constexpr int reach = 3;
  double energy = 0;
  for_points(box, [&](weft::Index i, weft::Index j, weft::Index k, std::size_t) {
    if (i % step != 0 || j % step != 0 || k % step != 0) return;
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
double reciprocal_space(const weft::Box& box, weft::Index n, const weft::Buffer<std::complex<double>>& s) {
  const double unit = 2 * std::numbers::pi / ions, volume = std::pow(ions, 3);
  const auto signed_k = [&](weft::Index m) { return unit * static_cast<double>(m <= n / 2 ? m : m - n); };
  double energy = 0;
  for_points(box, [&](weft::Index i, weft::Index j, weft::Index k, std::size_t at) {
    const double k2 = std::pow(signed_k(i), 2) + std::pow(signed_k(j), 2) + std::pow(signed_k(k), 2);
    if (k2 == 0) return;
    const double times = k == 0 || 2 * k == n ? 1 : 2;
    energy += times * 4 * std::numbers::pi / k2 * std::exp(-k2 / (4 * alpha * alpha)) * std::norm(s[at]) /
              (2 * volume);
  });
  return energy;
}

bool run(const weft::Comm& comm, const Settings& settings, const Sum& sum) {
  const weft::Index n = settings.grid;
  const bool prints = comm.rank() == 0;
  weft::Problem problem;
  problem.shape = {n, n, n};
  problem.transforms = {weft::Transform::c2c, weft::Transform::c2c, weft::Transform::r2c};
  problem.input = weft::Distribution::brick();
  problem.output = weft::Distribution::fastest().with_order({0, 1, 2});  // any boxes, but in C order

  Clock clock(comm);
  weft::Plan plan(comm, problem, settings.options);
  const double t_plan = clock.lap();
  weft::Buffer<double> charge(plan.input_count());
  weft::Buffer<std::complex<double>> spectrum(plan.output_count());
  const double squared = sum(place_ions(plan.input_box(), n, charge));
  const double t_ions = clock.lap();
  plan.forward(charge.data(), spectrum.data());
  const double t_fft = clock.lap();
  const double reciprocal = sum(reciprocal_space(plan.output_box(), n, spectrum));
  const double t_reciprocal = clock.lap();
  const double real = sum(real_space(plan.input_box(), n));
  const double t_real = clock.lap();
  const double self = -alpha / std::sqrt(std::numbers::pi) * squared;

  const double count = std::pow(ions, 3);
  const double constant = -2 * (real + reciprocal + self) / count;
  const double error = std::abs(constant - published);
  if (prints) {
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

[[noreturn]] void usage(const char* problem) {
  std::fprintf(
      stderr,
      "madelung: %s\nusage: madelung [--grid N] [--comm mpi|threads:P] [--set OPTION=VALUE]...\n"
      "  --grid N      grid points per edge, a multiple of %d of at least %d (default 128)\n"
      "  --comm C      mpi (default where built with MPI), or threads:P for P threads of this process\n"
      "  --set O=V     an option of the plan, e.g. --set pipeline=windowed\n",
      problem, ions, 8 * ions);
  std::exit(2);
}

Settings parse(int argc, char** argv) {
  Settings s;
#ifndef WEFT_WITH_MPI
  s.comm = "threads:4";
#endif
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name != "--grid" && name != "--comm" && name != "--set") usage(("unknown argument " + name).c_str());
    if (++i == argc) usage((name + " needs a value").c_str());
    const std::string value = argv[i];
    if (name == "--grid") {
      s.grid = std::atoll(value.c_str());
    } else if (name == "--comm") {
      s.comm = value;
    } else {
      const std::size_t equals = value.find('=');
      if (equals == std::string::npos) usage("--set takes OPTION=VALUE");
      s.options.set(value.substr(0, equals), value.substr(equals + 1));
    }
  }
  if (s.grid < 8 * ions || s.grid % ions != 0 || s.grid > 4096)
    usage(("--grid " + std::to_string(s.grid) + " does not fit the ions: take a multiple of 8 of 64 to 4096")
              .c_str());
  return s;
}

bool run_on_threads(const Settings& s, int ranks) {
  weft::ThreadTeam team(ranks);
  std::vector<double> parts(static_cast<std::size_t>(ranks));
  std::vector<char> good(static_cast<std::size_t>(ranks));
  team.run([&](const weft::Comm& comm) {
    const auto rank = static_cast<std::size_t>(comm.rank());
    const Sum sum = [&](double mine) {
      parts[rank] = mine;
      comm.barrier();
      double total = 0;
      for (double p : parts) total += p;
      comm.barrier();
      return total;
    };
    good[rank] = run(comm, s, sum) ? 1 : 0;
  });
  return good[0] != 0;
}

#ifdef WEFT_WITH_MPI
bool run_on_mpi(const Settings& s, int* argc, char*** argv) {
  MPI_Init(argc, argv);
  bool good = false;
  try {
    const Sum sum = [](double mine) {
      double total = 0;
      MPI_Allreduce(&mine, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      return total;
    };
    good = run(weft::Comm::mpi(MPI_COMM_WORLD), s, sum);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return good;
}
#endif

}  // namespace

int main(int argc, char** argv) {
  try {
    const Settings s = parse(argc, argv);
    if (s.comm.starts_with("threads:")) return run_on_threads(s, std::atoi(s.comm.c_str() + 8)) ? 0 : 1;
#ifdef WEFT_WITH_MPI
    if (s.comm == "mpi") return run_on_mpi(s, &argc, &argv) ? 0 : 1;
#endif
    usage(("unknown --comm " + s.comm).c_str());
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
