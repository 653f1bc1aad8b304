#include "weft/plan.hpp"

#include <algorithm>
#include <cstdint>

#include "api/plan_impl.hpp"
#include "base/backoff.hpp"
#include "base/test_hook.hpp"
#include "comm/agree.hpp"

namespace weft {

namespace {

bool overlap(const void* a, std::size_t a_bytes, const void* b, std::size_t b_bytes) {
  if (a_bytes == 0 || b_bytes == 0) return false;
  const auto x = reinterpret_cast<std::uintptr_t>(a), y = reinterpret_cast<std::uintptr_t>(b);
  return x < y + b_bytes && y < x + a_bytes;
}

}  // namespace

const char* name_of(Direction d) {
  return d == Direction::forward ? "forward" : "backward";
}

void PlanImpl::check_type(const char* operation, const char* which, Type type, Element element) const {
  if (type == Type::any) return;
  const bool wide = problem.precision == Precision::float64;
  const char* names[] = {"", "float", "double", "std::complex<float>", "std::complex<double>"};
  const Type real = wide ? Type::real64 : Type::real32, complex = wide ? Type::complex64 : Type::complex32;
  if (type == real || (type == complex && element == Element::complex)) return;
  std::string wanted = names[static_cast<int>(real)];
  if (element == Element::complex) wanted = names[static_cast<int>(complex)] + (" or " + wanted);
  throw Error(std::string(operation) + ": " + which,
              std::string("elements of ") + names[static_cast<int>(type)], wanted, comm.rank());
}

/// Among the plans of one Comm, those whose exchanges are collective have to be alone.
void PlanImpl::check_in_flight(const char* operation) const {
  if (flying)
    throw Error(operation, std::string("a plan whose ") + name_of(*flying) + " is under way",
                "wait() before that, or a second plan", comm.rank());
  bool in_the_way = false;
  for (const CommImpl::Flight* f = comm.impl().flights(); f != nullptr; f = f->next)
    in_the_way = in_the_way || alone || f->alone;
  if (in_the_way)
    throw Error(operation,
                "another plan of these ranks is under way, and one of the two has collective exchanges",
                "wait() for it, exchange p2p for both, or a Comm of its own", comm.rank());
}

void PlanImpl::check_arrays(Direction direction, const Arrays& a) const {
  const char* op = name_of(direction);
  const Side& in = sides[direction == Direction::forward ? 0 : 1];
  const Side& out = sides[direction == Direction::forward ? 1 : 0];
  const int rank = comm.rank();
  if (broken) throw Error(op, "a plan whose earlier execution failed in the middle", "a new plan", rank);
  check_in_flight(op);
  check_type(op, "in", a.in_type, in.element);
  check_type(op, "out", a.out_type, out.element);
  if (a.in == nullptr && in.bytes > 0)
    throw Error(op, "in is null", "the input box " + weft::to_string(in.box), rank);
  if (a.out == nullptr && out.bytes > 0)
    throw Error(op, "out is null", "the output box " + weft::to_string(out.box), rank);
  if (problem.in_place) {
    if (in.bytes > 0 && out.bytes > 0 && a.in != a.out)
      throw Error(op, "two different arrays", "in == out, as the problem is in place", rank);
  } else if (overlap(a.in, in.bytes, a.out, out.bytes)) {
    throw Error(op, "in and out overlap", "separate arrays, or a problem that is in place", rank);
  }
  if (in.bytes > 0) check_place(op, "in", a.in);
  if (out.bytes > 0) check_place(op, "out", a.out);
  check_memory(op, a, in, out);
}

/// Memory of the other kind is told before anything touches it.
void PlanImpl::check_place(const char* op, const char* which, const void* pointer) const {
  const int rank = comm.rank();
  if (pointer == nullptr) return;  // in place one of the two may be
  if (reinterpret_cast<std::uintptr_t>(pointer) % static_cast<std::uintptr_t>(real_size()) != 0)
    throw Error(op, std::string(which) + " is not on a multiple of " + std::to_string(real_size()) + " bytes",
                "memory that is aligned for its elements", rank);
  if (!device) {
    const DeviceRow* row = device_row();
    if (row != nullptr && row->holds(pointer))
      throw Error(op, std::string(which) + " is in memory of a GPU",
                  "memory of the host, or a problem whose memory is cuda", rank);
    return;
  }
  if (!device->holds(pointer))
    throw Error(op, std::string(which) + " is not in memory of " + device->name(),
                "memory of the GPU that was the thread's when the plan was made", rank);
  if (reinterpret_cast<std::uintptr_t>(pointer) % 16 != 0)
    throw Error(op, std::string(which) + " does not start on a multiple of 16 bytes", "aligned memory", rank);
}

void PlanImpl::check_memory(const char* op, const Arrays& a, const Side& in, const Side& out) const {
  const int rank = comm.rank();
  const auto needed = static_cast<std::size_t>(workspace_bytes);
  if (!users_workspace) {
    if (a.workspace != nullptr)
      throw Error(op, "workspace for a plan that owns its own", "option workspace=user, or none", rank);
    return;
  }
  if (needed == 0) return;
  if (a.workspace == nullptr || a.workspace_bytes < needed)
    throw Error(op, std::to_string(a.workspace == nullptr ? 0 : a.workspace_bytes) + " bytes of workspace",
                "at least " + std::to_string(needed), rank);
  if (reinterpret_cast<std::uintptr_t>(a.workspace) % 16 != 0)
    throw Error(op, "workspace that is not on a multiple of 16 bytes", "aligned workspace", rank);
  if (overlap(a.workspace, needed, a.in, in.bytes) || overlap(a.workspace, needed, a.out, out.bytes))
    throw Error(op, "workspace that overlaps in or out", "separate memory", rank);
  check_place(op, "workspace", a.workspace);
  if (device && reinterpret_cast<std::uintptr_t>(a.workspace) % 256 != 0)
    throw Error(op, "workspace that is not on a multiple of 256 bytes", "aligned workspace", rank);
}

void PlanImpl::check_alone(Direction direction, const Arrays& arrays) const {
  try {
    check_arrays(direction, arrays);
  } catch (const Error& e) {
    if (comm.size() == 1) throw;
    throw Error(e.operation(), e.got(),
                e.expected() +
                    " (nothing has moved; other ranks may wait for this one, use option "
                    "check=collective to let all fail together)",
                e.rank());
  }
}

/// What a rank fails to do here, others wait for.
template <class Step>
auto PlanImpl::failing_together(const Step& step) {
  try {
    return step();
  } catch (...) {
    broken = true;
    comm.impl().poison(std::current_exception());
    give_up();
    throw;
  }
}

void PlanImpl::start(Direction direction, const Arrays& arrays) {
  CommImpl& c = comm.impl();
  c.check_alive(name_of(direction));
  if (collective_check) {
    agree(c, name_of(direction), [&] { check_arrays(direction, arrays); });
  } else {
    check_alone(direction, arrays);
  }
  std::byte* workspace = memory ? memory.get() : static_cast<std::byte*>(arrays.workspace);
  if (in_second) workspace += second_workspace;
  in_second = second_workspace > 0 && !in_second;
  if (!device) test_workspace(workspace, static_cast<std::size_t>(workspace_bytes));
  // In place one of the two may be null, on a rank that holds nothing on that side.
  const void* in = arrays.in != nullptr || !problem.in_place ? arrays.in : arrays.out;
  void* out = arrays.out != nullptr || !problem.in_place ? arrays.out : const_cast<void*>(arrays.in);
  flying = direction;
  last = direction;
  c.take_off(*this);
  failing_together([&] { way(direction).executor->start(in, out, workspace); });
}

bool PlanImpl::advance(Patience patience) {
  if (!flying) {
    if (broken)
      throw Error("test or wait", "a plan whose execution failed in the middle", "a new plan", comm.rank());
    return true;
  }
  const bool complete = go_on(patience);
  if (complete) land();
  return complete;
}

bool PlanImpl::go_on(Patience patience) {
  CommImpl& c = comm.impl();
  c.check_caller(name_of(*flying));
  return failing_together([&] {
    c.check_alive(name_of(*flying));
    return way(*flying).executor->advance(patience);
  });
}

/// Beside other executions it looks after them as well: their peers may wait for this plan in another order.
void PlanImpl::wait() {
  const auto others = [&] { return comm.impl().flights() != this || next != nullptr; };
  for (Backoff backoff; flying && others(); backoff.pause()) {
    if (advance(Patience::look)) return;
    comm.impl().look_after_flights(this);
  }
  advance(Patience::wait);
}

/// Whether a complete execution is also done on the device.
bool PlanImpl::settled(Patience patience) {
  try {
    return way(last).executor->settled(patience);
  } catch (...) {
    broken = true;
    throw;
  }
}

void PlanImpl::use_stream(void* native) {
  constexpr const char* operation = "set_stream";
  if (!device)
    throw Error(operation, "a plan of arrays on the host", "a problem whose memory is cuda", comm.rank());
  if (flying) throw Error(operation, "a plan that is under way", "wait() before that", comm.rank());
  for (Way& w : ways) w.executor->use_stream(native);
}

/// Other ranks may still send to this one: what they reach is kept.
void PlanImpl::give_up() noexcept {
  CommImpl& c = comm.impl();
  const std::shared_ptr<Interpreter>& executor = way(*flying).executor;
  executor->cancel();
  for (Way& w : ways) w.executor->tell_failure();
  c.retain(memory);
  c.retain(executor);
  land();
}

void PlanImpl::land() {
  comm.impl().land(*this);
  flying.reset();
}

Plan::Plan(const Comm& comm, const Problem& problem, const Options& options)
    : impl_(std::make_unique<PlanImpl>(comm, problem, options)) {}
Plan::~Plan() = default;
Plan::Plan(Plan&&) noexcept = default;
Plan& Plan::operator=(Plan&&) noexcept = default;

PlanImpl& Plan::impl() const {
  if (!impl_) throw Error("plan", "a plan that has been moved away", "the one it was moved to");
  return *impl_;
}

void Plan::execute(Direction direction, const Arrays& arrays) {
  const DeviceRange range(impl().way(direction).name.c_str());
  impl().start(direction, arrays);
  impl().advance(Patience::wait);
}

void Plan::start(Direction direction, const Arrays& arrays) {
  const DeviceRange range(impl().way(direction).name.c_str());
  impl().start(direction, arrays);
  impl().go_on(Patience::look);  // under way until the caller knows better, on all ranks alike
}

bool Plan::test() {
  return impl().advance(Patience::look) && impl().settled(Patience::look);
}

void Plan::wait() {
  const DeviceRange range(impl().way(impl().last).name.c_str());
  impl().wait();
  impl().settled(Patience::wait);
}

void Plan::set_stream(CUstream_st* stream) {
  impl().use_stream(stream);
}

const Box& Plan::input_box() const {
  return impl().sides[0].box;
}
const Box& Plan::output_box() const {
  return impl().sides[1].box;
}
const Order& Plan::input_order() const {
  return impl().sides[0].order;
}
const Order& Plan::output_order() const {
  return impl().sides[1].order;
}
const Strides& Plan::input_strides() const {
  return impl().sides[0].item_strides;
}
const Strides& Plan::output_strides() const {
  return impl().sides[1].item_strides;
}
Index Plan::input_offset() const {
  return impl().sides[0].layout.offset;
}
Index Plan::output_offset() const {
  return impl().sides[1].layout.offset;
}
Index Plan::input_distance() const {
  return impl().sides[0].distance;
}
Index Plan::output_distance() const {
  return impl().sides[1].distance;
}
std::size_t Plan::input_count() const {
  return static_cast<std::size_t>(impl().sides[0].layout.count);
}
std::size_t Plan::output_count() const {
  return static_cast<std::size_t>(impl().sides[1].layout.count);
}
std::size_t Plan::buffer_bytes() const {
  return std::max(impl().sides[0].bytes, impl().sides[1].bytes);
}
std::size_t Plan::workspace_bytes() const {
  return static_cast<std::size_t>(impl().allocated_bytes());
}

double Plan::scale_factor() const {
  return logical_size(impl().problem.shape, impl().problem.transforms);
}

void Plan::record_times(bool on) {
  for (PlanImpl::Way& w : impl().ways) w.executor->record_times(on);
}

std::vector<OperationTime> Plan::operation_times() const {
  return impl().way(impl().last).executor->times();
}

std::string Plan::program_to_string(Direction direction) const {
  if (direction != Direction::forward && direction != Direction::backward)
    throw Error("plan: program", std::to_string(static_cast<int>(direction)), "forward (0) or backward (1)");
  return weft::to_string(impl().way(direction).executor->program());
}

}  // namespace weft
