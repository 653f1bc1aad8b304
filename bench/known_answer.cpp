#include "known_answer.hpp"

#include <cmath>
#include <numbers>
#include <random>

#include "geometry/transform.hpp"
#include "support/reference.hpp"

namespace weft::bench {

KnownAnswer::KnownAnswer(const Problem& problem, bool smooth) {
  std::mt19937 random(4711);
  std::uniform_real_distribution<double> uniform(-1, 1);
  bool real = problem.element == Element::real;
  for (Transform t : problem.transforms) real = real || t == Transform::r2c;  // whether it says so or not
  const bool narrow = problem.precision == Precision::float32;
  for (int term = 0; term < 2; ++term) {
    input_.emplace_back();
    spectrum_.emplace_back();
    for (int a = 0; a < problem.shape.size(); ++a) {
      std::vector<test::Exact> values;
      const double phase = smooth ? std::numbers::pi * uniform(random) : 0;
      for (Index i = 0; i < problem.shape[a]; ++i) {
        if (smooth) {
          const double angle =
              phase + 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(problem.shape[a]);
          values.emplace_back(std::exp(std::sin(angle)), real || a > 0 ? 0 : std::cos(angle));
          continue;
        }
        // Few bits, so that products of them are exact in the precision of the problem.
        const double unit = narrow ? 64 : 4096;
        const double re = std::round(uniform(random) * unit) / unit;
        const double im = real || a > 0 ? 0 : std::round(uniform(random) * unit) / unit;
        values.emplace_back(re, im);
      }
      const AxisVector<Transform> transform{problem.transforms[a]};
      const std::vector<test::Exact> modes =
          transform[0] == Transform::none ? values : test::direct_sum({problem.shape[a]}, transform, values);
      input_.back().emplace_back(values.begin(), values.end());
      spectrum_.back().emplace_back(modes.begin(), modes.end());
    }
  }
}

std::complex<double> KnownAnswer::value(const Terms& terms, const Shape& at, Index item) {
  std::complex<double> sum = 0;
  for (const std::vector<Axis>& term : terms) {
    std::complex<double> product = 1;
    for (int a = 0; a < at.size(); ++a)
      product *= term[static_cast<std::size_t>(a)][static_cast<std::size_t>(at[a])];
    sum += product;
  }
  return sum * (item % 2 == 0 ? 1.0 : -2.0);
}

}  // namespace weft::bench
