#include "support/random_values.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <type_traits>

#include "geometry/transform.hpp"
#include "support/between.hpp"
#include "support/kept_modes.hpp"
#include "support/mode_columns.hpp"
#include "weft/buffer.hpp"
#include "weft/plan.hpp"

namespace weft::test {

namespace {

/// Relative error of the same transform of the whole array on one rank by the library of the problem: MKL's
/// own errors, for lengths with large prime factors, are several times FFTW's.
template <class In, class Out>
std::array<double, 2> serial_errors(const RandomProblem& p) {
  Problem whole;
  whole.shape = p.problem.shape;
  whole.transforms = p.problem.transforms;
  whole.line = p.problem.line;
  whole.points = p.problem.points;
  whole.modes = p.problem.modes;
  whole.modes_nyquist = p.problem.modes_nyquist;
  whole.precision = p.problem.precision;
  whole.element = p.problem.element;
  Plan plan(Comm::self(), whole, Options().set("fft", p.options.get("fft")));
  const auto filled = []<class T>(Buffer<T>& to, const std::vector<Exact>& from) {
    for (std::size_t i = 0; i < from.size(); ++i) {
      if constexpr (std::is_floating_point_v<T>) {
        to[i] = static_cast<T>(from[i].real());
      } else {
        to[i] = T(from[i]);
      }
    }
  };
  const auto error = [](const auto& computed, const std::vector<Exact>& exact, long double scale) {
    long double difference = 0, norm = 0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      difference += std::norm(Exact(computed[i]) - scale * exact[i]);
      norm += std::norm(scale * exact[i]);
    }
    return norm == 0 ? 0.0 : static_cast<double>(std::sqrt(difference / norm));
  };
  Buffer<In> in(plan.input_count()), back(plan.input_count());
  Buffer<Out> out(plan.output_count()), spectrum(plan.output_count());
  filled(in, p.values);
  filled(spectrum, p.exact);
  plan.forward(in.data(), out.data());
  plan.backward(spectrum.data(), back.data());
  return {error(out, p.exact, 1), error(back, p.returned, static_cast<long double>(plan.scale_factor()))};
}

template <class Real>
std::array<double, 2> serial_errors_in(const RandomProblem& p) {
  using Complex = std::complex<Real>;
  if (p.problem.element == Element::complex) return serial_errors<Complex, Complex>(p);
  return p.problem.transforms.contains(Transform::r2c) ? serial_errors<Real, Complex>(p)
                                                       : serial_errors<Real, Real>(p);
}

/// With MKL, its own serial error takes the place of FFTW's where that is larger, unless it is so large that
/// it cannot be rounding.
void allow_for_library(RandomProblem& p) {
  if (p.options.get("fft") != "mkl") return;
  const std::array<double, 2> serial =
      p.problem.precision == Precision::float64 ? serial_errors_in<double>(p) : serial_errors_in<float>(p);
  const double rounding = 32 * error_bound(p.problem, 0);
  for (std::size_t d = 0; d < 2; ++d) p.bounds[d] = std::max(p.bounds[d], std::min(2 * serial[d], rounding));
}

/// Both directions do the same; `values` are points so far.
void draw_values_between(RandomProblem& p) {
  if (p.problem.between == Between::points) {
    p.values = exact_modes(p.problem, p.values);
    const auto size =
        std::sqrt(static_cast<long double>(logical_size(p.problem.shape, p.problem.transforms)));
    for (Exact& v : p.values) v /= size;
  }
  if (!p.columns.empty()) p.values = kept(p.problem, p.columns, p.values);
  p.exact = exact_between(p.problem, p.values);
  if (!p.columns.empty()) p.exact = kept(p.problem, p.columns, p.exact);
  p.returned = p.exact;
  // Two transforms, and factors of up to 2 between them.
  p.bounds[0] = p.bounds[1] = 4 * error_bound(p.problem, 0);
}

}  // namespace

void draw_values(RandomProblem& p, std::mt19937_64& engine) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  const bool real = p.problem.element == Element::real;
  const auto rounded = [&](double v) {
    return p.problem.precision == Precision::float64 ? static_cast<long double>(v)
                                                     : static_cast<long double>(static_cast<float>(v));
  };
  const Index n = Box::whole(points_of(p.problem)).count();
  for (Index i = 0; i < n; ++i) {
    const double re = uniform(engine), im = uniform(engine);
    p.values.emplace_back(rounded(re), real ? 0 : rounded(im));
  }
  if (p.problem.between != Between::none) return draw_values_between(p);
  p.exact = exact_modes(p.problem, p.values);
  if (!p.columns.empty()) p.exact = kept(p.problem, p.columns, p.exact);
  p.returned = p.values;
  const bool longer = !p.problem.modes.empty() || !p.problem.points.empty() || !p.columns.empty();
  if (longer) {
    const auto size = static_cast<long double>(logical_size(p.problem.shape, p.problem.transforms));
    p.returned = exact_points(p.problem, p.exact);
    for (Exact& v : p.returned) v /= size;
  }
  for (const Direction d : {Direction::forward, Direction::backward})
    p.bounds[static_cast<std::size_t>(d)] =
        error_bound(p.problem, longer ? 0 : serial_fftw_error(p.problem, d, p.values, p.exact));
  if (p.columns.empty()) allow_for_library(p);
}

}  // namespace weft::test
