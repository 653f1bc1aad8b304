#include "design/resolve.hpp"

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

}  // namespace

void add_batch(ScheduleRequest& request, Index batch) {
  const int axis = request.shape.size();
  request.batch_axis = axis;
  request.shape.push_back(batch);
  request.transforms.push_back(Transform::none);
  for (TilingPtr* t : {&request.input, &request.output})
    if (*t) *t = std::make_shared<const Tiling>((*t)->with_axis(batch));
  for (std::vector<Order>* orders : {&request.input_orders, &request.output_orders})
    for (Order& order : *orders) {
      order.push_back(axis);
      order = axis_first(order, axis);
    }
}

ScheduleRequest resolve(const Problem& problem, const Gathered& given, int ranks) {
  ScheduleRequest request;
  request.shape = problem.shape;
  request.transforms = problem.transforms;
  request.ranks = ranks;
  request.element = *problem.element;
  request.input_orders = given.input_orders;
  request.output_orders = given.output_orders;
  std::string in_hint, out_hint;
  for (int a = 0; a < problem.shape.size(); ++a)
    if (problem.transforms[a] == Transform::r2c) {
      const std::string n = std::to_string(problem.shape[a]), half = std::to_string(problem.shape[a] / 2 + 1);
      in_hint = "along the r2c axis " + std::to_string(a) + " the input has " + n + " points";
      out_hint =
          "along the r2c axis " + std::to_string(a) + " the output has " + n + "/2+1 = " + half + " points";
    }
  request.input = tiling_of(problem.input, given.input_boxes, problem.shape, ranks, "input", in_hint);
  request.output = tiling_of(problem.output, given.output_boxes,
                             output_shape(problem.shape, problem.transforms), ranks, "output", out_hint);
  if (problem.batch > 1) add_batch(request, problem.batch);
  return request;
}

}  // namespace weft
