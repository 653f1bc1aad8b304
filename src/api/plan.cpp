#include "weft/plan.hpp"

#include <algorithm>

#include "api/plan_impl.hpp"
#include "geometry/transform.hpp"

namespace weft {

Plan::Plan(const Comm& comm, const Problem& problem, const Options& options)
    : impl_(PlanImpl::make(comm, problem, options)) {}
void Plan::refuse(const Comm& comm, const Error& why) {
  PlanImpl::refuse(comm, why);
}
Plan::~Plan() = default;
Plan::Plan(Plan&&) noexcept = default;
Plan& Plan::operator=(Plan&&) noexcept = default;

namespace {

void check(const char* operation, Direction direction) {
  if (direction != Direction::forward && direction != Direction::backward)
    throw Error(operation, std::to_string(static_cast<int>(direction)), "forward (0) or backward (1)");
}

}  // namespace

PlanImpl& Plan::impl() const {
  if (!impl_) throw Error("plan", "a plan that has been moved away", "the one it was moved to");
  return *impl_;
}

void Plan::execute(Direction direction, const Arrays& arrays) {
  try {
    check("apply", direction);
  } catch (const Error& wrong) {
    impl().refuse_execution("apply", wrong);
  }
  const DeviceRange range(impl().bound->name(direction));
  impl().start(direction, arrays);
  impl().advance(Patience::wait);
}

void Plan::start(Direction direction, const Arrays& arrays) {
  const DeviceRange range(impl().bound->name(direction));
  impl().start(direction, arrays);
  impl().look();  // under way until the caller knows better, on all ranks alike
}

bool Plan::test() {
  return impl().advance(Patience::look) && impl().bound->settled(Patience::look);
}

void Plan::wait() {
  BoundPlan& plan = *impl().bound;
  const DeviceRange range(plan.name(plan.direction()));
  impl().wait();
  plan.settled(Patience::wait);
}

void Plan::set_stream(CUstream_st* stream) {
  impl().bound->use_stream(stream);
  impl().stream = stream;
}

const Box& Plan::input_box() const {
  return impl().arrays[0].box;
}
const Box& Plan::output_box() const {
  return impl().arrays[1].box;
}
const std::vector<ModeColumn>& Plan::columns() const {
  const PlanImpl& plan = impl();
  if (!plan.setting.given.columns)
    throw Error("columns", "a plan whose modes are boxes",
                "modes that are given by columns (Distribution::columns or sphere)");
  return plan.columns;
}
Box Plan::between_box() const {
  const PlanImpl& plan = impl();
  const Schedule& s = plan.design().schedules[0];
  const int stage = stage_of_operator(s);
  if (stage < 0)
    throw Error("between box", "a plan of a transform", "a plan with something between (Problem::between)");
  Box box = at(s.fields, stage).box(plan.comm.rank());
  const int ndim = plan.problem.shape.size();
  for (const int a : at(s.stages, stage).axes)
    if (!box.empty()) box.hi[a] = at(s.stages, stage).between[a];
  return {Shape::from(box.lo.begin(), box.lo.begin() + ndim),
          Shape::from(box.hi.begin(), box.hi.begin() + ndim)};
}
const Order& Plan::input_order() const {
  return impl().arrays[0].order;
}
const Order& Plan::output_order() const {
  return impl().arrays[1].order;
}
const Strides& Plan::input_strides() const {
  return impl().arrays[0].item_strides;
}
const Strides& Plan::output_strides() const {
  return impl().arrays[1].item_strides;
}
Index Plan::input_offset() const {
  return impl().arrays[0].layout.offset;
}
Index Plan::output_offset() const {
  return impl().arrays[1].layout.offset;
}
Index Plan::input_distance() const {
  return impl().arrays[0].distance;
}
Index Plan::output_distance() const {
  return impl().arrays[1].distance;
}
std::size_t Plan::input_count() const {
  return static_cast<std::size_t>(impl().arrays[0].layout.count);
}
std::size_t Plan::output_count() const {
  return static_cast<std::size_t>(impl().arrays[1].layout.count);
}
std::size_t Plan::buffer_bytes() const {
  return std::max(impl().arrays[0].bytes, impl().arrays[1].bytes);
}
std::size_t Plan::workspace_bytes() const {
  const PlanImpl& plan = impl();
  return static_cast<std::size_t>(plan.wishes.users_workspace.value ? plan.users_workspace
                                                                    : plan.bound->allocated_bytes());
}

double Plan::scale_factor() const {
  return logical_size(impl().problem.shape, impl().problem.transforms);
}

void Plan::record_times(bool on) {
  impl().bound->record_times(on);
}

std::vector<OperationTime> Plan::operation_times() const {
  const BoundPlan& plan = *impl().bound;
  return plan.executor(plan.direction()).times();
}

Accuracy Plan::measure(Direction direction, const void* in, Type type) {
  check("measured error", direction);
  return impl().measured_error(direction, in, type);
}

std::string Plan::program_to_string(Direction direction) const {
  check("plan: program", direction);
  return weft::to_string(impl().bound->program(direction));
}

}  // namespace weft
