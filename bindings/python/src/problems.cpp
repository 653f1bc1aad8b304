// Problems: distributions are classes in Python, all the rest is arguments of plans.
#include "bindings.hpp"

namespace weft::python {

namespace {

using nanobind::arg;

constexpr std::array transform_names{"none", "c2c",  "r2c",  "dct1", "dct2", "dct3",
                                     "dct4", "dst1", "dst2", "dst3", "dst4"};
constexpr std::array element_names{"real", "complex"};
constexpr std::array precision_names{"float32", "float64"};
constexpr std::array nyquist_names{"shared", "odd", "single"};
constexpr std::array between_names{"none", "modes", "points"};
constexpr std::array scale_names{"none", "symmetric", "full"};
constexpr std::array kind_names{"slab", "pencil",  "brick",   "grid",  "boxes",
                                "box",  "fastest", "columns", "sphere"};

Distribution of_all_boxes(const std::vector<Corners>& corners) {
  std::vector<Box> boxes;
  for (const Corners& c : corners) boxes.push_back(box_of(c));
  return Distribution::boxes(std::move(boxes));
}

Distribution of_columns(const std::vector<Shape>& first, const std::vector<Index>& count) {
  if (first.size() != count.size())
    throw Error("plan: columns", std::to_string(count.size()) + " counts",
                std::to_string(first.size()) + ", one for each column");
  std::vector<ModeColumn> columns;
  for (std::size_t i = 0; i < first.size(); ++i) columns.push_back({first[i], count[i]});
  return Distribution::columns(std::move(columns));
}

nanobind::tuple key_of(const Distribution& d) {
  std::vector<Corners> boxes;
  for (const Box& box : d.box_list()) boxes.push_back(corners_of(box));
  nanobind::object listed = nanobind::tuple(nanobind::cast(boxes));
  nanobind::list columns;
  for (const ModeColumn& c : d.column_list()) columns.append(nanobind::make_tuple(c.first, c.count));
  return nanobind::make_tuple(static_cast<int>(d.kind()), d.axis(), d.parts(), listed, d.order(), d.strides(),
                              d.halo_lower(), d.halo_upper(), d.r2c_padding(), nanobind::tuple(columns),
                              d.radius());
}

}  // namespace

Problem problem_of(const PlanArguments& arguments, const Distribution& input, const Distribution& output) {
  Problem problem;
  problem.shape = arguments.shape;
  for (const std::string& name : arguments.transforms)
    problem.transforms.push_back(named<Transform>("transforms", name, transform_names));
  problem.precision = named<Precision>("precision", arguments.precision, precision_names);
  if (!arguments.element.empty())
    problem.element = named<Element>("element", arguments.element, element_names);
  problem.forward_scale = named<Scale>("forward scale", arguments.forward_scale, scale_names);
  problem.backward_scale = named<Scale>("backward scale", arguments.backward_scale, scale_names);
  problem.memory = arguments.device < 0 ? MemoryKind::host : MemoryKind::cuda;
  problem.input = input;
  problem.output = output;
  problem.in_place = arguments.in_place;
  problem.batch = arguments.batch;
  problem.points = arguments.points;
  problem.modes = arguments.modes;
  problem.modes_nyquist = named<ModesNyquist>("modes_nyquist", arguments.modes_nyquist, nyquist_names);
  problem.between = named<Between>("between", arguments.between, between_names);
  problem.results = arguments.results;
  problem.line = AxisVector<int>::from(arguments.line.begin(), arguments.line.end());
  problem.input_distance = arguments.input_distance;
  problem.output_distance = arguments.output_distance;
  return problem;
}

Options options_of(const PlanArguments& arguments) {
  Options options;
  for (const auto& [name, value] : arguments.options) options.set(name, value);
  return options;
}

void bind_problems(nanobind::module_& module) {
  module.def(
      "line_shape",
      [](Index n) {
        const Shape shape = line_shape(n);
        return nanobind::make_tuple(shape[0], shape[1]);
      },
      arg("n"),
      "Two lengths whose product is n, as nearly equal as they can be, the second the larger one: the axes "
      "of "
      "a line. A prime is a `weft.Error`.");
  nanobind::class_<Distribution>(module, "Distribution",
                                 "Which rank holds which part of an array, and in which memory order. Axes "
                                 "are cut evenly, the larger parts first.")
      .def_static("slab", &Distribution::slab, arg("axis"), "Cut along one axis.")
      .def_static("pencil", &Distribution::pencil, arg("local_axis"),
                  "Whole lines along local_axis, cut along the first two other axes.")
      .def_static("brick", &Distribution::brick, "Cut along the first three axes, with the smallest surface.")
      .def_static("grid", &Distribution::grid, arg("parts"),
                  "Cut into parts[a] parts along axis a; ranks run through the grid in C order.")
      .def_static("boxes", of_all_boxes, arg("boxes"),
                  "The boxes (lo, hi) of all ranks, the same list on every rank.")
      .def_static(
          "box", [](const Corners& corners) { return Distribution::box(box_of(corners)); }, arg("box"),
          "The box (lo, hi) of the calling rank; planning gathers the others.")
      .def_static("fastest", &Distribution::fastest,
                  "What makes the transform fastest; the plan tells which.")
      .def_static("columns", of_columns, arg("first"), arg("count"),
                  "Modes column by column, and no others: of this rank's column i the modes first[i], one "
                  "number per axis, and those behind it along axis 0, count[i] in all. Numbers are periods, "
                  "from -n//2 to n-1. This rank's array has one axis: its columns one after the other. "
                  "Columns may be on any rank, but no two have the same numbers along the axes behind the "
                  "first. For the output, or with between='points' for both sides; c2c along every axis, or "
                  "r2c along the last.")
      .def_static("sphere", &Distribution::sphere, arg("radius"),
                  "The modes of at most `radius` periods over all axes, by columns that are shared out so "
                  "that ranks have about as many modes each; `Plan.columns` tells them.")
      .def("with_order", &Distribution::with_order, arg("order"),
           "The same with a memory order: the axes from slowest to fastest, on the calling rank.")
      .def("with_strides", &Distribution::with_strides, arg("strides"),
           "The same with strides of the calling rank's array, in elements (NumPy counts bytes).")
      .def("with_halo", &Distribution::with_halo, arg("lower"), arg("upper"),
           "The same with lower[a] points before and upper[a] after the box along axis a. Arrays then have "
           "the halo.")
      .def("with_r2c_padding", &Distribution::with_r2c_padding,
           "The same with FFTW's layout of real data in place: lines along the r2c axis, the last one in "
           "memory, "
           "have room for 2(n//2+1) real numbers. Only for the input.")
      .def_prop_ro(
          "kind", [](const Distribution& d) { return kind_names.at(static_cast<std::size_t>(d.kind())); },
          "'slab', 'pencil', 'brick', 'grid', 'boxes', 'box', 'fastest', 'columns' or 'sphere'.")
      .def_prop_ro("key", key_of, "A tuple that distributions have in common if and only if they are equal.")
      .def_prop_ro(
          "halo",
          [](const Distribution& d) {
            return Corners{d.halo_lower(), d.halo_upper()};
          },
          "The points before and after the box along each axis; empty without a halo.");
  nanobind::class_<PlanArguments>(module, "PlanArguments")
      .def(nanobind::init<>())
      .def_rw("shape", &PlanArguments::shape)
      .def_rw("transforms", &PlanArguments::transforms)
      .def_rw("precision", &PlanArguments::precision)
      .def_rw("element", &PlanArguments::element)
      .def_rw("forward_scale", &PlanArguments::forward_scale)
      .def_rw("backward_scale", &PlanArguments::backward_scale)
      .def_rw("in_place", &PlanArguments::in_place)
      .def_rw("batch", &PlanArguments::batch)
      .def_rw("line", &PlanArguments::line)
      .def_rw("modes", &PlanArguments::modes)
      .def_rw("points", &PlanArguments::points)
      .def_rw("modes_nyquist", &PlanArguments::modes_nyquist)
      .def_rw("between", &PlanArguments::between)
      .def_rw("results", &PlanArguments::results)
      .def_rw("device", &PlanArguments::device)
      .def_rw("input_distance", &PlanArguments::input_distance)
      .def_rw("output_distance", &PlanArguments::output_distance)
      .def(
          "set_option",
          [](PlanArguments& arguments, const std::string& name, const std::string& value) {
            Options().set(name, value);  // throws for what does not exist
            arguments.options[name] = value;
          },
          arg("name"), arg("value"));
}

}  // namespace weft::python
