#include "schedule/between.hpp"

#include <algorithm>
#include <utility>

#include "geometry/layout.hpp"

namespace weft {

namespace {

TilingPtr with_batch(const TilingPtr& tiling, int axis, Index batch) {
  if (!tiling || axis < 0 || tiling->shape()[axis] == batch) return tiling;
  return std::make_shared<const Tiling>(tiling->with_extent(axis, batch));
}

/// The way to where the operator is. What is there may be distributed in any way.
Schedule half_of(const ScheduleRequest& request) {
  ScheduleRequest half = request;
  half.between = Between::none;
  half.whole_batch = true;  // the operator gets all arrays of it
  const int batch = request.batch_axis;
  const TilingPtr users = request.input ? request.input
                          : batch < 0   ? request.output
                                        : with_batch(request.output, batch, request.shape[batch]);
  half.input = request.between == Between::modes ? users : nullptr;
  half.output = request.between == Between::modes ? nullptr : users;
  half.output_orders.clear();
  if (request.between == Between::modes) return make_schedule(half);
  std::swap(half.input_orders, half.output_orders);
  return inverse(make_schedule(half));
}

/// The elements that an operator gets at a time at least: all along the axes of its stage, of all arrays.
Index block_elements(const ScheduleRequest& request, const Schedule& s) {
  Index product = request.batch_axis < 0 ? 1 : std::max(request.results, request.shape[request.batch_axis]);
  for (const int a : s.stages.back().axes) product *= request.shape[a];
  return product;
}

/// The slowest axis of a stage that has more than one point, and whose data are complex; -1: there is none.
int slowest_axis(const Schedule& s, const Stage& stage) {
  for (const int a : s.input().order(0))
    if (stage.axes.contains(a) && a != stage.real_axis && s.lengths[a] > 1) return a;
  return -1;
}

/// Divides the last stage of a schedule without reshapes in two: planes and then columns across them, or,
/// backward, where planes become real, columns and then planes.
void divide_by_slowest(Schedule& s) {
  const int slowest = slowest_axis(s, s.stages.back());
  AxisVector<int> others;
  for (const int a : s.stages.back().axes)
    if (a != slowest) others.push_back(a);
  if (slowest < 0 || others.empty()) return;
  const bool forward = s.stages.back().direction == Direction::forward;
  divide_last(s, forward ? others : AxisVector<int>{slowest});
}

/// Ends a schedule with another tiling.
void go_to(const TilingPtr& tiling, Schedule& s) {
  const bool reshapes = s.stages.back().kind == Stage::Kind::reshape;
  Field last = s.fields.back();
  last.tiling = tiling;
  if (reshapes) {  // another way instead
    s.stages.pop_back();
    s.fields.pop_back();
    if (*s.fields.back().tiling == *tiling) return;
  }
  s.stages.push_back({Stage::Kind::reshape, {}, -1, Direction::forward});
  s.fields.push_back(std::move(last));
}

}  // namespace

Schedule there_and_back(const ScheduleRequest& request) {
  Schedule s = half_of(request);
  s.direction = Direction::forward;
  s.mirrored = false;
  if (s.stages.back().axes.empty())
    throw Error("plan: between", "no axis that is transformed", "a transform along one axis at least");
  const TilingPtr end = with_batch(s.input().tiling, request.batch_axis, request.results);
  const bool goes_on = request.output && !(*request.output == *end);
  if (s.stages.size() == 1 && !goes_on && block_elements(request, s) > request.cached_elements)
    divide_by_slowest(s);
  Schedule back = inverse(s);
  Stage& middle = s.stages.back();
  middle.between = s.fields.back().shape;
  middle.real_axis = -1;
  if (request.batch_axis >= 0) middle.axes.push_back(request.batch_axis);
  s.fields.pop_back();
  // From the first FFT of `back` on, which is in the middle already.
  const Index results = request.results;
  for (std::size_t i = 1; i < back.fields.size(); ++i) {
    Field& f = back.fields[i];
    if (request.batch_axis >= 0) {
      f.tiling = with_batch(f.tiling, request.batch_axis, results);
      f.shape[request.batch_axis] = results;
    }
    s.fields.push_back(std::move(f));
    if (i > 1) s.stages.push_back(back.stages[i - 1]);
  }
  if (goes_on) go_to(request.output, s);
  s.reason = "half of the way: " + s.reason;
  if (!request.output_orders.empty()) s.fields.back().orders = request.output_orders;
  return s;
}

}  // namespace weft
