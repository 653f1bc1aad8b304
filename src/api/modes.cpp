#include "weft/modes.hpp"

#include <array>
#include <cmath>
#include <type_traits>

#include "api/plan_impl.hpp"
#include "api/problem_check.hpp"
#include "base/arithmetic.hpp"
#include "comm/agree.hpp"
#include "geometry/transform.hpp"

namespace weft {

namespace {

/// One axis of a plan's output, as modes see it.
struct ModeAxis {
  Transform transform;
  Index n, period;
  Index modes;        ///< kept ones
  bool shared;        ///< whether the last of an even number of kept modes stands for two
  Index first, last;  ///< of this rank's box
  int axis = 0;
  const std::vector<ModeColumn>* columns = nullptr;  ///< of this rank, if modes are given by columns
};

/// With all modes.
ModeAxis axis_of(const Problem& problem, int axis, const char* operation) {
  const int axes = problem.shape.size();
  if (axis < 0 || axis >= axes)
    throw Error(operation, "axis " + std::to_string(axis), "an axis from 0 to " + std::to_string(axes - 1));
  if (problem.line.contains(axis))
    throw Error(operation, "axis " + std::to_string(axis) + ", which is part of a line",
                "the modes of the line as Problem::line numbers them");
  const Transform t = problem.transforms[axis];
  const Index n = problem.shape[axis];
  const Index all = output_shape(problem.shape, problem.transforms)[axis], m = modes_of(problem)[axis];
  const bool shares = t == Transform::r2c ? problem.modes_nyquist == ModesNyquist::shared
                                          : problem.modes_nyquist != ModesNyquist::single;
  const bool shared = shares && m < all && m > 1;
  return {t, n, logical_length(t, n), m, shared, 0, m};
}

/// With those of this rank, or, where modes are between two transforms, all.
ModeAxis axis_of(const Plan& plan, int axis, const char* operation) {
  const Problem& problem = PlanImpl::of(plan).problem;
  ModeAxis a = axis_of(problem, axis, operation);
  if (problem.between == Between::modes) return a;
  if (has_columns(problem.output)) {
    a.axis = axis;
    a.columns = &plan.columns();
    return a;
  }
  a.first = plan.output_box().lo[axis];
  a.last = plan.output_box().hi[axis];
  return a;
}

/// The wavenumber of a global index.
double wavenumber(const ModeAxis& axis, Index k) {
  const auto index = static_cast<double>(k);
  switch (axis.transform) {
    case Transform::none:
      return 0;
    case Transform::c2c:
      return 2 * k >= axis.modes ? static_cast<double>(k - axis.modes) : index;
    case Transform::dst1:
    case Transform::dst2:
      return index + 1;
    case Transform::dct3:
    case Transform::dct4:
    case Transform::dst3:
    case Transform::dst4:
      return index + 0.5;
    default:
      return index;
  }
}

/// Whether a mode stands for as many periods forward as backward.
bool is_nyquist(const ModeAxis& axis, Index k) {
  if (axis.transform == Transform::c2c) return 2 * k == axis.modes && (axis.modes == axis.n || axis.shared);
  return axis.transform == Transform::r2c && (2 * k == axis.n || (axis.shared && k + 1 == axis.modes));
}

double weight(const ModeAxis& axis, Index k) {
  const bool nyquist = is_nyquist(axis, k);
  if (nyquist && axis.shared) return 0.5;
  return axis.transform == Transform::r2c && k > 0 && !nyquist ? 2 : 1;
}

/// One number for each index of this rank's box, or for each mode of its columns.
template <class F>
std::vector<double> each(const ModeAxis& axis, const F& f) {
  std::vector<double> all;
  if (axis.columns != nullptr) {
    for (const ModeColumn& c : *axis.columns)
      for (Index i = 0; i < c.count; ++i)
        all.push_back(f(mode_index(c.first[axis.axis] + (axis.axis == 0 ? i : 0), axis.n)));
    return all;
  }
  all.reserve(static_cast<std::size_t>(std::max<Index>(axis.last - axis.first, 0)));
  for (Index k = axis.first; k < axis.last; ++k) all.push_back(f(k));
  return all;
}

/// The largest wavenumber of all ranks.
double largest(const ModeAxis& axis) {
  if (axis.n == 0) return 0;
  if (axis.transform == Transform::c2c) return std::floor(static_cast<double>(axis.modes) / 2);
  return std::abs(wavenumber(axis, axis.modes - 1));
}

bool has_complex_modes(const Problem& problem) {
  return problem.element == Element::complex || problem.transforms.contains(Transform::r2c);
}

constexpr const char* of_spectrum = "shell spectrum";
/// So many that their sums fit into memory and into one reduction.
constexpr double most_shells = 1e7;

template <class T>
void check_modes(const PlanImpl& plan, const T* modes, const AxisVector<double>& units) {
  constexpr bool is_complex = !std::is_floating_point_v<T>;
  using Real = std::conditional_t<sizeof(T) == (is_complex ? 16 : 8), double, float>;
  if (plan.problem.between == Between::modes)
    throw Error(of_spectrum, "a plan whose output is points, with modes between",
                "a plan whose output is modes");
  if (plan.problem.memory != MemoryKind::host)
    throw Error(of_spectrum, "modes in memory of a GPU", "a copy of them on the host, and a plan for it");
  if (is_complex != has_complex_modes(plan.problem) ||
      static_cast<Index>(sizeof(Real)) != real_bytes(plan.problem.precision))
    throw Error(of_spectrum, "modes of another type", "those of the plan's output");
  if (plan.bound->under_way()) throw Error(of_spectrum, "an execution under way", "a call after wait");
  if (!units.empty() && units.size() != plan.problem.shape.size())
    throw Error(of_spectrum, std::to_string(units.size()) + " units",
                "one for each of " + std::to_string(plan.problem.shape.size()) + " axes, or none");
  for (const double unit : units)
    if (!std::isfinite(unit)) throw Error(of_spectrum, "a unit of " + std::to_string(unit), "finite numbers");
  if (modes == nullptr && plan.arrays[1].layout.count > 0)
    throw Error(of_spectrum, "a null pointer", "this rank's modes");
}

/// All ranks have to have the same units, or they would sum up different shells. Throws on all ranks.
void compare_units(CommImpl& comm, const AxisVector<double>& units) {
  std::array<double, max_axes> mine{};
  mine.fill(1);
  std::copy(units.begin(), units.end(), mine.begin());
  const std::vector<std::array<double, max_axes>> all = all_of(comm, mine);
  if (!all_equal(all)) throw Error(of_spectrum, "units that differ between ranks", "the same on all ranks");
}

template <class T>
double squared(const T& mode) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<double>(mode) * static_cast<double>(mode);
  } else {
    return std::norm(std::complex<double>(mode));
  }
}

template <class T>
std::vector<double> spectrum(const Plan& plan, const T* modes, const AxisVector<double>& units) {
  const PlanImpl& impl = PlanImpl::of(plan);
  CommImpl& comm = impl.comm.impl();
  comm.check_alive(of_spectrum);
  comm.check_caller(of_spectrum);
  std::vector<double> mine, all;
  agree(comm, of_spectrum, [&] {
    check_modes(impl, modes, units);
    AxisVector<std::vector<double>> squares, weights;
    double most = 0;
    for (int a = 0; a < impl.problem.shape.size(); ++a) {
      const ModeAxis axis = axis_of(plan, a, of_spectrum);
      const double unit = units.empty() ? 1 : units[a];
      most += std::pow(unit * largest(axis), 2);
      squares.push_back(each(axis, [&](Index k) { return std::pow(unit * wavenumber(axis, k), 2); }));
      weights.push_back(each(axis, [&](Index k) { return weight(axis, k); }));
    }
    if (!(std::sqrt(most) < most_shells))
      throw Error(of_spectrum, "wavenumbers of up to " + std::to_string(std::sqrt(most)),
                  "units by which they are less than 10 million: a shell is 1 wide");
    const auto shell = [](double k2) { return static_cast<std::size_t>(std::floor(std::sqrt(k2) + 0.5)); };
    mine.resize(shell(most) + 1);
    all.resize(mine.size());
    const Box& box = plan.output_box();
    const bool columns = has_columns(impl.problem.output);
    for_each_output(plan, [&](const Shape& k, std::size_t position) {
      double k2 = 0, factor = 1;
      for (int a = 0; a < squares.size(); ++a) {
        const int counted = columns ? 0 : a;
        k2 += at(squares[a], k[counted] - box.lo[counted]);
        factor *= at(weights[a], k[counted] - box.lo[counted]);
      }
      double sum = 0;
      for (Index item = 0; item < arrays_of(impl.problem, Direction::backward); ++item)
        sum += squared(modes[position + static_cast<std::size_t>(item * plan.output_distance())]);
      at(mine, std::min(shell(k2), mine.size() - 1)) += factor * sum;
    });
  });
  compare_units(comm, units);
  comm.sum(mine, all);
  return all;
}

}  // namespace

void check_output_is_modes(const Plan& plan, const char* operation) {
  if (PlanImpl::of(plan).problem.between == Between::modes)
    throw Error(operation, "a plan whose output is points, with modes between",
                "a plan whose output is modes");
}

int mode_axes(const Plan& plan) {
  return PlanImpl::of(plan).problem.shape.size();
}

Index logical_length(const Plan& plan, int axis) {
  return axis_of(plan, axis, "logical length").period;
}

namespace {
std::vector<double> wavenumbers_of(const ModeAxis& a, Nyquist nyquist) {
  return each(a,
              [&](Index k) { return nyquist == Nyquist::zero && is_nyquist(a, k) ? 0 : wavenumber(a, k); });
}
}  // namespace

std::vector<double> wavenumbers(const Plan& plan, int axis, Nyquist nyquist) {
  return wavenumbers_of(axis_of(plan, axis, "wavenumbers"), nyquist);
}

std::vector<double> wavenumbers(const Problem& problem, int axis, Nyquist nyquist) {
  Problem checked = problem;  // with all that it leaves to defaults
  checked.input = checked.output = Distribution::fastest();
  check_problem(checked, 1);
  return wavenumbers_of(axis_of(checked, axis, "wavenumbers"), nyquist);
}

std::vector<double> hermitian_weights(const Plan& plan, int axis) {
  const ModeAxis a = axis_of(plan, axis, "Hermitian weights");
  return each(a, [&](Index k) { return weight(a, k); });
}

std::vector<double> dealiasing_mask(const Plan& plan, int axis, double fraction) {
  const ModeAxis a = axis_of(plan, axis, "dealiasing mask");
  if (!(fraction >= 0 && fraction <= 1))
    throw Error("dealiasing mask", "a fraction of " + std::to_string(fraction), "one between 0 and 1");
  const double end = fraction * static_cast<double>(a.period);
  return each(a, [&](Index k) {
    return a.transform == Transform::none || 2 * std::abs(wavenumber(a, k)) < end ? 1.0 : 0.0;
  });
}

std::vector<double> shell_spectrum(const Plan& plan, const std::complex<double>* modes,
                                   const AxisVector<double>& units) {
  return spectrum(plan, modes, units);
}
std::vector<double> shell_spectrum(const Plan& plan, const std::complex<float>* modes,
                                   const AxisVector<double>& units) {
  return spectrum(plan, modes, units);
}
std::vector<double> shell_spectrum(const Plan& plan, const double* modes, const AxisVector<double>& units) {
  return spectrum(plan, modes, units);
}
std::vector<double> shell_spectrum(const Plan& plan, const float* modes, const AxisVector<double>& units) {
  return spectrum(plan, modes, units);
}
std::vector<double> shell_spectrum(const Plan& plan, const void* modes, const AxisVector<double>& units) {
  const Problem& problem = PlanImpl::of(plan).problem;
  const bool doubles = problem.precision == Precision::float64;
  if (has_complex_modes(problem))
    return doubles ? spectrum(plan, static_cast<const std::complex<double>*>(modes), units)
                   : spectrum(plan, static_cast<const std::complex<float>*>(modes), units);
  return doubles ? spectrum(plan, static_cast<const double*>(modes), units)
                 : spectrum(plan, static_cast<const float*>(modes), units);
}

}  // namespace weft
