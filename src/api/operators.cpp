#include "weft/operators.hpp"

#include <cmath>
#include <complex>
#include <string>
#include <utility>
#include <vector>

#include "api/mode_rows.hpp"
#include "api/ordered_operators.hpp"
#include "api/plan_impl.hpp"
#include "geometry/layout.hpp"
#include "geometry/transform.hpp"

namespace weft {

void ModeOperator::operator()(const Block& block) const {
  work_->run(block);
}

void ModeOperator::check(const Problem& problem, Direction direction) const {
  work_->check(problem, direction);
}

namespace {

void check_axis(const Problem& problem, int axis, const char* operation) {
  if (axis < 0 || axis >= problem.shape.size())
    throw Error(operation, "axis " + std::to_string(axis),
                "an axis from 0 to " + std::to_string(problem.shape.size() - 1));
}

/// Derivatives of odd order turn cosines into sines.
void check_fourier(const Problem& problem, int axis, const char* operation) {
  if (axis < problem.transforms.size() && is_r2r(problem.transforms[axis]))
    throw Error(operation,
                std::string(name_of(problem.transforms[axis])) + " along axis " + std::to_string(axis),
                "c2c or r2c there: an odd derivative of a DCT is a DST, and the other way round");
}

void check_fourier(const Problem& problem, const char* operation) {
  for (int a = 0; a < problem.shape.size(); ++a) check_fourier(problem, a, operation);
}

/// to = i k from
template <class T>
void derive(const RealOf<T>* k, const T* from, T* to, Index n, Index stride) {
  for_positions(n, stride, [&](Index i, Index at) {
    const T u = from[at];
    to[at] = {-k[i] * u.imag(), k[i] * u.real()};
  });
}

/// What is done with every field alike.
struct OnFields {
  Waves waves;
  bool fits(Index fields, Index results) const { return fields == results; }
  std::string wanted() const { return "as many results as fields (Problem::results 0)"; }
};

/// Multiplies every field by real factors: `factor(k, i)` of mode i of a row.
template <class Factor>
struct Multiply : OnFields {
  Factor factor;
  template <class T>
  void operator()(const Row<T>& row) const {
    RealOf<T> factors[at_once] = {};
    for (Index i = 0; i < row.n; ++i) factors[i] = static_cast<RealOf<T>>(factor(row.k, i));
    for (Index f = 0; f < row.fields; ++f) {
      T* const u = row.field(f);
      for_positions(row.n, row.stride, [&](Index i, Index at) { u[at] *= factors[i]; });
    }
  }
};
template <class Factor>
ModeOperator multiplied(Waves waves, Factor factor, const std::optional<MapModes>& step) {
  return made<true>(Multiply<Factor>{{std::move(waves)}, std::move(factor)}, step);
}

/// By factors that are i times a power of the wavenumber along an axis.
struct OddDerivative : OnFields {
  int axis, order;
  template <class T>
  void operator()(const Row<T>& row) const {
    RealOf<T> factors[at_once] = {};
    if (order == 1) {
      row.waves(axis, factors);
    } else {
      for (Index i = 0; i < row.n; ++i) {
        const double k = row.k.of(axis, i);
        double power = order % 4 == 1 ? k : -k;
        for (int j = 1; j < order; ++j) power *= k;
        factors[i] = static_cast<RealOf<T>>(power);
      }
    }
    for (Index f = 0; f < row.fields; ++f) derive(factors, row.field(f), row.field(f), row.n, row.stride);
  }
};

struct Gradient {
  Waves waves;
  bool fits(Index fields, Index results) const { return results == fields * waves.ndim(); }
  std::string wanted() const {
    return std::to_string(waves.ndim()) + " results for each field (Problem::results)";
  }
  /// Results reach over fields that are still needed, so the last ones come first.
  template <class T>
  void operator()(const Row<T>& row) const {
    RealOf<T> k[at_once] = {};
    const int n = waves.ndim();
    for (Index f = row.fields - 1; f >= 0; --f)
      for (int a = n - 1; a >= 0; --a) {
        row.waves(waves.axis_of(a), k);
        derive(k, row.field(f), row.field(f * n + a), row.n, row.stride);
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
  void operator()(const Row<T>& row) const {
    RealOf<T> k[at_once] = {};
    const int n = waves.ndim();
    for (Index f = 0; f < row.fields / n; ++f) {
      T sum[at_once] = {};
      for (int a = 0; a < n; ++a) {
        row.waves(waves.axis_of(a), k);
        const T* const u = row.field(f * n + a);
        for_positions(row.n, row.stride,
                      [&](Index i, Index at) { sum[i] += T(-k[i] * u[at].imag(), k[i] * u[at].real()); });
      }
      T* const to = row.field(f);
      for_positions(row.n, row.stride, [&](Index i, Index at) { to[at] = sum[i]; });
    }
  }
};

/// i k u
template <class T>
T derived(double k, const T& u) {
  const auto factor = static_cast<RealOf<T>>(k);
  return {-factor * u.imag(), factor * u.real()};
}

/// Of vectors with a component along each axis: `of_vector(waves, k, i, u)` of mode i of a row.
template <class OfVector>
struct OnVectors {
  Waves waves;
  OfVector of_vector;
  bool fits(Index fields, Index results) const { return fields == results && fields % waves.ndim() == 0; }
  std::string wanted() const {
    return "as many results as fields, and " + std::to_string(waves.ndim()) + " fields for each vector";
  }
  template <class T>
  void operator()(const Row<T>& row) const {
    for (Index f = 0; f < row.fields; f += waves.ndim())
      for_positions(row.n, row.stride, [&](Index i, Index at) {
        of_vector(waves, row.k, i, Fields<T>(row.field(f) + at, row.field_stride));
      });
  }
};
template <class OfVector>
ModeOperator on_vectors(Waves waves, OfVector of_vector, const MapModes& step) {
  return made<false>(OnVectors<OfVector>{std::move(waves), std::move(of_vector)}, step);
}

/// By exp(i k d): a factor by index along each axis, multiplied.
struct Shift : OnFields {
  std::vector<std::vector<std::complex<double>>> phases;
  template <class T>
  void operator()(const Row<T>& row) const {
    using Real = RealOf<T>;
    T factors[at_once] = {};
    std::complex<double> rest = 1;
    for (int a = 0; a < waves.ndim(); ++a)
      if (a != row.k.axis) rest *= phase(a, row.index[a]);
    for (Index i = 0; i < row.n; ++i) factors[i] = T(rest * phase(row.k.axis, row.index[row.k.axis] + i));
    for (Index f = 0; f < row.fields; ++f) {
      T* const u = row.field(f);
      for_positions(row.n, row.stride, [&](Index i, Index at) {
        const Real re = u[at].real(), im = u[at].imag();
        u[at] = {re * factors[i].real() - im * factors[i].imag(),
                 re * factors[i].imag() + im * factors[i].real()};
      });
    }
  }
  const std::complex<double>& phase(int axis, Index k) const {
    return phases[static_cast<std::size_t>(axis)][static_cast<std::size_t>(k)];
  }
};

/// A kernel in memory.
template <class T>
class Product final : public ModeOperator::Work {
 public:
  Product(MemoryKind memory, const Box& box, const T* modes, bool conjugated)
      : memory_(memory),
        box_(box),
        strides_(dense_strides(box.extents(), c_order(box.ndim()))),
        modes_(modes),
        conjugated_(conjugated) {}

  void check(const Problem& problem, Direction /*direction*/) const override {
    if (problem.results > 0)
      throw Error("product", std::to_string(problem.results) + " results of " + std::to_string(problem.batch),
                  "as many results as fields (Problem::results 0)");
    if (problem.memory != memory_)
      throw Error("product", "modes in memory of another kind than the plan's arrays",
                  "the plan that the operator was made for");
  }

  void run(const Block& block) const override {
    if (!(intersect(block.box, box_) == block.box))
      throw Error("product", "modes of another plan", "those of the plan that the operator was made for");
    if (block.memory != MemoryKind::host) {
      MapModes step{.map = ModeMap::product};
      step.conjugated = conjugated_;
      const T* first = modes_;
      for (int a = 0; a < box_.ndim(); ++a) first += (block.box.lo[a] - box_.lo[a]) * strides_[a];
      return enqueue_map(block, step, first, strides_);
    }
    for_each_row<T>(block, [&](T* first, Index n, Index stride, const Shape& at, int axis) {
      const T* kernel = modes_;
      for (int a = 0; a < box_.ndim(); ++a) kernel += (at[a] - box_.lo[a]) * strides_[a];
      for (Index f = 0; f < block.fields; ++f, first += block.field_stride) {
        if (stride == 1 && strides_[axis] == 1)
          multiply(first, kernel, n, 1, 1);
        else
          multiply(first, kernel, n, stride, strides_[axis]);
      }
    });
  }

 private:
  /// The next block of a row lies behind this one: its part of the kernel comes from memory meanwhile.
  void multiply(T* modes, const T* kernel, Index n, Index step, Index kernel_step) const {
    using Real = RealOf<T>;
    auto* const u = reinterpret_cast<Real*>(modes);
    const auto* const k = reinterpret_cast<const Real*>(kernel);
    const Real sign = conjugated_ ? -1 : 1;
    constexpr Index line_bytes = 64, of_a_line = line_bytes / Index{sizeof(T)};
    for (Index i = 0; i < n; i += of_a_line) __builtin_prefetch(kernel + (n + i) * kernel_step);
    for (Index i = 0; i < n; ++i) {
      Real* const at = u + 2 * i * step;
      const Real re = k[2 * i * kernel_step], im = sign * k[2 * i * kernel_step + 1];
      const Real x = at[0], y = at[1];
      at[0] = x * re - y * im;
      at[1] = x * im + y * re;
    }
  }

  MemoryKind memory_;
  Box box_;
  Strides strides_;
  const T* modes_;
  bool conjugated_;
};

template <class T>
ModeOperator product_of(const Plan& plan, const T* modes, bool conjugated) {
  const Problem& problem = PlanImpl::of(plan).problem;
  if (problem.between != Between::modes)
    throw Error("product", "a plan without an operator on modes", "Problem::between modes");
  const bool wide = std::is_same_v<T, std::complex<double>>;
  const bool complex = problem.element == Element::complex || problem.transforms.contains(Transform::r2c);
  if (wide != (problem.precision == Precision::float64) || !complex)
    throw Error("product", "modes of another type", "complex modes in the precision of the plan");
  const Box box = plan.between_box();
  if (modes == nullptr && !box.empty()) throw Error("product", "a null pointer", "this rank's modes");
  PlanImpl::of(plan).check_place("product", "modes", modes);
  return ModeOperator(std::make_shared<const Product<T>>(problem.memory, box, modes, conjugated));
}

}  // namespace

ModeOperator product(const Plan& plan, const std::complex<double>* modes, bool conjugated) {
  return product_of(plan, modes, conjugated);
}
ModeOperator product(const Plan& plan, const std::complex<float>* modes, bool conjugated) {
  return product_of(plan, modes, conjugated);
}

ModeOperator derivative(const Problem& problem, int axis, int order, const AxisVector<double>& lengths) {
  constexpr const char* operation = "derivative";
  if (order < 0) throw Error(operation, "order " + std::to_string(order), "0 or more");
  check_axis(problem, axis, operation);
  if (order % 2 == 1) {
    check_fourier(problem, axis, operation);
    MapModes step{.map = ModeMap::odd_derivative};
    step.along = axis;
    step.order = order;
    return made<false>(OddDerivative{{Waves(problem, lengths, operation, Nyquist::zero)}, axis, order}, step);
  }
  MapModes step{.map = ModeMap::power};
  step.along = axis;
  step.order = order;
  const auto power = [=](const RowOfWaves& k, Index i) {
    double product = order % 4 == 0 ? 1 : -1;
    for (int j = 0; j < order; ++j) product *= k.of(axis, i);
    return product;
  };
  return multiplied(Waves(problem, lengths, operation, Nyquist::kept), power, step);
}

namespace ordered {

ModeOperator gradient(const Problem& problem, const AxisVector<double>& lengths, Components order) {
  check_fourier(problem, "gradient");
  return made<false>(Gradient{Waves(problem, lengths, "gradient", Nyquist::zero, order)},
                     MapModes{.map = ModeMap::gradient});
}

ModeOperator divergence(const Problem& problem, const AxisVector<double>& lengths, Components order) {
  check_fourier(problem, "divergence");
  return made<false>(Divergence{Waves(problem, lengths, "divergence", Nyquist::zero, order)},
                     MapModes{.map = ModeMap::divergence});
}

ModeOperator curl(const Problem& problem, const AxisVector<double>& lengths, Components order) {
  check_fourier(problem, "curl");
  if (problem.shape.size() != 3)
    throw Error("curl", std::to_string(problem.shape.size()) + " axes", "three axes");
  return on_vectors(
      Waves(problem, lengths, "curl", Nyquist::zero, order),
      []<class T>(const Waves& waves, const RowOfWaves& k, Index i, const Fields<T>& u) {
        const T x = u[0], y = u[1], z = u[2];
        const double kx = k.of(waves.axis_of(0), i), ky = k.of(1, i), kz = k.of(waves.axis_of(2), i);
        u[0] = derived(ky, z) - derived(kz, y);
        u[1] = derived(kz, x) - derived(kx, z);
        u[2] = derived(kx, y) - derived(ky, x);
      },
      MapModes{.map = ModeMap::curl});
}

ModeOperator solenoidal_part(const Problem& problem, const AxisVector<double>& lengths, Components order) {
  check_fourier(problem, "solenoidal part");
  return on_vectors(
      Waves(problem, lengths, "solenoidal part", Nyquist::zero, order),
      []<class T>(const Waves& waves, const RowOfWaves& k, Index i, const Fields<T>& u) {
        const int n = waves.ndim();
        const double k2 = k.squared(i);
        if (k2 == 0) return;
        T along = 0;
        for (int c = 0; c < n; ++c) along += static_cast<RealOf<T>>(k.of(waves.axis_of(c), i) / k2) * u[c];
        for (int c = 0; c < n; ++c) u[c] -= static_cast<RealOf<T>>(k.of(waves.axis_of(c), i)) * along;
      },
      MapModes{.map = ModeMap::solenoidal_part});
}

}  // namespace ordered

ModeOperator gradient(const Problem& problem, const AxisVector<double>& lengths) {
  return ordered::gradient(problem, lengths, Components::first_axis_first);
}

ModeOperator divergence(const Problem& problem, const AxisVector<double>& lengths) {
  return ordered::divergence(problem, lengths, Components::first_axis_first);
}

ModeOperator curl(const Problem& problem, const AxisVector<double>& lengths) {
  return ordered::curl(problem, lengths, Components::first_axis_first);
}

ModeOperator solenoidal_part(const Problem& problem, const AxisVector<double>& lengths) {
  return ordered::solenoidal_part(problem, lengths, Components::first_axis_first);
}

ModeOperator laplacian(const Problem& problem, const AxisVector<double>& lengths) {
  return multiplied(
      Waves(problem, lengths, "laplacian", Nyquist::kept),
      [](const RowOfWaves& k, Index i) { return -k.squared(i); }, MapModes{.map = ModeMap::laplacian});
}

ModeOperator inverse_helmholtz(const Problem& problem, double shift, const AxisVector<double>& lengths) {
  if (!std::isfinite(shift))
    throw Error("inverse Helmholtz", "a shift of " + std::to_string(shift), "a finite number");
  MapModes step{.map = ModeMap::inverse_helmholtz};
  step.value = shift;
  const auto inverse = [shift](const RowOfWaves& k, Index i) {
    const double divisor = k.squared(i) + shift;
    return divisor == 0 ? 0 : 1 / divisor;
  };
  return multiplied(Waves(problem, lengths, "inverse Helmholtz", Nyquist::kept), inverse, step);
}

ModeOperator shift(const Problem& problem, const AxisVector<double>& distances,
                   const AxisVector<double>& lengths) {
  constexpr const char* operation = "shift";
  const int ndim = problem.shape.size();
  for (int a = 0; a < std::min(ndim, distances.size()); ++a)
    if (distances[a] != 0) check_fourier(problem, a, operation);
  if (distances.size() != ndim)
    throw Error(operation, std::to_string(distances.size()) + " distances",
                "one for each of " + std::to_string(ndim) + " axes");
  // Where both signs of k share a mode, it gets the mean of both factors.
  const Waves waves(problem, lengths, operation, Nyquist::kept);
  const Waves odd(problem, lengths, operation, Nyquist::zero);
  std::vector<std::vector<std::complex<double>>> phases;
  for (int a = 0; a < ndim; ++a) {
    std::vector<std::complex<double>> phase;
    for (std::size_t i = 0; i < waves.along(a).size(); ++i) {
      const double angle = waves.along(a)[i] * distances[a];
      const bool shared = waves.along(a)[i] != odd.along(a)[i];
      phase.push_back(shared ? std::cos(angle) : std::polar(1.0, angle));
    }
    phases.push_back(std::move(phase));
  }
  MapModes step{.map = ModeMap::shift};
  for (int a = 0; a < ndim; ++a) at(step.distance, a) = distances[a];
  return made<false>(Shift{{waves}, std::move(phases)}, step);
}

ModeOperator filter(const Problem& problem, std::function<double(double)> factor,
                    const AxisVector<double>& lengths) {
  if (!factor) throw Error("filter", "no function", "a function of |k|");
  return multiplied(
      Waves(problem, lengths, "filter", Nyquist::kept),
      [f = std::move(factor)](const RowOfWaves& k, Index i) { return f(std::sqrt(k.squared(i))); },
      std::nullopt);
}

}  // namespace weft
