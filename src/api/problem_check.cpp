#include "api/problem_check.hpp"

#include <limits>

#include "base/text.hpp"
#include "geometry/layout.hpp"

namespace weft {

namespace {

const char* name_of(Transform t) {
  return t == Transform::none ? "none" : t == Transform::c2c ? "c2c" : "r2c";
}

std::string to_string(const Distribution& d) {
  switch (d.kind()) {
    case Distribution::Kind::slab:
      return "slab(" + std::to_string(d.axis()) + ")";
    case Distribution::Kind::pencil:
      return "pencil(" + std::to_string(d.axis()) + ")";
    case Distribution::Kind::brick:
      return "brick";
    case Distribution::Kind::grid:
      return "grid(" + by_x(d.parts()) + ")";
    case Distribution::Kind::boxes: {
      std::string text = std::to_string(d.box_list().size()) + " boxes";
      for (const Box& b : d.box_list()) text += " " + weft::to_string(b);
      return text;
    }
    case Distribution::Kind::box:
      return "one box of each rank";
    case Distribution::Kind::fastest:
      break;
  }
  return "fastest";
}

void check_shape(const Shape& shape) {
  if (shape.empty()) throw Error("plan: shape", "no axes", "1 to 8 axes");
  Index total = 1;
  for (Index n : shape) {
    if (n < 1) throw Error("plan: shape", by_x(shape), "at least 1 point along every axis");
    if (n > std::numeric_limits<Index>::max() / 64 / total)
      throw Error("plan: shape", by_x(shape), "an array whose bytes can be counted in 63 bits");
    total *= n;
  }
}

void check_distribution(const Distribution& d, const char* what, int ndim, int ranks) {
  const std::size_t wanted = d.kind() == Distribution::Kind::boxes ? static_cast<std::size_t>(ranks) : 1;
  const bool lists = d.kind() == Distribution::Kind::boxes || d.kind() == Distribution::Kind::box;
  if (lists && d.box_list().size() != wanted)
    throw Error(std::string("plan: ") + what + " boxes", std::to_string(d.box_list().size()) + " boxes",
                std::to_string(wanted) + ", one per rank");
  if (!d.order().empty()) check_order(d.order(), ndim);
}

}  // namespace

std::string to_string(const AxisVector<Transform>& transforms) {
  std::string text;
  for (Transform t : transforms) text += (text.empty() ? "" : ",") + std::string(name_of(t));
  return text;
}

void check_problem(Problem& problem, int ranks) {
  check_shape(problem.shape);
  const int ndim = problem.shape.size();
  if (problem.transforms.empty()) problem.transforms = AxisVector<Transform>(ndim, Transform::c2c);
  if (problem.transforms.size() != ndim)
    throw Error("plan: transforms", std::to_string(problem.transforms.size()) + " transforms",
                "one per axis, " + std::to_string(ndim));
  int real_axes = 0;
  for (Transform t : problem.transforms) real_axes += t == Transform::r2c ? 1 : 0;
  if (real_axes > 1)
    throw Error("plan: transforms", to_string(problem.transforms), "r2c along at most one axis");
  check_distribution(problem.input, "input", ndim, ranks);
  check_distribution(problem.output, "output", ndim, ranks);
}

std::vector<std::string> describe(const Problem& problem, const Options& options) {
  std::vector<std::string> lines{
      "shape " + by_x(problem.shape),
      "transforms " + to_string(problem.transforms),
      std::string("precision ") + (problem.precision == Precision::float64 ? "float64" : "float32"),
      "input " + to_string(problem.input),
      "output " + to_string(problem.output),
      std::string("in place ") + (problem.in_place ? "yes" : "no"),
  };
  for (const auto& [name, value] : options.all()) lines.push_back("option " + name + " " + value);
  return lines;
}

}  // namespace weft
