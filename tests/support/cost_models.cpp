#include "support/cost_models.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>

namespace weft::test {
namespace {

struct Machine {
  const char* name;
  double n, ranks;                  // points per axis
  double fft, latency, byte, test;  // seconds per point and stage, message, byte, MPI_Test
  double cache;                     // points
  double loop;                      // overhead of thin sub-tiles
  double contention;                // how much another tile in flight slows each
  double ripple = 0;                // what nothing explains
};

constexpr Machine machines[] = {
    {"balanced", 256, 16, 2e-9, 2e-5, 1.5e-9, 2e-6, 16384, 4, 0.05},
    {"slow network", 256, 16, 2e-9, 2e-5, 6e-9, 2e-6, 16384, 4, 0.05},
    {"fast network", 256, 16, 2e-9, 1e-5, 3e-10, 2e-6, 16384, 4, 0.05},
    {"high latency", 256, 16, 2e-9, 1e-4, 1.5e-9, 2e-6, 16384, 4, 0.1},
    {"costly tests", 256, 16, 2e-9, 2e-5, 1.5e-9, 1e-5, 16384, 4, 0.05},
    {"small cache", 256, 16, 2e-9, 2e-5, 1.5e-9, 2e-6, 1024, 1, 0.05},
    {"large cache", 256, 16, 2e-9, 2e-5, 1.5e-9, 2e-6, 262144, 12, 0.05},
    {"many ranks", 1024, 128, 2e-9, 1e-5, 1.5e-9, 1e-6, 16384, 4, 0.03},
    {"few ranks", 128, 4, 2e-9, 1e-5, 1e-9, 2e-6, 4096, 4, 0.1},
    {"ripple", 256, 16, 2e-9, 2e-5, 1.5e-9, 2e-6, 16384, 4, 0.05, 0.08},
    {"no gain", 256, 16, 2e-9, 1e-4, 1e-10, 1e-5, 16384, 4, 0.5},
};

constexpr double infinity = std::numeric_limits<double>::infinity();

/// In 0..1, a function of the point.
double scattered(const Point& point, std::uint64_t seed) {
  std::uint64_t h = seed * 0x9E3779B97F4A7C15U + 1;
  for (const Index v : point) {
    h ^= static_cast<std::uint64_t>(v) + 0x9E3779B97F4A7C15U + (h << 6) + (h >> 2);
    h *= 0xBF58476D1CE4E5B9U;
    h ^= h >> 29;
  }
  h *= 0x94D049BB133111EBU;
  h ^= h >> 31;
  return static_cast<double>(h >> 11) * 0x1p-53;
}

bool thicker_than_tile(const Point& x) {
  return x[3] > x[0] || x[5] > x[0];
}

double overlap_cost(const Machine& m, const Point& x) {
  std::array<double, 10> v{};
  std::copy(x.begin(), x.end(), v.begin());
  const double tile = v[0], window = v[1], tiles = std::ceil(m.n / tile);
  if (thicker_than_tile(x) || window > tiles) return infinity;
  const double points = m.n * m.n / m.ranks * tile;
  const auto sub_tile = [&](double a, double b) {
    const double over = a * b * m.n / m.cache;
    return 1 + m.loop / (a * b) + 4 * over / (1 + over);
  };
  const double pack = sub_tile(v[2], v[3]), unpack = sub_tile(v[4], v[5]);
  const double fft = 0.2 * points * m.fft * std::log2(m.n), copy = 0.8 * points * m.fft;
  const std::array<double, 4> phases{fft * (0.8 + 0.2 * pack), copy * pack, copy * unpack,
                                     fft * (0.8 + 0.2 * unpack)};
  double work = 0, hidden = 0, tests = 0;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    const double calls = v[6 + i];
    work += phases[i];
    hidden += phases[i] * calls / (calls + 0.5 * m.ranks / window);
    tests += calls * m.test * 0.5 * (1 + window);
  }
  hidden *= tiles > 1 ? std::min(window, tiles - 1) / window * std::min(1.0, 0.6 + 0.2 * window) : 0;
  const double transfer =
      m.latency * (m.ranks - 1) + 16 * points * m.byte * (1 + m.contention * (window - 1));
  const double wait = std::hypot(std::max(0.0, transfer - hidden), 0.1 * transfer);
  return (tiles * (work + tests + wait) + transfer) * (1 + m.ripple * (2 * scattered(x, 77) - 1));
}

std::vector<Dimension> overlap_dimensions(const Machine& m) {
  const auto n = static_cast<Index>(m.n), ranks = static_cast<Index>(m.ranks);
  const std::vector<Index> thickness = log_values(1, n), share = log_values(1, n / ranks),
                           tests = log_values(0, 8 * ranks);
  return {{"T", thickness},  {"W", all_values(1, 4)}, {"Px", share}, {"Pz", thickness}, {"Uy", share},
          {"Uz", thickness}, {"Fy", tests},           {"Fp", tests}, {"Fu", tests},     {"Fx", tests}};
}

Point default_point(const Machine& m) {
  const auto n = static_cast<Index>(m.n), ranks = static_cast<Index>(m.ranks);
  const Index tile = std::max<Index>(1, n / 16), tests = ranks / 2;
  const Index wide = std::clamp<Index>(8192 / n, 1, n / ranks),
              thick = std::clamp<Index>(8192 / n / wide, 1, tile);
  return {tile, 2, wide, thick, wide, thick, tests, tests, tests, tests};
}

}  // namespace

std::vector<CostModel> overlap_models() {
  std::vector<CostModel> models;
  for (const Machine& m : machines)
    models.push_back({m.name, overlap_dimensions(m), default_point(m),
                      [&m](const Point& x) { return overlap_cost(m, x); }});
  return models;
}

CostModel shape_model(int kind, std::uint64_t seed) {
  const std::vector<Dimension> dimensions = overlap_dimensions(machines[0]);
  std::mt19937_64 random(1000 * seed + static_cast<std::uint64_t>(kind));
  const auto uniform = [&] { return static_cast<double>(random() % 1000) / 1000; };
  std::vector<double> optimum, weight;
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    optimum.push_back(0.1 + 0.8 * uniform());
    weight.push_back(0.5 * std::pow(4.0, uniform()));
  }
  const auto cost = [=](const Point& x) {
    if (thicker_than_tile(x)) return infinity;
    std::vector<double> u;
    for (std::size_t d = 0; d < x.size(); ++d) {
      const std::vector<Index>& values = dimensions[d].values;
      const auto at = std::lower_bound(values.begin(), values.end(), x[d]) - values.begin();
      u.push_back(weight[d] *
                  (static_cast<double>(at) / static_cast<double>(values.size() - 1) - optimum[d]));
    }
    double sum = 0, most = 0;
    for (std::size_t d = 0; d < u.size(); ++d) {
      const double coupled = u[d] + 0.6 * u[(d + 1) % u.size()];
      most = std::max(most, std::abs(u[d]));
      sum += kind == 0   ? u[d] * u[d]
             : kind == 1 ? coupled * coupled
             : kind == 2 ? (d < 3 ? 2 : 0.1) * std::abs(u[d])
                         : 0.2 * std::abs(u[d]);
    }
    return 1 + sum + (kind == 3 ? 2 * most : 0);
  };
  return {"shape " + std::to_string(kind) + "." + std::to_string(seed), dimensions,
          default_point(machines[0]), cost};
}

Score noisy(Score cost, double strength, std::uint64_t seed) {
  return [cost = std::move(cost), strength, seed](const Point& x) {
    double normal = -6;  // the sum of twelve uniform numbers has variance one
    for (std::uint64_t i = 0; i < 12; ++i) normal += scattered(x, 16 * seed + i);
    return cost(x) * std::exp(strength * normal);
  };
}

}  // namespace weft::test
