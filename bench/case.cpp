#include "case.hpp"

#include <cmath>
#include <utility>

#include "api/problem_check.hpp"
#include "base/nearest_name.hpp"
#include "base/text.hpp"
#include "device/device.hpp"
#include "geometry/layout.hpp"
#include "geometry/transform.hpp"

namespace weft::bench {

namespace {

Transform transform_named(const std::string& name) {
  std::vector<std::string> names;
  for (int t = 0; t <= static_cast<int>(Transform::dst4); ++t) {
    if (name == name_of(static_cast<Transform>(t))) return static_cast<Transform>(t);
    names.emplace_back(name_of(static_cast<Transform>(t)));
  }
  throw Error("--transform", "\"" + name + "\"", "for all axes, or for each, " + one_of(names, name));
}

/// "r2c" alone is r2c along the last axis, c2c along the others; any other name is for all axes.
AxisVector<Transform> transforms_named(const std::string& text, int ndim) {
  const std::vector<std::string> names = split(text, ',');
  if (names.size() == 1) {
    const Transform t = transform_named(names[0]);
    AxisVector<Transform> all(ndim, t == Transform::r2c ? Transform::c2c : t);
    all[ndim - 1] = t;
    return all;
  }
  AxisVector<Transform> each;
  for (const std::string& name : names) each.push_back(transform_named(name));
  return each;
}

/// Numbers, separated by commas, that an argument gives.
Shape numbers(const std::string& argument, const std::string& text, const char* expected) {
  Shape all;
  for (const std::string& n : split(text, ',')) {
    std::size_t used = 0;
    try {
      all.push_back(std::stoll(n, &used));
    } catch (const std::exception&) {
      used = 0;
    }
    if (used == 0 || used != n.size()) throw Error(argument, "\"" + text + "\"", expected);
  }
  return all;
}

Shape lengths(const std::string& argument, const std::string& text) {
  return numbers(argument, text, "lengths: 256,256,256");
}

/// The axes of a line, or the number of its points.
Shape line_numbers(const std::string& text) {
  return numbers("--line", text, "two axes: 0,1, or a number of points");
}

Between between_named(const std::string& name) {
  if (name == "none") return Between::none;
  if (name == "modes") return Between::modes;
  if (name == "points") return Between::points;
  throw Error("--between", "\"" + name + "\"", "none, modes or points");
}

Distribution side(const std::string& name, int ndim, bool input) {
  if (name == "slab") return Distribution::slab(0);
  if (name == "pencil") return Distribution::pencil(input ? ndim - 1 : 0);
  if (name == "brick") return Distribution::brick();
  throw Error(input ? "--input" : "--output", "\"" + name + "\"",
              input ? "slab, pencil or brick" : "natural, transposed, slab1, pencil or brick");
}

}  // namespace

void Case::check_device() const {
  if (device == "cuda" && device_row() == nullptr)
    throw Error("--device", "cuda, of a build without GPUs",
                "host, or a build with WEFT_CUDA=ON or WEFT_HIP=ON");
}

void Case::expand_line(bool has_shape) {
  if (line.empty() || line.find(',') != std::string::npos) return;
  if (has_shape)
    throw Error("--line", "the number " + line + " beside --shape " + shape,
                "two axes of the shape: 0,1, or a number of points without --shape");
  const Shape two = line_shape(line_numbers(line)[0]);
  shape = std::to_string(two[0]) + "," + std::to_string(two[1]);
  line = "0,1";
}

Problem Case::problem() const {
  Problem p;
  p.shape = lengths("--shape", shape);
  const int ndim = p.shape.size();
  p.transforms = transforms_named(transform, ndim);
  if (!modes.empty()) p.modes = lengths("--modes", modes);
  if (!points.empty()) p.points = lengths("--points", points);
  if (!line.empty())
    for (const Index axis : line_numbers(line))
      p.line.push_back(std::in_range<int>(axis) ? static_cast<int>(axis) : -1);
  p.between = between_named(between);
  p.results = results;
  if (precision != "double" && precision != "float")
    throw Error("--precision", "\"" + precision + "\"", "double or float");
  p.precision = precision == "double" ? Precision::float64 : Precision::float32;
  if (direction != "forward" && direction != "backward" && direction != "both")
    throw Error("--direction", "\"" + direction + "\"", "forward, backward or both");
  if (data != "random" && data != "smooth") throw Error("--data", "\"" + data + "\"", "random or smooth");
  p.input = side(input, ndim, true);
  if (output == "natural") {
    p.output = p.input;
  } else if (output == "transposed") {
    // The first two axes have changed places, in memory too, as FFTW-MPI leaves them.
    Order order = c_order(ndim);
    if (ndim > 1) std::swap(order[0], order[1]);
    p.output = Distribution::slab(ndim > 1 ? 1 : 0).with_order(order);
  } else if (output == "slab1" && ndim > 1) {
    p.output = Distribution::slab(1);  // as libraries on GPUs leave them
  } else {
    p.output = side(output, ndim, false);
  }
  if (device != "host" && device != "cuda") throw Error("--device", "\"" + device + "\"", "host or cuda");
  p.memory = device == "cuda" ? MemoryKind::cuda : MemoryKind::host;
  p.in_place = in_place;
  p.batch = batch;
  check_problem(p, 1);  // fills in what the elements are
  return p;
}

double customary_flops(const Problem& problem) {
  double all = static_cast<double>(problem.batch), transformed = 1;
  if (problem.between != Between::none) all += static_cast<double>(arrays_of(problem, Direction::backward));
  const bool real = problem.element == Element::real;
  for (int a = 0; a < problem.shape.size(); ++a) {
    all *= static_cast<double>(problem.shape[a]);
    if (problem.transforms[a] != Transform::none) transformed *= static_cast<double>(problem.shape[a]);
  }
  return (real ? 2.5 : 5.0) * all * std::log2(std::max(transformed, 2.0));
}

}  // namespace weft::bench
