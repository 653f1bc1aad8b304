#include "support/reference.hpp"

#include <fftw3.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "geometry/layout.hpp"
#include "schedule/planner.hpp"

namespace weft::test {

std::vector<Exact> direct_sum(const Shape& shape, const AxisVector<Transform>& transforms,
                              const std::vector<Exact>& values) {
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
      std::vector<Exact> w(static_cast<std::size_t>(n));
      for (Index i = 0; i < n; ++i) {
        const long double angle =
            -2 * std::numbers::pi_v<long double> * static_cast<long double>(i) / static_cast<long double>(n);
        w[static_cast<std::size_t>(i)] = {std::cos(angle), std::sin(angle)};
      }
      std::vector<Exact> next(static_cast<std::size_t>(outer * kept * inner));
      for (Index o = 0; o < outer; ++o)
        for (Index k = 0; k < kept; ++k)
          for (Index j = 0; j < n; ++j) {
            const Exact factor = w[static_cast<std::size_t>(j * k % n)];
            const Exact* from = &data[static_cast<std::size_t>((o * n + j) * inner)];
            Exact* to = &next[static_cast<std::size_t>((o * kept + k) * inner)];
            for (Index i = 0; i < inner; ++i) {
              to[i] = {to[i].real() + from[i].real() * factor.real() - from[i].imag() * factor.imag(),
                       to[i].imag() + from[i].real() * factor.imag() + from[i].imag() * factor.real()};
            }
          }
      data = std::move(next);
      now[a] = kept;
    }
  return data;
}

namespace {

template <class Real>
double serial_error(const Shape& shape, const AxisVector<Transform>& transforms,
                    const std::vector<Exact>& values, const std::vector<Exact>& exact) {
  const Shape half = output_shape(shape, transforms);
  const Strides in_strides = dense_strides(shape, c_order(shape.size()));
  const Strides out_strides = dense_strides(half, c_order(shape.size()));
  std::vector<fftw_iodim64> dims, loops;
  int real_axis = -1;
  for (int a = 0; a < shape.size(); ++a) {
    const fftw_iodim64 d{shape[a], in_strides[a], out_strides[a]};
    if (transforms[a] == Transform::r2c) {
      real_axis = a;
    } else {
      (transforms[a] == Transform::none ? loops : dims).push_back(d);
    }
  }
  const auto nl = static_cast<int>(loops.size());
  std::vector<std::complex<Real>> out(exact.size()), in;
  if (real_axis >= 0) {
    dims.push_back({shape[real_axis], in_strides[real_axis], out_strides[real_axis]});
    std::vector<Real> real_in;
    for (const Exact& v : values) real_in.push_back(static_cast<Real>(v.real()));
    const auto nd = static_cast<int>(dims.size());
    if constexpr (sizeof(Real) == 8) {
      fftw_plan p = fftw_plan_guru64_dft_r2c(nd, dims.data(), nl, loops.data(), real_in.data(),
                                             reinterpret_cast<fftw_complex*>(out.data()), FFTW_ESTIMATE);
      fftw_execute(p);
      fftw_destroy_plan(p);
    } else {
      fftwf_plan p = fftwf_plan_guru64_dft_r2c(nd, dims.data(), nl, loops.data(), real_in.data(),
                                               reinterpret_cast<fftwf_complex*>(out.data()), FFTW_ESTIMATE);
      fftwf_execute(p);
      fftwf_destroy_plan(p);
    }
  } else {
    const auto nd = static_cast<int>(dims.size());
    for (const Exact& v : values) in.emplace_back(static_cast<Real>(v.real()), static_cast<Real>(v.imag()));
    if constexpr (sizeof(Real) == 8) {
      fftw_plan p =
          fftw_plan_guru64_dft(nd, dims.data(), nl, loops.data(), reinterpret_cast<fftw_complex*>(in.data()),
                               reinterpret_cast<fftw_complex*>(out.data()), FFTW_FORWARD, FFTW_ESTIMATE);
      fftw_execute(p);
      fftw_destroy_plan(p);
    } else {
      fftwf_plan p = fftwf_plan_guru64_dft(
          nd, dims.data(), nl, loops.data(), reinterpret_cast<fftwf_complex*>(in.data()),
          reinterpret_cast<fftwf_complex*>(out.data()), FFTW_FORWARD, FFTW_ESTIMATE);
      fftwf_execute(p);
      fftwf_destroy_plan(p);
    }
  }
  long double error = 0, norm = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    error += std::norm(Exact(out[i]) - exact[i]);
    norm += std::norm(exact[i]);
  }
  return norm == 0 ? 0 : static_cast<double>(std::sqrt(error / norm));
}

}  // namespace

double serial_fftw_error(const Shape& shape, const AxisVector<Transform>& transforms, Precision precision,
                         const std::vector<Exact>& values, const std::vector<Exact>& exact) {
  return precision == Precision::float64 ? serial_error<double>(shape, transforms, values, exact)
                                         : serial_error<float>(shape, transforms, values, exact);
}

double error_bound(const Shape& shape, const AxisVector<Transform>& transforms, Precision precision,
                   double serial) {
  double n = 1;
  for (int a = 0; a < shape.size(); ++a)
    if (transforms[a] != Transform::none) n *= static_cast<double>(shape[a]);
  const double eps = precision == Precision::float64
                         ? std::numeric_limits<double>::epsilon()
                         : static_cast<double>(std::numeric_limits<float>::epsilon());
  return std::max(2 * serial, 2 * eps * std::sqrt(1 + std::log2(n)));
}

}  // namespace weft::test
