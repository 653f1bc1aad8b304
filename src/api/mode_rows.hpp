// What ready-made operators on modes are made of: the wavenumbers of a problem, rows of modes with theirs,
// and the call of a map for every row of a block. The maps are in operators.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/mode_steps.hpp"
#include "api/ordered_operators.hpp"
#include "api/problem_check.hpp"
#include "base/arithmetic.hpp"
#include "base/text.hpp"
#include "geometry/transform.hpp"
#include "weft/modes.hpp"
#include "weft/operators.hpp"

namespace weft {

class ModeOperator::Work {
 public:
  virtual ~Work() = default;
  /// Throws if it is none for executions of a checked problem in a direction.
  virtual void check(const Problem& problem, Direction direction) const = 0;
  virtual void run(const Block& block) const = 0;
};

/// Those of a row of modes.
struct RowOfWaves {
  int axis;              ///< along which the row lies
  const double* along;   ///< wavenumbers along that axis
  AxisVector<double> k;  ///< along the others
  double rest = 0;       ///< the sum of their squares

  double of(int a, Index i) const { return a == axis ? along[i] : k[a]; }
  double squared(Index i) const { return rest + along[i] * along[i]; }
};

/// The angular wavenumbers of a problem, by global index along each axis.
class Waves {
 public:
  Waves(const Problem& problem, const AxisVector<double>& lengths, const char* operation, Nyquist nyquist,
        Components order = Components::first_axis_first)
      : operation_(operation),
        ndim_(problem.shape.size()),
        zeroes_nyquist_(nyquist == Nyquist::zero),
        last_axis_first_(order == Components::last_axis_first),
        problem_(problem) {
    if (problem.between != Between::modes)
      throw Error(operation, "a problem without an operator on modes", "Problem::between modes");
    problem_.input = problem_.output = Distribution::fastest();
    check_problem(problem_, 1);
    bool good = lengths.empty() || lengths.size() == ndim_;
    for (const double length : lengths) good = good && std::isfinite(length) && length > 0;
    if (!good)
      throw Error(operation, "lengths {" + join(lengths, ",") + "}",
                  "one positive number for each of " + std::to_string(ndim_) + " axes, or none");
    for (int a = 0; a < ndim_; ++a) {
      std::vector<double> k = wavenumbers(problem, a, nyquist);
      const double unit = lengths.empty() ? 1 : 2 * std::numbers::pi / lengths[a];
      at(steps_, a) =
          waves_of_axis(wavenumbers(problem, a, Nyquist::kept), wavenumbers(problem, a, Nyquist::zero), unit);
      for (double& each : k) each *= unit;
      k_.push_back(std::move(k));
    }
  }

  /// Throws unless the modes of a checked problem are those.
  void check(const Problem& other) const {
    const Problem& p = problem_;
    if (p.shape == other.shape && p.transforms == other.transforms && modes_of(p) == modes_of(other) &&
        p.modes_nyquist == other.modes_nyquist && other.between == Between::modes)
      return;
    throw Error(operation_, "modes of " + by_x(modes_of(other)),
                "a plan of the operator's problem, of " + by_x(modes_of(p)) + " modes");
  }
  int ndim() const { return ndim_; }
  /// The axis that a component of a vector belongs to; also the component that belongs to an axis.
  int axis_of(int component) const { return last_axis_first_ ? ndim_ - 1 - component : component; }
  const char* operation() const { return operation_; }
  /// What a kernel needs to know of the wavenumbers.
  void describe(MapModes& step) const {
    step.waves = steps_;
    for (int a = 0; a < ndim_; ++a) at(step.component, a) = axis_of(a);
    step.zeroes_nyquist = zeroes_nyquist_;
  }
  const std::vector<double>& along(int axis) const { return k_[static_cast<std::size_t>(axis)]; }
  RowOfWaves row(const Shape& at, int axis) const {
    RowOfWaves r{axis, along(axis).data() + at[axis], AxisVector<double>(ndim_, 0)};
    for (int a = 0; a < ndim_; ++a) {
      if (a == axis) continue;
      r.k[a] = along(a)[static_cast<std::size_t>(at[a])];
      r.rest += r.k[a] * r.k[a];
    }
    return r;
  }

 private:
  const char* operation_;
  int ndim_;
  bool zeroes_nyquist_;
  bool last_axis_first_;
  Problem problem_;
  std::array<AxisWaves, max_axes> steps_{};
  std::vector<std::vector<double>> k_;
};

/// Of so many modes of a row factors are computed at a time.
constexpr Index at_once = 64;

template <class T>
using RealOf = decltype(std::abs(T{}));

/// Part of a row of modes, at most `at_once`: the fields of mode i are first[i * stride + f * field_stride].
template <class T>
struct Row {
  T* first;
  Index n, stride, field_stride, fields;
  RowOfWaves k;
  Shape index;  ///< of the first mode

  T* field(Index f) const { return first + f * field_stride; }
  /// Wavenumbers in the precision of the data.
  void waves(int axis, RealOf<T>* to) const {
    if (axis != k.axis) return void(std::fill_n(to, n, static_cast<RealOf<T>>(k.k[axis])));
    for (Index i = 0; i < n; ++i) to[i] = static_cast<RealOf<T>>(k.along[i]);
  }
};

/// `Map` has `void operator()(const Row<T>&) const` for complex T and, if `reals`, for real ones; `waves`,
/// `fits(fields, results)`, and `wanted()` for messages.
template <class Map, bool reals>
class WorkOf final : public ModeOperator::Work {
 public:
  /// `step`: the map for kernels, if there is one.
  WorkOf(Map map, const std::optional<MapModes>& step) : map_(std::move(map)), step_(step) {
    if (step_) map_.waves.describe(*step_);
  }

  void check(const Problem& problem, Direction direction) const override {
    map_.waves.check(problem);
    const bool forward = direction == Direction::forward;
    const Index fields = arrays_of(problem, direction),
                results = arrays_of(problem, forward ? Direction::backward : Direction::forward);
    if (!map_.fits(fields, results))
      throw Error(map_.waves.operation(),
                  std::to_string(fields) + " fields and " + std::to_string(results) + " results",
                  map_.wanted());
    const bool complex = problem.element == Element::complex || problem.transforms.contains(Transform::r2c);
    if (!reals && !complex)
      throw Error(map_.waves.operation(), "real modes", "complex ones, of c2c and r2c axes");
    if (problem.memory != MemoryKind::host && !step_)
      throw Error(map_.waves.operation(), "a function of the host, for modes in memory of a GPU",
                  "product with an array of its values there, or a kernel of your own");
  }

  void run(const Block& block) const override {
    if (block.memory != MemoryKind::host) return enqueue_map(block, *step_);
    const bool wide = block.precision == Precision::float64;
    if (block.element == Element::complex) {
      wide ? each<std::complex<double>>(block) : each<std::complex<float>>(block);
    } else if constexpr (reals) {
      wide ? each<double>(block) : each<float>(block);
    }
  }

 private:
  template <class T>
  void each(const Block& block) const {
    for_each_row<T>(block, [&](T* first, Index n, Index stride, const Shape& at, int axis) {
      Row<T> row{first, n, stride, block.field_stride, block.fields, map_.waves.row(at, axis), at};
      for (Index left = n; left > 0; left -= at_once) {
        row.n = std::min(at_once, left);
        map_(row);
        row.first += at_once * stride;
        row.k.along += at_once;
        row.index[axis] += at_once;
      }
    });
  }

  Map map_;
  std::optional<MapModes> step_;
};

template <bool reals, class Map>
ModeOperator made(Map map, const std::optional<MapModes>& step) {
  return ModeOperator(std::make_shared<const WorkOf<Map, reals>>(std::move(map), step));
}

/// Calls f for the positions 0, stride, ... of n elements; rows that lie together are what compilers like.
template <class F>
void for_positions(Index n, Index stride, const F& f) {
  if (stride == 1) {
    for (Index i = 0; i < n; ++i) f(i, i);
  } else {
    for (Index i = 0; i < n; ++i) f(i, i * stride);
  }
}
}  // namespace weft
