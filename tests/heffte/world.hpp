// The whole array that a distributed one is a part of, and its transform by sums.
#pragma once

#include <cmath>
#include <complex>
#include <functional>
#include <vector>

#include "heffte.h"

namespace weft::test {

using Complex = std::complex<double>;

constexpr std::size_t size_of(int n) {
  return static_cast<std::size_t>(n);
}

/// An array of three axes; axis 0 is the fastest.
struct World {
  std::array<int, 3> size;
  std::vector<Complex> values;

  std::size_t at(int i, int j, int k) const {
    return size_of(i) + size_of(size[0]) * (size_of(j) + size_of(size[1]) * size_of(k));
  }
  heffte::box3d<> box() const { return {{0, 0, 0}, {size[0] - 1, size[1] - 1, size[2] - 1}}; }
};

/// Numbers between -1 and 1 that have nothing to do with each other.
inline World some_world(const std::array<int, 3>& size, bool real, int seed = 1) {
  World w{size, std::vector<Complex>(size_of(size[0]) * size_of(size[1]) * size_of(size[2]))};
  unsigned state = 12345u * static_cast<unsigned>(seed);
  const auto next = [&] {
    state = state * 1664525u + 1013904223u;
    return static_cast<double>(state >> 8) / (1 << 23) - 1;
  };
  for (Complex& v : w.values) {
    const double re = next();
    v = {re, real ? 0 : next()};
  }
  return w;
}

/// y[k] = sum_j kernel(j, k, n) x[j] along one axis, which is then of `to` points.
inline World transformed(const World& x, std::size_t axis, int to,
                         const std::function<Complex(int j, int k, int n)>& kernel) {
  const int n = x.size[axis];
  std::vector<Complex> factors(size_of(n) * size_of(to));
  for (int k = 0; k < to; ++k)
    for (int j = 0; j < n; ++j) factors[size_of(k) * size_of(n) + size_of(j)] = kernel(j, k, n);
  World y{x.size, {}};
  y.size[axis] = to;
  y.values.resize(size_of(y.size[0]) * size_of(y.size[1]) * size_of(y.size[2]));
  std::array<int, 3> i{};
  for (i[2] = 0; i[2] < y.size[2]; ++i[2])
    for (i[1] = 0; i[1] < y.size[1]; ++i[1])
      for (i[0] = 0; i[0] < y.size[0]; ++i[0]) {
        Complex sum = 0;
        std::array<int, 3> from = i;
        for (int j = 0; j < n; ++j) {
          from[axis] = j;
          sum +=
              factors[size_of(i[axis]) * size_of(n) + size_of(j)] * x.values[x.at(from[0], from[1], from[2])];
        }
        y.values[y.at(i[0], i[1], i[2])] = sum;
      }
  return y;
}

/// The Fourier transform along all axes, of which `r2c_axis`, if there is one, keeps n/2+1 points.
inline World fourier(World x, int r2c_axis = -1) {
  for (std::size_t a = 0; a < 3; ++a)
    x = transformed(x, a, static_cast<int>(a) == r2c_axis ? x.size[a] / 2 + 1 : x.size[a],
                    [](int j, int k, int n) { return std::polar(1., -2 * M_PI * (j * k % n) / n); });
  return x;
}

template <class T>
T as(const Complex& z) {
  if constexpr (std::is_arithmetic_v<T>)
    return static_cast<T>(z.real());
  else
    return T(static_cast<typename T::value_type>(z.real()), static_cast<typename T::value_type>(z.imag()));
}

/// Calls f(position in the box's array, point of the world) for all points of a box, in its order.
template <class Index, class F>
void for_points(const heffte::box3d<Index>& box, const F& f) {
  std::size_t at = 0;
  std::array<int, 3> i{};
  const auto [fast, mid, slow] = box.order;
  const auto low = [&](int a) { return static_cast<int>(box.low[size_of(a)]); };
  const auto high = [&](int a) { return static_cast<int>(box.high[size_of(a)]); };
  if (box.empty()) return;
  for (int s = low(slow); s <= high(slow); ++s)
    for (int m = low(mid); m <= high(mid); ++m)
      for (int q = low(fast); q <= high(fast); ++q) {
        i[size_of(fast)] = q;
        i[size_of(mid)] = m;
        i[size_of(slow)] = s;
        f(at++, i);
      }
}

/// This rank's part.
template <class T, class Index>
std::vector<T> part(const World& w, const heffte::box3d<Index>& box) {
  std::vector<T> mine(static_cast<std::size_t>(box.count()));
  for_points(box, [&](std::size_t at, const std::array<int, 3>& i) {
    mine[at] = as<T>(w.values[w.at(i[0], i[1], i[2])]);
  });
  return mine;
}

/// The largest difference between an array and `factor` times a part of the world, over the root of the mean
/// square of the world; 1 if the array is too short.
template <class T, class Index>
double difference(const World& w, const heffte::box3d<Index>& box, const T* mine, double factor = 1) {
  double largest = 0, squares = 0;
  for (const Complex& v : w.values) squares += std::norm(v * factor);
  for_points(box, [&](std::size_t at, const std::array<int, 3>& i) {
    largest = std::max(largest, std::abs(Complex(mine[at]) - factor * w.values[w.at(i[0], i[1], i[2])]));
  });
  return largest / std::sqrt(squares / static_cast<double>(w.values.size()));
}

/// What rounding may make of such differences.
template <class T>
constexpr double allowed() {
  return sizeof(typename heffte::define_standard_type<T>::type) ==
                 (std::is_arithmetic_v<T> ? sizeof(float) : sizeof(std::complex<float>))
             ? 5e-6
             : 1e-13;
}

inline int rank() {
  return heffte::mpi::comm_rank(MPI_COMM_WORLD);
}
inline int ranks() {
  return heffte::mpi::comm_size(MPI_COMM_WORLD);
}

/// The box of this rank of bricks, or of pencils that are whole along an axis.
inline heffte::box3d<> brick(const heffte::box3d<>& world, const std::array<int, 3>& order = {0, 1, 2}) {
  const auto b = heffte::split_world(
      world, heffte::proc_setup_min_surface(world, ranks()))[static_cast<std::size_t>(rank())];
  return {b.low, b.high, order};
}
inline heffte::box3d<> pencil(const heffte::box3d<>& world, int axis,
                              const std::array<int, 3>& order = {0, 1, 2}) {
  const auto grid = heffte::make_procgrid2d(world, axis, heffte::make_procgrid(ranks()));
  const auto b = heffte::split_world(world, grid)[static_cast<std::size_t>(ranks() - 1 - rank())];
  return {b.low, b.high, order};
}

}  // namespace weft::test
