// The mesh part of a molecular dynamics code, written for heFFTe in C++11: the long-range energy of ions by
// the particle-particle particle-mesh method. It is compiled with Weft's heffte.h, and would be with
// heFFTe's.
//
// Ions of charge +1 and -1 alternate on a cubic lattice with nearest distance 1, here 4 x 4 x 4 of them in a
// periodic cube, which are moved off the nodes of the mesh. Their charges are spread to an n x n x n mesh by
// B-splines M of order 8. With Ewald's splitting parameter alpha, the mesh gives
//   phi = inverse transform of G(k) rho(k),   G(k) = 4 pi/k^2 exp(-k^2/(4 alpha^2)) / |B(k)|^2,
// where B(k) is the transform of M at the nodes, and the energy is half the sum of q phi, interpolated by the
// same splines at the ions. With pairs that are near, and without what an ion does to itself, the energy per
// ion is -1/2 of the Madelung constant of rock salt.
//
//   mpirun -n 4 pppm_heffte [points along an axis]
#include <heffte.h>

#include <cstdio>
#include <cstdlib>

namespace {

const double pi = std::acos(-1.);
const double published = 1.747564594633182190636;
const double tolerance = 1e-6;
const double alpha = 2;
const int ions = 4;   // along an edge of the cube, whose length they also are
const int order = 8;  // of the splines

using Complex = std::complex<double>;

/// The B-spline of the given order at x; it is not zero between 0 and the order.
double spline(int p, double x) {
  if (x < 0 || x >= p) return 0;
  if (p == 1) return 1;
  return (x * spline(p - 1, x) + (p - x) * spline(p - 1, x - 1)) / (p - 1);
}

/// What an ion gives to the nodes along one axis: node `first + i`, modulo the mesh, has `part[i]`.
struct Spread {
  int first;
  double part[order];

  Spread(double x, int n) : first(static_cast<int>(std::floor(x * n / ions)) - order / 2 + 1) {
    for (int i = 0; i < order; ++i) part[i] = spline(order, order / 2. - (first + i - x * n / ions));
  }
};

/// Calls f(position in the array, weight) for the nodes of the box that an ion touches.
template <class F>
void for_nodes(const heffte::box3d<>& box, int n, const std::array<double, 3>& ion, const F& f) {
  const Spread x(ion[0], n), y(ion[1], n), z(ion[2], n);
  for (int k = 0; k < order; ++k)
    for (int j = 0; j < order; ++j)
      for (int i = 0; i < order; ++i) {
        const std::array<int, 3> node = {
            {(x.first + i + n) % n, (y.first + j + n) % n, (z.first + k + n) % n}};
        if (node[0] < box.low[0] || node[0] > box.high[0] || node[1] < box.low[1] || node[1] > box.high[1] ||
            node[2] < box.low[2] || node[2] > box.high[2])
          continue;
        const long at = node[0] - box.low[0] +
                        static_cast<long>(box.size[0]) *
                            (node[1] - box.low[1] + static_cast<long>(box.size[1]) * (node[2] - box.low[2]));
        f(static_cast<std::size_t>(at), x.part[i] * y.part[j] * z.part[k]);
      }
}

/// Calls f(charge, position) for all ions.
template <class F>
void for_ions(const F& f) {
  for (int i = 0; i < ions; ++i)
    for (int j = 0; j < ions; ++j)
      for (int k = 0; k < ions; ++k) {
        const std::array<double, 3> at = {{i + .137, j + .271, k + .314}};
        f((i + j + k) % 2 == 0 ? 1. : -1., at);
      }
}

/// G along one axis: the wave number of mode m, and |B|^2 there.
struct Mode {
  double k, squared_b;

  Mode(int m, int n) : k(2 * pi / ions * (m <= n / 2 ? m : m - n)) {
    Complex b = 0;
    for (int i = 1; i < order; ++i) b += spline(order, i) * std::polar(1., 2 * pi * m * i / n);
    squared_b = std::norm(b);
  }
};

double greens_function(const Mode& x, const Mode& y, const Mode& z) {
  const double k2 = x.k * x.k + y.k * y.k + z.k * z.k;
  if (k2 == 0) return 0;
  return 4 * pi / k2 * std::exp(-k2 / (4 * alpha * alpha)) / (x.squared_b * y.squared_b * z.squared_b);
}

/// The sum over pairs with one ion at the origin, of its own charge 1.
double near_pairs() {
  const int reach = 4;
  double sum = 0;
  for (int i = -reach; i <= reach; ++i)
    for (int j = -reach; j <= reach; ++j)
      for (int k = -reach; k <= reach; ++k) {
        const double r = std::sqrt(i * i + j * j + k * k);
        if (r > 0) sum += ((i + j + k) % 2 == 0 ? 1 : -1) * std::erfc(alpha * r) / r;
      }
  return sum;
}

bool run(int n, MPI_Comm comm) {
  const int me = heffte::mpi::comm_rank(comm), ranks = heffte::mpi::comm_size(comm);
  // [plan]
  // Bricks for the particles, pencils for the wave numbers, as a simulation has them.
  const heffte::box3d<> mesh({0, 0, 0}, {n - 1, n - 1, n - 1});
  const std::size_t mine = static_cast<std::size_t>(me);
  const heffte::box3d<> brick = heffte::split_world(mesh, heffte::proc_setup_min_surface(mesh, ranks))[mine];
  const heffte::box3d<> pencil =
      heffte::split_world(mesh, heffte::make_procgrid2d(mesh, 0, heffte::make_procgrid(ranks)))[mine];
  heffte::plan_options options = heffte::default_options<heffte::backend::fftw>();
  options.algorithm = heffte::reshape_algorithm::p2p_plined;
  const heffte::fft3d<heffte::backend::fftw> fft(brick, pencil, comm, options);
  std::vector<Complex> rho(static_cast<std::size_t>(std::max(fft.size_inbox(), fft.size_outbox())));
  std::vector<Complex> workspace(fft.size_workspace());
  // [/plan]

  for_ions([&](double charge, const std::array<double, 3>& ion) {
    for_nodes(brick, n, ion, [&](std::size_t at, double weight) { rho[at] += charge * weight; });
  });

  std::vector<Mode> modes;
  for (int m = 0; m < n; ++m) modes.push_back(Mode(m, n));
  // [solve]
  fft.forward(rho.data(), rho.data(), workspace.data());
  std::size_t at = 0;
  for (int z = pencil.low[2]; z <= pencil.high[2]; ++z)
    for (int y = pencil.low[1]; y <= pencil.high[1]; ++y)
      for (int x = pencil.low[0]; x <= pencil.high[0]; ++x, ++at)
        rho[at] *= greens_function(modes[static_cast<std::size_t>(x)], modes[static_cast<std::size_t>(y)],
                                   modes[static_cast<std::size_t>(z)]);
  fft.backward(rho.data(), rho.data(), workspace.data());
  // [/solve]

  double energy = 0;
  for_ions([&](double charge, const std::array<double, 3>& ion) {
    for_nodes(brick, n, ion,
              [&](std::size_t node, double weight) { energy += charge * weight * rho[node].real() / 2; });
  });
  MPI_Allreduce(MPI_IN_PLACE, &energy, 1, MPI_DOUBLE, MPI_SUM, comm);
  const double count = std::pow(ions, 3), volume = count;
  const double per_ion = energy / volume / count + near_pairs() / 2 - alpha / std::sqrt(pi);
  const double error = std::abs(-2 * per_ion - published);
  if (me == 0)
    std::printf(
        "pppm_heffte: %d ions, mesh of %d x %d x %d, %d ranks\nMadelung constant %.9f, error %.1e (allowed "
        "%.0e): %s\n",
        ions * ions * ions, n, n, n, ranks, -2 * per_ion, error, tolerance,
        error <= tolerance ? "right" : "WRONG");
  return error <= tolerance;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int n = argc > 1 ? std::atoi(argv[1]) : 45;
  bool right = false;
  if (n < 2 * order)
    std::fprintf(stderr, "pppm_heffte: a mesh of at least %d points along an axis\n", 2 * order);
  else
    right = run(n, MPI_COMM_WORLD);
  MPI_Finalize();
  return right ? 0 : 1;
}
