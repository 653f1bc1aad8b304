#include "api/gather.hpp"

#include <algorithm>

#include "api/user_layout.hpp"
#include "geometry/layout.hpp"

namespace weft {

namespace {

template <class T>
std::vector<T> all_of(CommImpl& comm, const T& mine) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<T> all(static_cast<std::size_t>(comm.size()));
  comm.allgather(&mine, sizeof mine, all.data());
  return all;
}

std::vector<Order> orders_of(CommImpl& comm, const Distribution& d, int ndim) {
  std::vector<Order> orders = all_of(comm, order_asked_for(d));
  const bool none = std::all_of(orders.begin(), orders.end(), [](const Order& o) { return o.empty(); });
  if (none && d.kind() == Distribution::Kind::fastest) return {};
  for (Order& o : orders)
    if (o.empty()) o = c_order(ndim);
  if (std::all_of(orders.begin(), orders.end(), [&](const Order& o) { return o == orders.front(); }))
    orders.resize(1);
  return orders;
}

std::vector<Box> boxes_of(CommImpl& comm, const Distribution& d) {
  if (d.kind() != Distribution::Kind::box) return {};
  return all_of(comm, d.box_list().front());
}

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

Gathered gather(CommImpl& comm, const Problem& problem) {
  const int ndim = problem.shape.size();
  Gathered g;
  g.input_boxes = boxes_of(comm, problem.input);
  g.output_boxes = boxes_of(comm, problem.output);
  g.input_orders = orders_of(comm, problem.input, ndim);
  g.output_orders = orders_of(comm, problem.output, ndim);
  return g;
}

ScheduleRequest resolve(const Problem& problem, const Gathered& gathered, int ranks) {
  ScheduleRequest request;
  request.shape = problem.shape;
  request.transforms = problem.transforms;
  request.ranks = ranks;
  request.element = *problem.element;
  request.input_orders = gathered.input_orders;
  request.output_orders = gathered.output_orders;
  std::string in_hint, out_hint;
  for (int a = 0; a < problem.shape.size(); ++a)
    if (problem.transforms[a] == Transform::r2c) {
      const std::string n = std::to_string(problem.shape[a]), half = std::to_string(problem.shape[a] / 2 + 1);
      in_hint = "along the r2c axis " + std::to_string(a) + " the input has " + n + " points";
      out_hint =
          "along the r2c axis " + std::to_string(a) + " the output has " + n + "/2+1 = " + half + " points";
    }
  request.input = tiling_of(problem.input, gathered.input_boxes, problem.shape, ranks, "input", in_hint);
  request.output = tiling_of(problem.output, gathered.output_boxes,
                             output_shape(problem.shape, problem.transforms), ranks, "output", out_hint);
  if (problem.batch > 1) add_batch(request, problem.batch);
  return request;
}

}  // namespace weft
