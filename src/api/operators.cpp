#include "weft/operators.hpp"

#include <cmath>
#include <complex>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "geometry/transform.hpp"
#include "weft/modes.hpp"

namespace weft {

class ModeOperator::Work {
 public:
  virtual ~Work() = default;
  virtual void run(const Block& block) const = 0;
};

void ModeOperator::operator()(const Block& block) const {
  work_->run(block);
}

namespace {

/// The angular wavenumbers of a problem, by global index along each axis.
class Waves {
 public:
  Waves(const Problem& problem, const AxisVector<double>& lengths, const char* operation, Nyquist nyquist)
      : operation_(operation), ndim_(problem.shape.size()) {
    if (problem.between != Between::modes)
      throw Error(operation, "a problem without an operator on modes", "Problem::between modes");
    bool good = lengths.empty() || lengths.size() == ndim_;
    for (const double length : lengths) good = good && std::isfinite(length) && length > 0;
    if (!good)
      throw Error(operation, "lengths {" + join(lengths, ",") + "}",
                  "one positive number for each of " + std::to_string(ndim_) + " axes, or none");
    for (int a = 0; a < ndim_; ++a) {
      std::vector<double> k = wavenumbers(problem, a, nyquist);
      const double unit = lengths.empty() ? 1 : 2 * std::numbers::pi / lengths[a];
      for (double& each : k) each *= unit;
      k_.push_back(std::move(k));
    }
  }

  int ndim() const { return ndim_; }
  Index modes(int axis) const { return static_cast<Index>(k_[static_cast<std::size_t>(axis)].size()); }
  double operator()(int axis, const Shape& index) const {
    return k_[static_cast<std::size_t>(axis)][static_cast<std::size_t>(index[axis])];
  }
  double squared(const Shape& index) const {
    double sum = 0;
    for (int a = 0; a < ndim_; ++a) sum += (*this)(a, index) * (*this)(a, index);
    return sum;
  }
  const char* operation() const { return operation_; }

 private:
  const char* operation_;
  int ndim_;
  std::vector<std::vector<double>> k_;
};

/// Derivatives of odd order turn cosines into sines.
void check_fourier(const Problem& problem, int axis, const char* operation) {
  if (axis < 0 || axis >= problem.shape.size())
    throw Error(operation, "axis " + std::to_string(axis),
                "an axis from 0 to " + std::to_string(problem.shape.size() - 1));
  if (axis < problem.transforms.size() && is_r2r(problem.transforms[axis]))
    throw Error(operation,
                std::string(name_of(problem.transforms[axis])) + " along axis " + std::to_string(axis),
                "c2c or r2c there: an odd derivative of a DCT is a DST, and the other way round");
}

void check_fourier(const Problem& problem, const char* operation) {
  for (int a = 0; a < problem.shape.size(); ++a) check_fourier(problem, a, operation);
}

/// `Map` has `void operator()(Fields<T>, const Shape& index, Index fields) const` for complex T and, if
/// `reals`, for real ones; `fits(fields, results)`, and `wanted()` for messages.
template <class Map, bool reals>
class WorkOf final : public ModeOperator::Work {
 public:
  explicit WorkOf(Map map) : map_(std::move(map)) {}

  void run(const Block& block) const override {
    if (!map_.fits(block.fields, block.results))
      throw Error(map_.waves.operation(),
                  std::to_string(block.fields) + " fields and " + std::to_string(block.results) + " results",
                  map_.wanted());
    const bool wide = block.precision == Precision::float64;
    if (block.element == Element::complex) {
      wide ? each<std::complex<double>>(block) : each<std::complex<float>>(block);
    } else if constexpr (reals) {
      wide ? each<double>(block) : each<float>(block);
    } else {
      throw Error(map_.waves.operation(), "real modes", "complex ones, of c2c and r2c axes");
    }
  }

 private:
  template <class T>
  void each(const Block& block) const {
    for_each_element<T>(block, [&](const Fields<T>& f, const Shape& index) { map_(f, index, block.fields); });
  }

  Map map_;
};

template <bool reals, class Map>
ModeOperator made(Map map) {
  return ModeOperator(std::make_shared<const WorkOf<Map, reals>>(std::move(map)));
}

template <class T>
using RealOf = decltype(std::abs(T{}));

/// i k u
template <class T>
T derived(double k, const T& u) {
  const auto factor = static_cast<RealOf<T>>(k);
  return {-factor * u.imag(), factor * u.real()};
}

/// Multiplies every field by a number that depends on the mode.
template <class Factor>
struct Multiply {
  Waves waves;
  Factor factor;
  bool fits(Index fields, Index results) const { return fields == results; }
  std::string wanted() const { return "as many results as fields (Problem::results 0)"; }
  template <class T>
  void operator()(const Fields<T>& f, const Shape& index, Index fields) const {
    const auto value = factor(waves, index);
    if constexpr (std::is_same_v<decltype(value), const double>) {
      for (Index i = 0; i < fields; ++i) f[i] *= static_cast<RealOf<T>>(value);
    } else {
      const T narrow(value);
      for (Index i = 0; i < fields; ++i)
        f[i] = {f[i].real() * narrow.real() - f[i].imag() * narrow.imag(),
                f[i].real() * narrow.imag() + f[i].imag() * narrow.real()};
    }
  }
};

template <bool reals, class Factor>
ModeOperator multiplied(Waves waves, Factor factor) {
  return made<reals>(Multiply<Factor>{std::move(waves), std::move(factor)});
}

struct Gradient {
  Waves waves;
  bool fits(Index fields, Index results) const { return results == fields * waves.ndim(); }
  std::string wanted() const {
    return std::to_string(waves.ndim()) + " results for each field (Problem::results)";
  }
  template <class T>
  void operator()(const Fields<T>& f, const Shape& index, Index fields) const {
    const int n = waves.ndim();
    for (Index j = fields - 1; j >= 0; --j) {  // results reach over fields that are still needed
      const T u = f[j];
      for (int a = 0; a < n; ++a) f[j * n + a] = derived(waves(a, index), u);
    }
  }
};

struct Divergence {
  Waves waves;
  bool fits(Index fields, Index results) const { return fields == results * waves.ndim(); }
  std::string wanted() const {
    return std::to_string(waves.ndim()) + " fields for each result (Problem::results)";
  }
  template <class T>
  void operator()(const Fields<T>& f, const Shape& index, Index fields) const {
    const int n = waves.ndim();
    for (Index j = 0; j < fields / n; ++j) {
      T sum = 0;
      for (int a = 0; a < n; ++a) sum += derived(waves(a, index), T(f[j * n + a]));
      f[j] = sum;
    }
  }
};

/// Of vectors with a component along each axis.
template <class OfVector>
struct OnVectors {
  Waves waves;
  OfVector of_vector;
  bool fits(Index fields, Index results) const { return fields == results && fields % waves.ndim() == 0; }
  std::string wanted() const {
    return "as many results as fields, and " + std::to_string(waves.ndim()) + " fields for each vector";
  }
  template <class T>
  void operator()(const Fields<T>& f, const Shape& index, Index fields) const {
    for (Index j = 0; j < fields; j += waves.ndim()) of_vector(waves, index, Fields<T>(&f[j], &f[1] - &f[0]));
  }
};

template <class OfVector>
ModeOperator on_vectors(Waves waves, OfVector of_vector) {
  return made<false>(OnVectors<OfVector>{std::move(waves), std::move(of_vector)});
}

}  // namespace

ModeOperator derivative(const Problem& problem, int axis, int order, const AxisVector<double>& lengths) {
  constexpr const char* operation = "derivative";
  if (order < 0) throw Error(operation, "order " + std::to_string(order), "0 or more");
  const bool odd = order % 2 == 1;
  if (odd) check_fourier(problem, axis, operation);
  if (axis < 0 || axis >= problem.shape.size()) check_fourier(problem, axis, operation);
  Waves waves(problem, lengths, operation, odd ? Nyquist::zero : Nyquist::kept);
  const double sign = order % 4 < 2 ? 1 : -1;
  const auto power = [=](const Waves& k, const Shape& index) {
    double product = sign;
    for (int i = 0; i < order; ++i) product *= k(axis, index);
    return product;
  };
  if (!odd) return multiplied<true>(std::move(waves), power);
  return multiplied<false>(std::move(waves), [=](const Waves& k, const Shape& index) {
    return std::complex<double>(0, power(k, index));
  });
}

ModeOperator gradient(const Problem& problem, const AxisVector<double>& lengths) {
  check_fourier(problem, "gradient");
  return made<false>(Gradient{Waves(problem, lengths, "gradient", Nyquist::zero)});
}

ModeOperator divergence(const Problem& problem, const AxisVector<double>& lengths) {
  check_fourier(problem, "divergence");
  return made<false>(Divergence{Waves(problem, lengths, "divergence", Nyquist::zero)});
}

ModeOperator curl(const Problem& problem, const AxisVector<double>& lengths) {
  check_fourier(problem, "curl");
  if (problem.shape.size() != 3)
    throw Error("curl", std::to_string(problem.shape.size()) + " axes", "three axes");
  return on_vectors(Waves(problem, lengths, "curl", Nyquist::zero),
                    []<class T>(const Waves& k, const Shape& index, const Fields<T>& u) {
                      const T x = u[0], y = u[1], z = u[2];
                      const double kx = k(0, index), ky = k(1, index), kz = k(2, index);
                      u[0] = derived(ky, z) - derived(kz, y);
                      u[1] = derived(kz, x) - derived(kx, z);
                      u[2] = derived(kx, y) - derived(ky, x);
                    });
}

ModeOperator solenoidal_part(const Problem& problem, const AxisVector<double>& lengths) {
  check_fourier(problem, "solenoidal part");
  return on_vectors(Waves(problem, lengths, "solenoidal part", Nyquist::zero),
                    []<class T>(const Waves& k, const Shape& index, const Fields<T>& u) {
                      const double k2 = k.squared(index);
                      if (k2 == 0) return;
                      T along = 0;
                      for (int a = 0; a < k.ndim(); ++a)
                        along += static_cast<RealOf<T>>(k(a, index) / k2) * u[a];
                      for (int a = 0; a < k.ndim(); ++a) u[a] -= static_cast<RealOf<T>>(k(a, index)) * along;
                    });
}

ModeOperator laplacian(const Problem& problem, const AxisVector<double>& lengths) {
  return multiplied<true>(Waves(problem, lengths, "laplacian", Nyquist::kept),
                          [](const Waves& k, const Shape& index) { return -k.squared(index); });
}

ModeOperator inverse_helmholtz(const Problem& problem, double shift, const AxisVector<double>& lengths) {
  if (!std::isfinite(shift))
    throw Error("inverse Helmholtz", "a shift of " + std::to_string(shift), "a finite number");
  return multiplied<true>(Waves(problem, lengths, "inverse Helmholtz", Nyquist::kept),
                          [shift](const Waves& k, const Shape& index) {
                            const double divisor = k.squared(index) + shift;
                            return divisor == 0 ? 0 : 1 / divisor;
                          });
}

ModeOperator shift(const Problem& problem, const AxisVector<double>& distances,
                   const AxisVector<double>& lengths) {
  constexpr const char* operation = "shift";
  check_fourier(problem, operation);
  const int ndim = problem.shape.size();
  if (distances.size() != ndim)
    throw Error(operation, std::to_string(distances.size()) + " distances",
                "one for each of " + std::to_string(ndim) + " axes");
  // exp(i k d) by index along each axis; where both signs of k share a mode, the mean of both.
  const Waves waves(problem, lengths, operation, Nyquist::kept),
      odd(problem, lengths, operation, Nyquist::zero);
  std::vector<std::vector<std::complex<double>>> phases;
  for (int a = 0; a < ndim; ++a) {
    std::vector<std::complex<double>> phase;
    for (Shape k(ndim, 0); k[a] < waves.modes(a); ++k[a]) {
      const double angle = waves(a, k) * distances[a];
      const bool shared = waves(a, k) != odd(a, k);
      phase.push_back(shared ? std::cos(angle) : std::polar(1.0, angle));
    }
    phases.push_back(std::move(phase));
  }
  return multiplied<false>(waves, [phases](const Waves&, const Shape& index) {
    std::complex<double> product = 1;
    for (int a = 0; a < static_cast<int>(phases.size()); ++a)
      product *= phases[static_cast<std::size_t>(a)][static_cast<std::size_t>(index[a])];
    return product;
  });
}

ModeOperator filter(const Problem& problem, std::function<double(double)> factor,
                    const AxisVector<double>& lengths) {
  if (!factor) throw Error("filter", "no function", "a function of |k|");
  return multiplied<true>(
      Waves(problem, lengths, "filter", Nyquist::kept),
      [f = std::move(factor)](const Waves& k, const Shape& index) { return f(std::sqrt(k.squared(index))); });
}

}  // namespace weft
