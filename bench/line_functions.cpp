#include "line_functions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace weft::bench {

LineFunctions::LineFunctions(const Problem& problem, int functions, bool smooth, std::mt19937& random)
    : a_(problem.line[0]),
      b_(problem.line[1]),
      real_(problem.transforms.contains(Transform::r2c)),
      na_(problem.shape[a_]),
      nb_(problem.shape[b_]),
      n_(na_ * nb_) {
  // What an index is multiplied by, so that the product is one of Index.
  const Index most = std::min(n_, std::numeric_limits<Index>::max() / n_);
  const auto up_to = [&](Index last) { return std::uniform_int_distribution<Index>(0, last)(random); };
  for (int i = 0; i < functions; ++i) {
    Function f;
    f.periods = smooth ? (1 + up_to(2)) % n_ : up_to(most - 1);
    if (!smooth) {
      f.count = std::min<Index>(n_, 2 + up_to(3));
      f.first = up_to(std::min(most - 1, n_ - f.count));
      const double ratio = static_cast<double>(n_) / static_cast<double>(f.count);
      f.height = std::exp2(std::round(std::log2(ratio) / 2));
    }
    functions_.push_back(f);
  }
  const auto exact_root = [&](Index p) {
    const long double angle =
        2 * std::numbers::pi_v<long double> * static_cast<long double>(p) / static_cast<long double>(n_);
    return Exact(std::cos(angle), -std::sin(angle));
  };
  const auto size = static_cast<Index>(std::ceil(std::sqrt(static_cast<double>(n_))));
  for (Index p = 0; p < size; ++p) low_.push_back(exact_root(p));
  for (Index p = 0; p < n_; p += size) high_.push_back(exact_root(p));
}

/// In long double, and not by the roots that plans multiply by.
LineFunctions::Exact LineFunctions::root(Index p) const {
  const auto place = static_cast<std::size_t>(p % n_);
  return high_[place / low_.size()] * low_[place % low_.size()];
}

std::complex<double> LineFunctions::point(int function, const Shape& at) const {
  const Function& f = functions_[static_cast<std::size_t>(function)];
  const Index j = at[a_] * nb_ + at[b_];
  const bool in_run = f.first <= j && j < f.first + f.count;
  const std::complex<double> wave(std::conj(root(f.periods * j)));
  return (real_ ? wave.real() : wave) + (in_run ? f.height : 0);
}

std::complex<double> LineFunctions::mode(int function, const Shape& at) const {
  const Function& f = functions_[static_cast<std::size_t>(function)];
  const Index k = at[a_] + at[b_] * na_;
  Exact sum = 0;
  if (f.count > 0) {
    // Dirichlet's kernel as the sum that it is: a quotient of sines loses digits near mode 0.
    const Exact step = root(k);
    for (Index i = 0; i < f.count; ++i) sum = sum * step + 1.0L;
    sum *= static_cast<long double>(f.height) * root(f.first * k);
  }
  const Index periods = f.periods % n_;
  const auto all = static_cast<long double>(n_) / (real_ ? 2 : 1);
  if (k == periods) sum += all;
  if (real_ && k == (n_ - periods) % n_) sum += all;
  return std::complex<double>(sum);
}

}  // namespace weft::bench
