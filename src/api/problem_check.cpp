#include "api/problem_check.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>

#include "api/user_layout.hpp"
#include "base/text.hpp"
#include "comm/agree.hpp"
#include "geometry/transform.hpp"

namespace weft {

namespace {

/// Two numbers have the same text only if they are equal.
std::string exact_text(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", number);
  return text;
}

std::string to_string(const Distribution& d) {
  using Kind = Distribution::Kind;
  if (d.kind() == Kind::slab) return "slab(" + std::to_string(d.axis()) + ")";
  if (d.kind() == Kind::pencil) return "pencil(" + std::to_string(d.axis()) + ")";
  if (d.kind() == Kind::grid) return "grid(" + by_x(d.parts()) + ")";
  if (d.kind() == Kind::brick) return "brick";
  if (d.kind() == Kind::box) return "one box of each rank";
  if (d.kind() == Kind::fastest) return "fastest";
  if (d.kind() == Kind::columns) return "columns of each rank";
  if (d.kind() == Kind::sphere) return "sphere(" + exact_text(d.radius()) + ")";
  std::string text = std::to_string(d.box_list().size()) + " boxes";
  for (const Box& b : d.box_list()) text += " " + weft::to_string(b);
  return text;
}

void check_shape(const Shape& shape, Index batch) {
  if (shape.empty()) throw Error("plan: shape", "no axes", "1 to 8 axes");
  constexpr Index most = std::numeric_limits<Index>::max() / 64;
  Index total = 1;
  for (Index n : shape) {
    if (n < 1) throw Error("plan: shape", by_x(shape), "at least 1 point along every axis");
    if (n > most / total)
      throw Error("plan: shape", by_x(shape), "an array whose bytes can be counted in 63 bits");
    total *= n;
  }
  if (batch < 1) throw Error("plan: batch", std::to_string(batch), "at least 1 array");
  if (batch > most / total)
    throw Error("plan: batch", std::to_string(batch) + " arrays of " + by_x(shape),
                "arrays whose bytes together can be counted in 63 bits");
}

const char* name_of(Scale s) {
  return s == Scale::none ? "none" : s == Scale::symmetric ? "symmetric" : "full";
}
const char* name_of(Precision p) {
  return p == Precision::float64 ? "float64" : "float32";
}
const char* name_of(Element e) {
  return e == Element::real ? "real" : "complex";
}
const char* name_of(ModesNyquist n) {
  return n == ModesNyquist::shared ? "shared" : n == ModesNyquist::odd ? "odd" : "single";
}
const char* name_of(Between b) {
  return b == Between::none ? "none" : b == Between::modes ? "modes" : "points";
}
const char* name_of(MemoryKind m) {
  return m == MemoryKind::host ? "host" : "cuda";
}

/// A number that no enumerator has may come from another language.
template <class Enumeration>
void check_enumerator(const std::string& what, Enumeration value, Enumeration last,
                      const std::string& where = "") {
  const int number = static_cast<int>(value), most = static_cast<int>(last);
  if (number >= 0 && number <= most) return;
  std::vector<std::string> names;
  for (int i = 0; i <= most; ++i)
    names.push_back(name_of(static_cast<Enumeration>(i)) + (" (" + std::to_string(i) + ")"));
  const std::string last_name = names.back();
  names.pop_back();
  throw Error("plan: " + what, std::to_string(number) + where, join(names, ", ") + " or " + last_name);
}

void check_enumerators(const Problem& problem) {
  check_enumerator("precision", problem.precision, Precision::float64);
  check_enumerator("memory", problem.memory, MemoryKind::cuda);
  if (problem.element) check_enumerator("element", *problem.element, Element::complex);
  check_enumerator("forward scale", problem.forward_scale, Scale::full);
  check_enumerator("backward scale", problem.backward_scale, Scale::full);
  check_enumerator("between", problem.between, Between::points);
  check_enumerator("modes_nyquist", problem.modes_nyquist, ModesNyquist::single);
  for (int a = 0; a < problem.transforms.size(); ++a)
    check_enumerator("transforms", problem.transforms[a], Transform::dst4,
                     " along axis " + std::to_string(a));
}

void check_distribution(const Distribution& d, const char* what, int ranks) {
  const std::size_t wanted = d.kind() == Distribution::Kind::boxes ? static_cast<std::size_t>(ranks) : 1;
  const bool lists = d.kind() == Distribution::Kind::boxes || d.kind() == Distribution::Kind::box;
  if (lists && d.box_list().size() != wanted)
    throw Error(std::string("plan: ") + what + " boxes", std::to_string(d.box_list().size()) + " boxes",
                std::to_string(wanted) + ", one per rank");
}

void check_transforms(const Problem& problem) {
  const auto axes = [&](Transform t) {
    return std::count(problem.transforms.begin(), problem.transforms.end(), t);
  };
  for (int a = 0; a < problem.shape.size(); ++a)
    if (problem.transforms[a] == Transform::dct1 && problem.shape[a] < 2)
      throw Error("plan: transforms", "dct1 of length 1 along axis " + std::to_string(a),
                  "at least 2 points, as its period is 2(n-1)");
  const std::string text = to_string(problem.transforms);
  if (axes(Transform::r2c) > 1) throw Error("plan: transforms", text, "r2c along at most one axis");
  if (problem.element == Element::complex && axes(Transform::r2c) > 0)
    throw Error("plan: transforms", text + " of complex data", "no r2c axis, or real data");
  if (problem.element == Element::real && axes(Transform::r2c) == 0 && axes(Transform::c2c) > 0)
    throw Error("plan: transforms", text + " of real data", "an r2c axis, or complex data");
}

void check_line(const Problem& problem) {
  const AxisVector<int>& line = problem.line;
  if (line.empty()) return;
  const int ndim = problem.shape.size();
  const auto is_axis = [&](int a) { return a >= 0 && a < ndim; };
  if (line.size() != 2 || line[0] == line[1] || !is_axis(line[0]) || !is_axis(line[1]))
    throw Error(
        "plan: line",
        std::to_string(line.size()) + " axes" +
            (line.size() == 2 ? ", " + std::to_string(line[0]) + " and " + std::to_string(line[1]) : ""),
        "two different axes of " + std::to_string(ndim));
  for (const int a : line)
    if (const Transform t = problem.transforms[a]; t != Transform::c2c && t != Transform::r2c)
      throw Error(
          "plan: line", std::string(name_of(t)) + " along axis " + std::to_string(a),
          std::string("c2c along both axes of a line, or r2c along one of them") +
              (is_r2r(t) ? "; a DCT or DST is r2c of the line that is extended evenly or oddly" : ""));
  if (!splits_line(problem)) return;
  for (int a = 0; a < ndim; ++a)
    if (const Transform t = problem.transforms[a]; t == Transform::c2c && !line.contains(a))
      throw Error("plan: line",
                  "c2c along axis " + std::to_string(a) + " beside r2c along the second axis of a line",
                  "r2c along its first axis, or no c2c along other axes");
  const int more = has_batch(problem) ? 2 : 1;
  if (ndim > max_axes - more)
    throw Error("plan: line", "a real line of an array with " + std::to_string(ndim) + " axes",
                "at most " + std::to_string(max_axes - more) + " axes" + (more == 2 ? " with a batch" : "") +
                    ", or r2c along the first axis of the line");
}

/// Lengths of one side of which some are shorter than they could be; all of them are `all`.
void check_shorter(const Problem& problem, const char* what, const Shape& lengths, const Shape& all) {
  const std::string operation = std::string("plan: ") + what;
  if (lengths.size() != all.size())
    throw Error(operation, std::to_string(lengths.size()) + " lengths",
                "one per axis, " + std::to_string(all.size()) + ", or none");
  for (int a = 0; a < all.size(); ++a) {
    const Index n = lengths[a];
    const std::string where = " along axis " + std::to_string(a);
    if (n == all[a]) continue;
    if (problem.transforms[a] == Transform::none || problem.line.contains(a))
      throw Error(operation, std::to_string(n) + where,
                  std::to_string(all[a]) + ", as the axis is " +
                      (problem.line.contains(a) ? "part of a line" : "not transformed"));
    if (n < 1 || n > all[a])
      throw Error(operation, std::to_string(n) + where,
                  "1 to " + std::to_string(all[a]) + ", which a transform of " +
                      std::to_string(problem.shape[a]) + " points has");
  }
}

/// Afterwards there are lengths only if they differ from all.
void check_lengths(Problem& problem) {
  const Shape modes = output_shape(problem.shape, problem.transforms);
  if (!problem.points.empty()) check_shorter(problem, "points", problem.points, problem.shape);
  if (!problem.modes.empty()) check_shorter(problem, "modes", problem.modes, modes);
  if (problem.points == problem.shape) problem.points = {};
  if (problem.modes == modes) problem.modes = {};
}

void check_between(const Problem& problem) {
  if (problem.results < 0 || (problem.results > 0 && problem.between == Between::none))
    throw Error("plan: results", std::to_string(problem.results),
                problem.between == Between::none ? "0, as there is no operator (Problem::between)"
                                                 : "a number of arrays, or 0: those of the batch");
  if (problem.between == Between::none) return;
  check_shape(problem.shape, std::max(problem.results, problem.batch));
  if (!problem.line.empty()) throw Error("plan: between", "a line", "a problem without Problem::line");
  if (std::all_of(problem.transforms.begin(), problem.transforms.end(),
                  [](Transform t) { return t == Transform::none; }))
    throw Error("plan: between", "no axis that is transformed", "a transform along one axis at least");
}

/// Of a distribution of modes by columns: that it is on a side of modes, and what its problem may have.
void check_columns(const Problem& problem) {
  constexpr const char* operation = "plan: columns";
  const bool input = has_columns(problem.input), output = has_columns(problem.output);
  if (!input && !output) return;
  const bool both = problem.between == Between::points;
  for (const Distribution* d : {&problem.input, &problem.output})
    if (!(d->radius() >= 0))
      throw Error("plan: sphere", "a radius of " + exact_text(d->radius()), "a number of periods from 0 on");
  if (problem.between == Between::modes)
    throw Error(operation, "columns with modes between", "points between, or a transform alone");
  if (input && !both) throw Error(operation, "columns as the input", "columns of modes, as the output");
  if (both &&
      (problem.input.kind() != problem.output.kind() || problem.input.radius() != problem.output.radius()))
    throw Error(operation, to_string(problem.input) + " and " + to_string(problem.output),
                "the same on both sides, between which are points");
  const int ndim = problem.shape.size();
  if (ndim < 2) throw Error(operation, "an array of one axis", "at least two axes");
  for (int a = 0; a < ndim; ++a)
    if (const Transform t = problem.transforms[a];
        t != Transform::c2c && !(t == Transform::r2c && a == ndim - 1))
      throw Error(operation, std::string(name_of(t)) + " along axis " + std::to_string(a),
                  "c2c along every axis, or r2c along the last");
  if (!problem.line.empty()) throw Error(operation, "a line", "a problem without Problem::line");
  if (!problem.points.empty() || !problem.modes.empty())
    throw Error(operation, std::string(problem.points.empty() ? "modes" : "points") + " as well",
                "columns alone, which say what modes there are");
  if (problem.in_place) throw Error(operation, "an array in place", "arrays of their own for both sides");
  for (const Distribution* d : {&problem.input, &problem.output})
    if (has_columns(*d) && (!d->order().empty() || !d->strides().empty() || !d->halo_lower().empty() ||
                            !d->halo_upper().empty() || d->r2c_padding()))
      throw Error(operation, "a memory order, strides, a halo or padding",
                  "none of these: columns are one after the other");
}

/// Real if an axis is r2c, or if there are DCTs and DSTs and nothing else.
Element natural_element(const AxisVector<Transform>& transforms) {
  if (transforms.contains(Transform::r2c)) return Element::real;
  const bool r2r = std::any_of(transforms.begin(), transforms.end(), is_r2r);
  return r2r && !transforms.contains(Transform::c2c) ? Element::real : Element::complex;
}

std::string line_text(const Problem& problem) {
  return std::to_string(problem.line[0]) + " and " + std::to_string(problem.line[1]);
}

}  // namespace

void check_problem(Problem& problem, int ranks) {
  check_enumerators(problem);
  check_shape(problem.shape, problem.batch);
  const int ndim = problem.shape.size();
  if (problem.transforms.empty()) problem.transforms = AxisVector<Transform>(ndim, Transform::c2c);
  if (problem.transforms.size() != ndim)
    throw Error("plan: transforms", std::to_string(problem.transforms.size()) + " transforms",
                "one per axis, " + std::to_string(ndim));
  if (!problem.element) problem.element = natural_element(problem.transforms);
  check_transforms(problem);
  check_line(problem);
  check_lengths(problem);
  check_between(problem);
  check_columns(problem);
  if (problem.results == problem.batch) problem.results = 0;
  if (has_batch(problem) && ndim == max_axes)
    throw Error("plan: batch", "a batch of arrays with " + std::to_string(ndim) + " axes",
                "at most " + std::to_string(max_axes - 1) + " axes");
  check_distribution(problem.input, "input", ranks);
  check_distribution(problem.output, "output", ranks);
  check_memory(problem.input, problem, true);
  check_memory(problem.output, problem, false);
}

std::vector<std::string> describe(const Problem& problem) {
  std::vector<std::string> lines{
      "shape " + by_x(problem.shape),
      "transforms " + to_string(problem.transforms),
      std::string("precision ") + name_of(problem.precision),
      "input " + to_string(problem.input),
      "output " + to_string(problem.output),
      std::string("in place ") + (problem.in_place ? "yes" : "no"),
      std::string("elements ") + name_of(*problem.element),
      "batch " + std::to_string(problem.batch),
      std::string("forward scale ") + name_of(problem.forward_scale),
      std::string("backward scale ") + name_of(problem.backward_scale),
  };
  if (problem.memory == MemoryKind::cuda) lines.emplace_back("memory cuda");
  if (!problem.points.empty()) lines.push_back("points " + by_x(problem.points));
  if (!problem.modes.empty())
    lines.push_back("modes " + by_x(problem.modes) + ", Nyquist " + name_of(problem.modes_nyquist));
  if (problem.between != Between::none)
    lines.push_back(std::string("between ") + name_of(problem.between) + ", " +
                    std::to_string(arrays_of(problem, Direction::backward)) + " results");
  if (!problem.line.empty()) lines.push_back("line " + line_text(problem));
  return lines;
}

void compare_lines(CommImpl& comm, const std::vector<std::string>& mine) {
  const std::vector<std::string> first = split_lines(comm.broadcast(join(mine, "\n") + "\n", 0));
  together(comm, "plan", [&] {
    const auto line = [](const std::vector<std::string>& of, std::size_t i) {
      return i < of.size() ? of[i] : "";
    };
    for (std::size_t i = 0; i < std::max(mine.size(), first.size()); ++i)
      if (line(mine, i) != line(first, i))
        throw Error("plan", line(mine, i),
                    line(first, i) + " as on rank 0: ranks must give the same problem");
  });
}

std::string title_of(const Problem& problem, const Comm& comm) {
  return title_of(problem, comm.size(), comm.medium());
}

std::string title_of(const Problem& problem, int ranks, const std::string& medium) {
  return by_x(problem.shape) + " " + to_string(problem.transforms) + " of " + name_of(*problem.element) +
         " " + name_of(problem.precision) +
         (problem.line.empty() ? "" : ", axes " + line_text(problem) + " one line") +
         (problem.points.empty() ? "" : ", " + by_x(problem.points) + " points given") +
         (problem.modes.empty() ? "" : ", " + by_x(problem.modes) + " modes kept") +
         (problem.between == Between::none
              ? ""
              : std::string(", an operator on ") + name_of(problem.between) + " between") +
         (problem.results > 0 ? ", " + std::to_string(problem.results) + " results" : "") +
         (problem.batch > 1 ? ", batch of " + std::to_string(problem.batch) : "") +
         (problem.in_place ? ", in place" : "") + ", on " + std::to_string(ranks) + " ranks (" + medium + ")";
}

}  // namespace weft
