#include <cmath>
#include <limits>
#include <numbers>

#include "geometry/transform.hpp"
#include "support/reference.hpp"

namespace weft::test {

namespace {

/// A whole turn of the cosine and the sine.
class Waves {
 public:
  /// At multiples of pi / den.
  explicit Waves(Index den) : values_(static_cast<std::size_t>(2 * den)) {
    for (Index num = 0; num < 2 * den; ++num) {
      const long double angle =
          std::numbers::pi_v<long double> * static_cast<long double>(num) / static_cast<long double>(den);
      values_[static_cast<std::size_t>(num)] = {std::cos(angle), std::sin(angle)};
    }
  }

  /// cos and sin of pi num / den.
  [[nodiscard]] const Exact& operator()(Index num) const {
    return values_[static_cast<std::size_t>(num) % values_.size()];
  }

 private:
  std::vector<Exact> values_;
};

/// What the angles of a transform of n points are fractions of pi of.
Index denominator(Transform t, Index n) {
  switch (t) {
    case Transform::dct1:
      return n - 1;
    case Transform::dst1:
      return n + 1;
    case Transform::dct2:
    case Transform::dct3:
    case Transform::dst2:
    case Transform::dst3:
      return 2 * n;
    case Transform::dct4:
    case Transform::dst4:
      return 4 * n;
    default:
      return n;
  }
}

/// What point j contributes to point k. Waves are of the transform's denominator.
Exact factor(Transform t, Index n, Index j, Index k, const Waves& waves) {
  switch (t) {
    case Transform::dct1:
      return waves(j * k).real() * (j == 0 || j == n - 1 ? 1 : 2);
    case Transform::dct2:
      return 2 * waves((2 * j + 1) * k).real();
    case Transform::dct3:
      return waves(j * (2 * k + 1)).real() * (j == 0 ? 1 : 2);
    case Transform::dct4:
      return 2 * waves((2 * j + 1) * (2 * k + 1)).real();
    case Transform::dst1:
      return 2 * waves((j + 1) * (k + 1)).imag();
    case Transform::dst2:
      return 2 * waves((2 * j + 1) * (k + 1)).imag();
    case Transform::dst3:
      return waves((j + 1) * (2 * k + 1)).imag() * (j == n - 1 ? 1 : 2);
    case Transform::dst4:
      return 2 * waves((2 * j + 1) * (2 * k + 1)).imag();
    default:
      return std::conj(waves(2 * j * k));
  }
}

/// Of two axes that are one line, the modes of which run through the axes the other way round.
std::vector<Exact> sum_along_line(const Shape& shape, const AxisVector<int>& line,
                                  const std::vector<Exact>& values) {
  const Index na = shape[line[0]], nb = shape[line[1]], n = na * nb;
  Strides strides(shape.size(), 1);
  for (int a = shape.size() - 2; a >= 0; --a) strides[a] = strides[a + 1] * shape[a + 1];
  std::vector<Exact> x(static_cast<std::size_t>(n)), result(values.size());
  const Waves waves(n);
  const auto place = [&](Index a, Index b) {
    return static_cast<std::size_t>(a * strides[line[0]] + b * strides[line[1]]);
  };
  for (std::size_t start = 0; start < values.size(); ++start) {
    const auto index = [&](int axis) { return static_cast<Index>(start) / strides[axis] % shape[axis]; };
    if (index(line[0]) != 0 || index(line[1]) != 0) continue;
    for (Index j = 0; j < n; ++j) x[static_cast<std::size_t>(j)] = values[start + place(j / nb, j % nb)];
    for (Index k = 0; k < n; ++k) {
      Exact sum = 0;
      for (Index j = 0; j < n; ++j)
        sum += x[static_cast<std::size_t>(j)] * factor(Transform::c2c, n, j, k, waves);
      result[start + place(k % na, k / na)] = sum;
    }
  }
  return result;
}

/// The first elements along an axis.
std::vector<Exact> first_of(const Shape& shape, int axis, Index n, const std::vector<Exact>& values) {
  Index inner = 1;
  for (int a = axis + 1; a < shape.size(); ++a) inner *= shape[a];
  std::vector<Exact> kept;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (static_cast<Index>(i) / inner % shape[axis] < n) kept.push_back(values[i]);
  return kept;
}

}  // namespace

std::vector<Exact> direct_sum(const Shape& shape, const AxisVector<Transform>& given,
                              const std::vector<Exact>& values, const AxisVector<int>& line) {
  AxisVector<Transform> transforms = given;
  for (int a : line) transforms[a] = Transform::none;
  std::vector<Exact> data = values;
  Shape now = shape;
  for (int pass = 0; pass < 2; ++pass)
    for (int a = 0; a < shape.size(); ++a) {
      const bool real = transforms[a] == Transform::r2c;
      if (transforms[a] == Transform::none || (pass == 0) != real) continue;  // r2c first
      const Index n = shape[a], kept = real ? n / 2 + 1 : n;
      Index inner = 1, outer = 1;
      for (int b = 0; b < a; ++b) outer *= now[b];
      for (int b = a + 1; b < shape.size(); ++b) inner *= now[b];
      const Waves waves(denominator(transforms[a], n));
      std::vector<Exact> next(static_cast<std::size_t>(outer * kept * inner));
      for (Index k = 0; k < kept; ++k)
        for (Index j = 0; j < n; ++j) {
          const Exact f = factor(transforms[a], n, j, k, waves);
          for (Index o = 0; o < outer; ++o) {
            const Exact* from = &data[static_cast<std::size_t>((o * n + j) * inner)];
            Exact* to = &next[static_cast<std::size_t>((o * kept + k) * inner)];
            for (Index i = 0; i < inner; ++i)
              to[i] = {to[i].real() + from[i].real() * f.real() - from[i].imag() * f.imag(),
                       to[i].imag() + from[i].real() * f.imag() + from[i].imag() * f.real()};
          }
        }
      data = std::move(next);
      now[a] = kept;
    }
  if (line.empty()) return data;
  data = sum_along_line(now, line, data);
  for (const int a : line)
    if (given[a] == Transform::r2c) data = first_of(now, a, shape[a] / 2 + 1, data);
  return data;
}

double error_bound(const Problem& problem, double serial) {
  const double n = logical_size(problem.shape, problem.transforms);
  const double eps = problem.precision == Precision::float64
                         ? std::numeric_limits<double>::epsilon()
                         : static_cast<double>(std::numeric_limits<float>::epsilon());
  return std::max(2 * serial, 2 * eps * std::sqrt(1 + std::log2(n)));
}

}  // namespace weft::test
