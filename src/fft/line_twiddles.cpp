#include "fft/line_twiddles.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/arithmetic.hpp"
#include "fft/loops.hpp"

namespace weft {

UnitRoots::UnitRoots(Index n) {
  while ((Index{1} << (2 * bits_)) < n) ++bits_;
  const Index size = Index{1} << bits_;
  const auto root = [&](Index p) {
    const long double angle =
        2 * std::numbers::pi_v<long double> * static_cast<long double>(p) / static_cast<long double>(n);
    return std::complex<double>(static_cast<double>(std::cos(angle)), static_cast<double>(-std::sin(angle)));
  };
  for (Index p = 0; p < std::min(size, n); ++p) low_.push_back(root(p));
  for (Index p = 0; p < n; p += size) high_.push_back(root(p));
}

LineTwiddles::LineTwiddles(std::shared_ptr<const UnitRoots> roots, std::array<int, 2> line,
                           Direction direction, Precision precision, const Box& box, const Strides& strides)
    : roots_(std::move(roots)), precision_(precision), sign_(direction == Direction::forward ? 1 : -1) {
  int inner = line[0], outer = line[1];
  if (box.extent(inner) == 1 || (box.extent(outer) > 1 && strides[outer] < strides[inner]))
    std::swap(inner, outer);
  inner_first_ = box.lo[inner];
  inner_n_ = box.extent(inner);
  inner_stride_ = strides[inner];
  outer_first_ = box.lo[outer];
  outer_n_ = box.extent(outer);
  outer_stride_ = strides[outer];
  for (int a = 0; a < box.ndim(); ++a)
    if (a != inner && a != outer) others_.push_back({box.extent(a), strides[a], strides[a]});
  others_ = merge_loops(others_);
  std::reverse(others_.begin(), others_.end());
}

void LineTwiddles::run(std::byte* data, int part, int parts) const {
  if (precision_ == Precision::float64) {
    run_with(reinterpret_cast<double*>(data), part, parts);
  } else {
    run_with(reinterpret_cast<float*>(data), part, parts);
  }
}

template <class Real>
void LineTwiddles::run_with(Real* data, int part, int parts) const {
  const Index blocks = divided_up(inner_n_, block), all = outer_n_ * blocks;
  std::array<double, block> step_re{}, step_im{};
  std::array<Real, block> re{}, im{};
  Index stepped = -1;
  for (Index unit = all * part / parts; unit < all * (part + 1) / parts; ++unit) {
    const Index row = unit / blocks, first = unit % blocks * block, count = std::min(block, inner_n_ - first);
    const Index v = outer_first_ + row;
    if (row != stepped) {
      for (Index j = 0; j < std::min(block, inner_n_); ++j) {
        const std::complex<double> root = (*roots_)(v * j);
        at(step_re, j) = root.real();
        at(step_im, j) = sign_ * root.imag();
      }
      stepped = row;
    }
    const std::complex<double> base = (*roots_)(v * (inner_first_ + first));
    const double base_re = base.real(), base_im = sign_ * base.imag();
    for (Index j = 0; j < count; ++j) {
      at(re, j) = static_cast<Real>(base_re * at(step_re, j) - base_im * at(step_im, j));
      at(im, j) = static_cast<Real>(base_re * at(step_im, j) + base_im * at(step_re, j));
    }
    const auto multiply = [&](Real* x, Index stride) {
      for (Index j = 0; j < count; ++j) {
        Real* const z = x + 2 * j * stride;
        const Real a = z[0], b = z[1];
        z[0] = a * at(re, j) - b * at(im, j);
        z[1] = a * at(im, j) + b * at(re, j);
      }
    };
    const Index start = row * outer_stride_ + first * inner_stride_;
    for_each_index(others_, Index{0}, start, [&](Index, Index position) {
      // Apart, as the compiler vectorizes it only where it knows the stride.
      inner_stride_ == 1 ? multiply(data + 2 * position, 1) : multiply(data + 2 * position, inner_stride_);
    });
  }
}

}  // namespace weft
