// From a problem, and what the ranks gave, to what the planner of schedules is asked; how boxes lie in
// memory.
#include <algorithm>

#include "base/text.hpp"
#include "design/rules/rules.hpp"
#include "geometry/layout.hpp"
#include "geometry/transform.hpp"

namespace weft {

namespace {

TilingPtr tiling_of(const Distribution& d, const std::vector<Box>& gathered, const Shape& shape, int ranks,
                    const char* what, const std::string& hint) {
  const bool listed = d.kind() == Distribution::Kind::boxes;
  if (!listed && d.kind() != Distribution::Kind::box) return named_tiling(d, shape, ranks, what);
  const std::vector<Box>& boxes = listed ? d.box_list() : gathered;
  check_tiling(what, shape, boxes, hint);
  return std::make_shared<const Tiling>(Tiling::from_boxes(shape, boxes));
}

int shrunk_to(const Wishes& wishes, int ranks) {
  const std::optional<Index> wanted = wishes.shrink.value;
  if (!wanted) return 0;
  if (*wanted < 1 || *wanted > ranks)
    throw Error("plan: option shrink", std::to_string(*wanted) + " ranks",
                "1 to " + std::to_string(ranks) + ", the ranks there are");
  return static_cast<int>(*wanted);
}

/// A grid is one of pencils.
void apply_grid(ScheduleRequest& request, const AxisVector<int>& grid) {
  if (grid.empty()) return;
  if (request.decomposition == Decomposition::slab)
    throw Error("plan: option grid", by_x(grid) + " with decomposition slab",
                "decomposition auto, pencil or brick");
  const int ranks = request.computing_ranks > 0 ? request.computing_ranks : request.ranks;
  if (Index{grid[0]} * grid[1] != ranks)
    throw Error("plan: option grid", by_x(grid) + " on " + std::to_string(ranks) + " ranks",
                "two factors of " + std::to_string(ranks));
  if (request.decomposition == Decomposition::automatic) request.decomposition = Decomposition::pencil;
  request.pencil_grid = grid;
}

}  // namespace

void add_batch(ScheduleRequest& request, Index batch) {
  const int axis = request.shape.size();
  request.batch_axis = axis;
  request.shape.push_back(batch);
  request.transforms.push_back(Transform::none);
  for (Shape* lengths : {&request.points, &request.modes})
    if (!lengths->empty()) lengths->push_back(batch);
  if (request.between == Between::none) request.results = batch;
  if (request.input) request.input = std::make_shared<const Tiling>(request.input->with_axis(batch));
  if (request.output)
    request.output = std::make_shared<const Tiling>(request.output->with_axis(request.results));
  for (std::vector<Order>* orders : {&request.input_orders, &request.output_orders})
    for (Order& order : *orders) {
      order.push_back(axis);
      order = axis_first(order, axis);
    }
}

void add_halves(ScheduleRequest& request) {
  const int axis = request.shape.size();
  request.halves_axis = axis;
  request.shape.push_back(1);
  request.transforms.push_back(Transform::none);
  for (Shape* lengths : {&request.points, &request.modes})
    if (!lengths->empty()) lengths->push_back(1);
  for (TilingPtr* side : {&request.input, &request.output})
    if (*side) *side = std::make_shared<const Tiling>((*side)->with_axis(1));
  for (std::vector<Order>* orders : {&request.input_orders, &request.output_orders})
    for (Order& order : *orders) {
      order.push_back(axis);
      order = axis_first(order, axis);
    }
}

void apply_schedule_wishes(ScheduleRequest& request, const Wishes& wishes) {
  request.decomposition = wishes.decomposition.value;
  request.computing_ranks = shrunk_to(wishes, request.ranks);
  apply_grid(request, wishes.grid.value);
  request.fft_stage = wishes.fft_stage.value;
}

/// An exchange that packs nothing gets long runs of memory to work on, so do codecs, and any other exchange
/// gets lines that are contiguous once they have been unpacked; but GPUs transform strided lines as fast, or
/// copy them aside in less time than a reshape takes for it.
Chosen<bool> choose_layout(const Given& given, const Offers& offers) {
  const Wish<LayoutWish>& wish = given.wishes.layout;
  if (wish.value != LayoutWish::automatic)
    return {wish.value == LayoutWish::contiguous, wish.origin, wish.reason()};
  if (given.on_device()) return {false, Origin::rule, "auto: a GPU transforms strided lines as fast"};
  if (std::all_of(offers.begin(), offers.end(), [](const Offer* o) { return packs_nothing(o->traits); }))
    return {false, Origin::rule, "auto: nothing is packed"};
  if (wants_packed(given.wishes, given.setting))
    return {false, Origin::rule, "auto: rows are coded as they lie"};
  return {true, Origin::rule, "auto: unpacking makes lines contiguous"};
}

ScheduleRequest schedule_request(const Given& given) {
  const Problem& problem = given.problem;
  const Gathered& gathered = given.setting.given;
  ScheduleRequest request;
  request.shape = problem.shape;
  request.transforms = problem.transforms;
  request.line = problem.line;
  request.points = problem.points;
  request.modes = problem.modes;
  request.nyquist = problem.modes_nyquist;
  request.between = problem.between;
  request.results = arrays_of(problem, Direction::backward);
  const std::vector<Index>& caches = given.setting.cache_bytes;
  request.cached_elements = *std::min_element(caches.begin(), caches.end()) / (2 * given.real_size());
  request.ranks = given.setting.ranks();
  request.element = *problem.element;
  request.columns = {gathered.columns};
  request.input_orders = gathered.input_orders;
  request.output_orders = gathered.output_orders;
  request.shared_axes_first = !given.on_device();
  std::string in_hint, out_hint;
  for (int a = 0; a < problem.shape.size(); ++a)
    if (problem.transforms[a] == Transform::r2c) {
      const std::string n = std::to_string(problem.shape[a]),
                        along = "along the r2c axis " + std::to_string(a);
      in_hint = along + " the input has " + n + " points";
      out_hint =
          along + " the output has " + n + "/2+1 = " + std::to_string(problem.shape[a] / 2 + 1) + " points";
    }
  if (problem.between == Between::modes) out_hint = "the output has points, as the input has";
  if (problem.between == Between::points) in_hint = "the input has modes, as the output has";
  if (!problem.modes.empty() && problem.between != Between::modes)
    out_hint = "the output has the shape of the kept modes, " + by_x(problem.modes);
  if (!problem.points.empty() && problem.between != Between::points)
    in_hint = "the input has the shape of the points, " + by_x(problem.points);
  request.input =
      tiling_of(problem.input, gathered.input_boxes, input_shape(problem), request.ranks, "input", in_hint);
  request.output = tiling_of(problem.output, gathered.output_boxes, output_shape(problem), request.ranks,
                             "output", out_hint);
  if (has_batch(problem)) add_batch(request, problem.batch);
  if (splits_line(problem)) add_halves(request);
  apply_schedule_wishes(request, given.wishes);
  return request;
}

}  // namespace weft
