#include "support/reference.hpp"

#include <cmath>

#include "fft/fftw/names.hpp"
#include "geometry/layout.hpp"
#include "geometry/transform.hpp"

namespace weft::test {

namespace {

using Dims = std::vector<fftw_iodim64>;

/// A whole array transformed by FFTW, on one rank and in the order that needs least thought.
template <class Real>
class Serial {
 public:
  using A = Fftw<Real>;
  Serial(const Problem& problem, bool forward)
      : shape_(problem.shape), transforms_(problem.transforms), line_(problem.line), forward_(forward) {
    for (int a : line_) transforms_[a] = Transform::none;
    half_ = output_shape(shape_, transforms_);
  }

  std::vector<Exact> run(const std::vector<Exact>& from, bool real_data) {
    const bool r2c = transforms_.contains(Transform::r2c);
    real_.clear();
    complex_.clear();
    for (const Exact& v : from) {
      if (real_data && (forward_ || !r2c)) {
        real_.push_back(static_cast<Real>(v.real()));
      } else {
        complex_.push_back(static_cast<Real>(v.real()));
        complex_.push_back(static_cast<Real>(v.imag()));
      }
    }
    if (!real_data) {
      cosines(complex_, 2, shape_);
      fourier();
      one_line();
    } else if (!r2c) {
      cosines(real_, 1, shape_);
    } else if (forward_) {
      cosines(real_, 1, shape_);
      fourier_real();
    } else {
      fourier_real();
      cosines(real_, 1, shape_);
    }
    return result(real_data && (!forward_ || !r2c));
  }

 private:
  std::vector<Exact> result(bool real) const {
    std::vector<Exact> out;
    if (real) {
      for (Real v : real_) out.emplace_back(v, 0);
    } else {
      for (std::size_t i = 0; i < complex_.size(); i += 2) out.emplace_back(complex_[i], complex_[i + 1]);
    }
    return out;
  }

  void cosines(std::vector<Real>& data, Index unit, const Shape& shape) {
    const Strides strides = dense_strides(shape, c_order(shape.size()));
    Dims dims, loops;
    std::vector<fftw_r2r_kind> kinds;
    for (int a = 0; a < shape.size(); ++a) {
      const fftw_iodim64 d{shape[a], strides[a] * unit, strides[a] * unit};
      (is_r2r(transforms_[a]) ? dims : loops).push_back(d);
      if (is_r2r(transforms_[a])) kinds.push_back(kind(transforms_[a]));
    }
    if (dims.empty()) return;
    if (unit == 2) loops.push_back({2, 1, 1});
    finish(A::r2r(static_cast<int>(dims.size()), dims.data(), static_cast<int>(loops.size()), loops.data(),
                  data.data(), data.data(), kinds.data(), FFTW_ESTIMATE));
  }

  fftw_r2r_kind kind(Transform forward) const {
    const fftw_r2r_kind kinds[] = {FFTW_REDFT00, FFTW_REDFT10, FFTW_REDFT01, FFTW_REDFT11,
                                   FFTW_RODFT00, FFTW_RODFT10, FFTW_RODFT01, FFTW_RODFT11};
    const Transform t = forward_ ? forward : opposite(forward);
    return kinds[static_cast<int>(t) - static_cast<int>(Transform::dct1)];
  }

  void fourier() {
    const Strides strides = dense_strides(shape_, c_order(shape_.size()));
    Dims dims, loops;
    for (int a = 0; a < shape_.size(); ++a)
      (transforms_[a] == Transform::c2c ? dims : loops).push_back({shape_[a], strides[a], strides[a]});
    auto* data = reinterpret_cast<typename A::Complex*>(complex_.data());
    finish(A::c2c(static_cast<int>(dims.size()), dims.data(), static_cast<int>(loops.size()), loops.data(),
                  data, data, forward_ ? FFTW_FORWARD : FFTW_BACKWARD, FFTW_ESTIMATE));
  }

  /// The transform of the line, on a copy whose first axis it is. It begins where points are counted as
  /// before forward, or as after it.
  void one_line() {
    if (line_.empty()) return;
    const Strides strides = dense_strides(shape_, c_order(shape_.size()));
    const Index na = shape_[line_[0]], nb = shape_[line_[1]], n = na * nb;
    const auto places = [&](bool points) {
      std::vector<Index> all;
      for (Index j = 0; j < n; ++j)
        all.push_back((points ? j / nb : j % na) * strides[line_[0]] +
                      (points ? j % nb : j / na) * strides[line_[1]]);
      return all;
    };
    const std::vector<Index> from = places(forward_), to = places(!forward_);
    std::vector<Real> x(static_cast<std::size_t>(2 * n));
    auto* data = reinterpret_cast<typename A::Complex*>(x.data());
    const fftw_iodim64 d{n, 1, 1};
    const auto plan =
        A::c2c(1, &d, 0, nullptr, data, data, forward_ ? FFTW_FORWARD : FFTW_BACKWARD, FFTW_ESTIMATE);
    for (Index start = 0; start < Box::whole(shape_).count(); ++start) {
      if (start / strides[line_[0]] % na != 0 || start / strides[line_[1]] % nb != 0) continue;
      const auto move = [&](const std::vector<Index>& side, bool in) {
        for (std::size_t j = 0; j < side.size(); ++j)
          for (std::size_t part = 0; part < 2; ++part) {
            Real& there = complex_[static_cast<std::size_t>(2 * (start + side[j])) + part];
            in ? x[2 * j + part] = there : there = x[2 * j + part];
          }
      };
      move(from, true);
      A::run(plan);
      move(to, false);
    }
    A::destroy(plan);
  }

  void fourier_real() {
    const Strides r = dense_strides(shape_, c_order(shape_.size()));
    const Strides c = dense_strides(half_, c_order(shape_.size()));
    Dims dims, loops;
    int real_axis = 0;
    for (int a = 0; a < shape_.size(); ++a) {
      if (transforms_[a] == Transform::r2c) {
        real_axis = a;
      } else {
        const fftw_iodim64 d{shape_[a], forward_ ? r[a] : c[a], forward_ ? c[a] : r[a]};
        (transforms_[a] == Transform::c2c ? dims : loops).push_back(d);
      }
    }
    const int a = real_axis;
    dims.push_back({shape_[a], forward_ ? r[a] : c[a], forward_ ? c[a] : r[a]});
    const int nd = static_cast<int>(dims.size()), nl = static_cast<int>(loops.size());
    (forward_ ? complex_ : real_)
        .resize(
            static_cast<std::size_t>(forward_ ? 2 * Box::whole(half_).count() : Box::whole(shape_).count()));
    auto* data = reinterpret_cast<typename A::Complex*>(complex_.data());
    finish(forward_ ? A::r2c(nd, dims.data(), nl, loops.data(), real_.data(), data, FFTW_ESTIMATE)
                    : A::c2r(nd, dims.data(), nl, loops.data(), data, real_.data(), FFTW_ESTIMATE));
  }

  static void finish(typename A::Plan plan) {
    A::run(plan);
    A::destroy(plan);
  }

  Shape shape_, half_;
  AxisVector<Transform> transforms_;
  AxisVector<int> line_;
  bool forward_;
  std::vector<Real> real_, complex_;
};

}  // namespace

double serial_fftw_error(const Problem& problem, Direction direction, const std::vector<Exact>& values,
                         const std::vector<Exact>& spectrum) {
  const bool forward = direction == Direction::forward;
  const bool real = problem.element == Element::real;
  for (const int a : problem.line)
    if (problem.transforms[a] == Transform::r2c) {  // of all modes
      Problem complex = problem;
      complex.transforms[a] = Transform::c2c;
      complex.element = Element::complex;
      return serial_fftw_error(complex, direction, values,
                               direct_sum(complex.shape, complex.transforms, values, complex.line));
    }
  const std::vector<Exact>& from = forward ? values : spectrum;
  const std::vector<Exact>& to = forward ? spectrum : values;
  const std::vector<Exact> computed = problem.precision == Precision::float64
                                          ? Serial<double>(problem, forward).run(from, real)
                                          : Serial<float>(problem, forward).run(from, real);
  const long double scale = forward ? 1 : logical_size(problem.shape, problem.transforms);
  long double error = 0, norm = 0;
  for (std::size_t i = 0; i < to.size(); ++i) {
    error += std::norm(computed[i] - scale * to[i]);
    norm += std::norm(scale * to[i]);
  }
  return norm == 0 ? 0 : static_cast<double>(std::sqrt(error / norm));
}

}  // namespace weft::test
