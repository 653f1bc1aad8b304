#include "known_answer.hpp"

#include <cmath>
#include <numbers>
#include <random>

#include "geometry/transform.hpp"
#include "support/kept_modes.hpp"

namespace weft::bench {

namespace {

constexpr int number_of_terms = 2;

/// Whether points are real, also of a problem that does not say so.
bool is_real(const Problem& problem) {
  return problem.element == Element::real || problem.transforms.contains(Transform::r2c);
}

/// The problem of one axis alone.
Problem along(const Problem& problem, int axis) {
  Problem one;
  one.shape = {problem.shape[axis]};
  one.transforms = {problem.transforms[axis]};
  one.element = is_real(problem) ? Element::real : Element::complex;
  one.modes_nyquist = problem.modes_nyquist;
  if (const Index n = points_of(problem)[axis]; n != one.shape[0]) one.points = {n};
  if (const Index m = modes_of(problem)[axis]; m != output_shape(one.shape, one.transforms)[0])
    one.modes = {m};
  return one;
}

/// What comes back if modes go to points, and with points between to modes again. Where that leaves nothing
/// out, it is what was there, times a factor.
std::vector<test::Exact> back_along(const Problem& one, Between between,
                                    const std::vector<test::Exact>& points,
                                    const std::vector<test::Exact>& modes) {
  const bool ends_in_modes = between == Between::points;
  if ((ends_in_modes ? one.points : one.modes).empty()) {
    std::vector<test::Exact> values = ends_in_modes ? modes : points;
    for (test::Exact& v : values)
      v *= static_cast<long double>(logical_length(one.transforms[0], one.shape[0]));
    return values;
  }
  const std::vector<test::Exact> values = test::exact_points(one, modes);
  return ends_in_modes ? test::exact_modes(one, values) : values;
}

}  // namespace

KnownAnswer::KnownAnswer(const Problem& problem, bool smooth) : between_(problem.between) {
  std::mt19937 random(4711);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const bool real = is_real(problem);
  const bool narrow = problem.precision == Precision::float32;
  if (!problem.line.empty()) line_.emplace(problem, number_of_terms, smooth, random);
  for (int term = 0; term < number_of_terms; ++term) {
    for (std::vector<Term>& terms : terms_)
      terms.emplace_back(static_cast<std::size_t>(problem.shape.size()));
    for (int a = 0; a < problem.shape.size(); ++a) {
      if (problem.line.contains(a)) continue;
      std::vector<test::Exact> values;
      const double phase = smooth ? std::numbers::pi * uniform(random) : 0;
      const Index n = points_of(problem)[a];
      for (Index i = 0; i < n; ++i) {
        if (smooth) {
          const double angle = phase + 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n);
          values.emplace_back(std::exp(std::sin(angle)), real || a > 0 ? 0 : std::cos(angle));
          continue;
        }
        // Few bits, so that products of them are exact in the precision of the problem.
        const double unit = narrow ? 64 : 4096;
        const double re = std::round(uniform(random) * unit) / unit;
        const double im = real || a > 0 ? 0 : std::round(uniform(random) * unit) / unit;
        values.emplace_back(re, im);
      }
      const Problem one = along(problem, a);
      const std::vector<test::Exact> transformed = test::exact_modes(one, values);
      const auto keep = [&](Side side, const std::vector<test::Exact>& exact) {
        terms_[side].back()[static_cast<std::size_t>(a)].assign(exact.begin(), exact.end());
      };
      keep(points, values);
      keep(modes, transformed);
      keep(back, back_along(one, between_, values, transformed));
    }
  }
}

bool KnownAnswer::gives_points(Direction direction) const {
  return between_ == Between::modes || (between_ == Between::none && direction == Direction::forward);
}

std::complex<double> KnownAnswer::result(Direction direction, const Shape& at, Index item) const {
  const bool is_one_transform = between_ == Between::none && direction == Direction::forward;
  return value(is_one_transform ? modes : back, at, item);
}

std::complex<double> KnownAnswer::value(Side side, const Shape& at, Index item) const {
  std::complex<double> sum = 0;
  for (int t = 0; t < number_of_terms; ++t) {
    const Term& term = terms_[side][static_cast<std::size_t>(t)];
    std::complex<double> product = line_ ? along_line(side, t, at) : 1;
    for (int a = 0; a < at.size(); ++a)
      if (const Axis& axis = term[static_cast<std::size_t>(a)]; !axis.empty())
        product *= axis[static_cast<std::size_t>(at[a])];
    sum += product;
  }
  return sum * (item % 2 == 0 ? 1.0 : -2.0);
}

std::complex<double> KnownAnswer::along_line(Side side, int term, const Shape& at) const {
  if (side == modes) return line_->mode(term, at);
  return line_->point(term, at) * (side == back ? static_cast<double>(line_->length()) : 1);
}

}  // namespace weft::bench
