#include "c/problems.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "c/boxes.hpp"
#include "c/structs.hpp"
#include "geometry/transform.hpp"

namespace weft::c {

namespace {

// In the order of the enumerators.
constexpr Transform transforms[] = {Transform::c2c,  Transform::r2c,  Transform::dct1, Transform::dct2,
                                    Transform::dct3, Transform::dct4, Transform::dst1, Transform::dst2,
                                    Transform::dst3, Transform::dst4, Transform::none};
constexpr Precision precisions[] = {Precision::float64, Precision::float32};
constexpr MemoryKind memories[] = {MemoryKind::host, MemoryKind::cuda};
constexpr std::optional<Element> elements[] = {std::nullopt, Element::real, Element::complex};
constexpr Between betweens[] = {Between::none, Between::modes, Between::points};
constexpr ModesNyquist modes_nyquists[] = {ModesNyquist::shared, ModesNyquist::odd, ModesNyquist::single};
constexpr Scale scales[] = {Scale::none, Scale::symmetric, Scale::full};
using Kind = Distribution::Kind;
constexpr Kind kinds[] = {Kind::slab, Kind::pencil,  Kind::brick,   Kind::grid,  Kind::boxes,
                          Kind::box,  Kind::fastest, Kind::columns, Kind::sphere};

/// One value per axis; none if all are zero, which stands for the default.
template <class T>
AxisVector<T> unless_zero(const T* values, int ndim) {
  if (std::all_of(values, values + ndim, [](T v) { return v == 0; })) return {};
  return AxisVector<T>::from(values, values + ndim);
}

std::vector<Box> boxes_of(const weft_distribution& d, std::size_t count, const std::string& operation) {
  if (d.boxes == nullptr && count > 0) throw bad_argument(operation, "boxes is NULL", "the boxes");
  std::vector<Box> boxes;
  for (std::size_t i = 0; i < count; ++i) boxes.push_back(box_of(d.boxes[i], operation.c_str()));
  return boxes;
}

std::vector<ModeColumn> columns_of(const weft_distribution& d, int ndim, const std::string& operation) {
  if (d.columns == nullptr && d.column_count > 0)
    throw bad_argument(operation, "columns is NULL", std::to_string(d.column_count) + " columns");
  std::vector<ModeColumn> columns;
  for (std::size_t i = 0; i < d.column_count; ++i) {
    const weft_mode_column& c = d.columns[i];
    columns.push_back({Shape::from(c.first, c.first + ndim), c.count});
  }
  return columns;
}

Distribution cut_of(const weft_distribution& d, int ndim, const std::string& operation) {
  switch (in_table(kinds, d.cut, operation + " cut", "weft_cut")) {
    case Kind::slab:
      return Distribution::slab(d.axis);
    case Kind::pencil:
      return Distribution::pencil(d.axis);
    case Kind::brick:
      return Distribution::brick();
    case Kind::grid:
      return Distribution::grid(AxisVector<int>::from(d.parts, d.parts + ndim));
    case Kind::boxes:
      return Distribution::boxes(boxes_of(d, d.box_count, operation));
    case Kind::box:
      return Distribution::box(boxes_of(d, 1, operation).front());
    case Kind::columns:
      return Distribution::columns(columns_of(d, ndim, operation));
    case Kind::sphere:
      return Distribution::sphere(d.radius);
    case Kind::fastest:
      break;
  }
  return Distribution::fastest();
}

Distribution distribution_of(const weft_distribution* given, int ndim, const char* side) {
  if (given == nullptr) return Distribution::slab(0);
  const std::string operation = std::string("plan: ") + side;
  const weft_distribution d = taken(*given, operation.c_str(), "weft_distribution");
  Distribution result = cut_of(d, ndim, operation);
  if (const Order order = unless_zero(d.order, ndim); !order.empty()) result = result.with_order(order);
  if (const Strides strides = unless_zero(d.strides, ndim); !strides.empty())
    result = result.with_strides(strides);
  const Shape lower = unless_zero(d.halo_lower, ndim), upper = unless_zero(d.halo_upper, ndim);
  if (!lower.empty() || !upper.empty())
    result = result.with_halo(Shape::from(d.halo_lower, d.halo_lower + ndim),
                              Shape::from(d.halo_upper, d.halo_upper + ndim));
  return d.r2c_padding != 0 ? result.with_r2c_padding() : result;
}

}  // namespace

Problem problem_of(const weft_problem* given) {
  check_given(given, "plan", "problem");
  const weft_problem p = taken(*given, "plan", "weft_problem");
  if (p.ndim < 1 || p.ndim > max_axes)
    throw bad_argument("plan: shape", std::to_string(p.ndim) + " axes", "1 to 8 axes");
  Problem problem;
  problem.shape = Shape::from(p.shape, p.shape + p.ndim);
  for (int a = 0; a < p.ndim; ++a)
    problem.transforms.push_back(in_table(
        transforms, p.transforms[a], "plan: transforms along axis " + std::to_string(a), "weft_transform"));
  problem.precision = in_table(precisions, p.precision, "plan: precision", "weft_precision");
  problem.memory = in_table(memories, p.memory, "plan: memory", "weft_memory");
  problem.element = in_table(elements, p.element, "plan: element", "weft_element");
  problem.input = distribution_of(p.input, p.ndim, "input");
  problem.output = distribution_of(p.output, p.ndim, "output");
  problem.in_place = p.in_place != 0;
  problem.batch = p.batch == 0 ? 1 : p.batch;
  problem.input_distance = p.input_distance;
  problem.output_distance = p.output_distance;
  problem.forward_scale = in_table(scales, p.forward_scale, "plan: forward scale", "weft_scale");
  problem.backward_scale = in_table(scales, p.backward_scale, "plan: backward scale", "weft_scale");
  problem.modes_nyquist =
      in_table(modes_nyquists, p.modes_nyquist, "plan: modes_nyquist", "weft_modes_nyquist");
  problem.between = in_table(betweens, p.between, "plan: between", "weft_between");
  problem.results = p.results;
  const auto lengths = [&](const int64_t* wanted, const Shape& all) {
    Shape some = unless_zero(wanted, p.ndim);
    for (int a = 0; a < some.size(); ++a)
      if (some[a] == 0) some[a] = all[a];
    return some;
  };
  problem.points = lengths(p.points, problem.shape);
  problem.modes = lengths(p.modes, output_shape(problem.shape, problem.transforms));
  if (p.line[0] != 0 || p.line[1] != 0) problem.line = {p.line[0], p.line[1]};
  return problem;
}

Components components_of(const weft_components& components, const char* operation) {
  constexpr Components all[] = {Components::first_axis_first, Components::last_axis_first};
  return in_table(all, components, operation, "weft_components");
}

AxisVector<double> numbers_of(const double* numbers, const Problem& problem) {
  if (numbers == nullptr) return {};
  return AxisVector<double>::from(numbers, numbers + problem.shape.size());
}

}  // namespace weft::c

weft_status weft_line_shape(int64_t n, int64_t shape[2]) {
  return weft::c::guarded([&] {
    weft::c::check_given(shape, "line shape", "shape");
    const weft::Shape found = weft::line_shape(n);
    std::copy(found.begin(), found.end(), shape);
  });
}
