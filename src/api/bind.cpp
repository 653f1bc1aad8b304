#include "api/bind.hpp"

#include "api/problem_check.hpp"
#include "api/user_layout.hpp"
#include "base/text.hpp"
#include "base/warning.hpp"
#include "comm/agree.hpp"
#include "geometry/transform.hpp"

namespace weft {

namespace {

/// An array of columns has one axis.
UserArray array_of_columns(const Problem& problem, const ModeColumns& columns, bool is_input, int rank) {
  UserArray a;
  const Index modes = columns.modes_of(rank), first = at(columns.first_mode, rank);
  a.box = {{first}, {first + modes}};
  a.order = {0};
  a.layout = user_layout(problem, is_input, a.box, a.order);
  return a;
}

UserArray array_of_box(const Problem& problem, const Field& field, bool is_input, int rank) {
  UserArray a;
  const Box box = field.box(rank);
  const int ndim = problem.shape.size();
  a.box = {Shape::from(box.lo.begin(), box.lo.begin() + ndim),
           Shape::from(box.hi.begin(), box.hi.begin() + ndim)};
  for (int axis : field.order(rank))
    if (axis < ndim) a.order.push_back(axis);
  a.layout = user_layout(problem, is_input, a.box, a.order);
  return a;
}

UserArray user_array(const Problem& problem, const Schedule& forward, bool is_input, int rank) {
  const Field& field = is_input ? forward.input() : forward.output();
  UserArray a = field.columns ? array_of_columns(problem, *forward.columns.given, is_input, rank)
                              : array_of_box(problem, field, is_input, rank);
  a.element = field.element;
  a.item_strides = Strides::from(a.layout.strides.begin(), a.layout.strides.begin() + a.box.ndim());
  a.distance = has_batch(problem) ? a.layout.strides[a.box.ndim()] : a.layout.count;
  const Index element = (field.element == Element::real ? 1 : 2) * real_bytes(problem.precision);
  a.bytes = static_cast<std::size_t>(a.layout.count * element);
  return a;
}

/// Before and after forward. Throws `weft::Error` if the memory that the problem describes does not fit.
std::array<UserArray, 2> user_arrays(const Problem& problem, const Schedule& forward, int rank) {
  std::array<UserArray, 2> arrays{user_array(problem, forward, true, rank),
                                  user_array(problem, forward, false, rank)};
  check_in_place(problem, arrays[0].box, arrays[0].layout, arrays[1].box, arrays[1].layout);
  return arrays;
}

ExecutorSettings executor_settings(const PlanRequest& request, const Wishes& wishes, const Design& design) {
  ExecutorSettings s;
  s.precision = request.problem.precision;
  s.effort = wishes.effort_of_ffts();
  // Of one plan there are some ten at most, and where there are trials, with tiles of other sizes, some
  // hundred.
  const double most = makes_trials(wishes.effort.value) ? 100 : 10;
  if (s.effort != Effort::estimate) s.planning_seconds = std::max(wishes.trial_seconds() / most, 1e-3);
  s.ffts = find_ffts(wishes.fft.value, request.problem.memory);
  s.compare_ffts = wishes.fft.value == "auto" && s.effort != Effort::estimate;
  s.pool = request.comm.impl().pool(design.threads.value);
  s.device = request.devices.mine;
  s.plain_executions = design.plain_executions.value;
  s.largest_in_turn = design.memory.largest_in_turn;
  return s;
}

/// Local.
BoundProblem bound(const PlanRequest& request, const Wishes& wishes, const Setting& setting, Design design) {
  const int rank = request.comm.rank();
  // So that arrays in memory of a GPU are told from those on the host.
  if (!request.devices.mine && device_row() != nullptr) device_row()->notice();
  BoundProblem b;
  b.arrays = user_arrays(request.problem, design.schedules[0], rank);
  Binding binding{request.comm,
                  by_x(request.problem.shape),
                  title_of(request.problem, request.comm),
                  {b.arrays[0].layout, b.arrays[1].layout},
                  {b.arrays[0].bytes, b.arrays[1].bytes},
                  executor_settings(request, wishes, design),
                  request.devices.ids,
                  setting.near_groups(),
                  request.room};
  b.plan = std::make_unique<BoundPlan>(std::move(design), std::move(binding));
  return b;
}

}  // namespace

BoundProblem bind(const PlanRequest& request, const Wishes& wishes, Setting& setting,
                  std::optional<Design> made, bool trial) {
  CommImpl& c = request.comm.impl();
  const bool warns = c.rank() == 0 && !trial;
  std::optional<DeviceScope> scope;
  if (request.devices.mine) scope.emplace(*request.devices.mine);
  BoundProblem b;
  for (std::optional<Obstacle> obstacle = Obstacle{}; obstacle;) {
    b = {};  // gives back its memory first
    together(c, "plan", [&] {
      if (!made) made = design(request.problem, wishes, setting);
      b = bound(request, wishes, setting, std::move(*made));
    });
    made.reset();
    obstacle = b.plan->make_memory();
    if (!obstacle) break;
    setting.closed.*obstacle->what = obstacle->why;
    if (warns && obstacle->what == &Closed::sharing)
      warn("exchange auto is not direct: " + obstacle->why + "; better " + obstacle->better);
  }
  b.plan->connect();
  if (const std::string& crowd = b.plan->design().threads.reason; warns && !crowd.empty()) warn(crowd);
  return b;
}

}  // namespace weft
