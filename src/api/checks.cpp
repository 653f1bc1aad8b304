// Whether the user's arrays are what a plan needs, before any byte moves.
#include <cstdint>

#include "api/plan_impl.hpp"
#include "geometry/transform.hpp"

namespace weft {

namespace {

bool overlap(const void* a, std::size_t a_bytes, const void* b, std::size_t b_bytes) {
  if (a_bytes == 0 || b_bytes == 0) return false;
  const auto x = reinterpret_cast<std::uintptr_t>(a), y = reinterpret_cast<std::uintptr_t>(b);
  return x < y + b_bytes && y < x + a_bytes;
}

void check_type(const PlanImpl& plan, const char* operation, const char* which, PlanImpl::Type type,
                Element element) {
  using Type = PlanImpl::Type;
  if (type == Type::any) return;
  const bool wide = plan.problem.precision == Precision::float64;
  const char* names[] = {"", "float", "double", "std::complex<float>", "std::complex<double>"};
  const Type real = wide ? Type::real64 : Type::real32, complex = wide ? Type::complex64 : Type::complex32;
  if (type == real || (type == complex && element == Element::complex)) return;
  std::string wanted = names[static_cast<int>(real)];
  if (element == Element::complex) wanted = names[static_cast<int>(complex)] + (" or " + wanted);
  throw Error(std::string(operation) + ": " + which,
              std::string("elements of ") + names[static_cast<int>(type)], wanted, plan.comm.rank());
}

/// Among the plans of one Comm, those whose exchanges are collective have to be alone.
void check_in_flight(const PlanImpl& plan, const char* operation) {
  const BoundPlan& bound = *plan.bound;
  if (bound.under_way())
    throw Error(operation, std::string("a plan whose ") + name_of(bound.direction()) + " is under way",
                "wait() before that, or a second plan", plan.comm.rank());
  for (const CommImpl::Execution* f = plan.comm.impl().executions(); f != nullptr; f = f->next)
    if (bound.exclusive || f->exclusive)
      throw Error(operation,
                  "another plan of these ranks is under way, and one of the two has collective exchanges",
                  "wait() for it, exchange p2p for both, or a Comm of its own", plan.comm.rank());
}

void check_memory(PlanImpl& plan, const char* op, const PlanImpl::Arrays& a, const UserArray& in,
                  const UserArray& out) {
  const int rank = plan.comm.rank();
  const auto needed = static_cast<std::size_t>(plan.users_workspace);
  if (!plan.wishes.users_workspace.value) {
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
  plan.check_place_once(op, "workspace", a.workspace);
  if (plan.devices.mine && reinterpret_cast<std::uintptr_t>(a.workspace) % 256 != 0)
    throw Error(op, "workspace that is not on a multiple of 256 bytes", "aligned workspace", rank);
}

}  // namespace

/// Memory of the other kind is told before anything touches it.
void PlanImpl::check_place(const char* op, const char* which, const void* pointer) const {
  const int rank = comm.rank();
  if (pointer == nullptr) return;  // in place one of the two may be
  const Index real = real_bytes(problem.precision);
  const std::shared_ptr<Device>& device = devices.mine;
  if (reinterpret_cast<std::uintptr_t>(pointer) % static_cast<std::uintptr_t>(real) != 0)
    throw Error(op, std::string(which) + " is not on a multiple of " + std::to_string(real) + " bytes",
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

void PlanImpl::check_place_once(const char* op, const char* which, const void* pointer) {
  if (places_found.contains(pointer)) return;
  check_place(op, which, pointer);
  places_found.add(pointer);
}

void PlanImpl::check_arrays(Direction direction, const Arrays& a) {
  PlanImpl& plan = *this;
  const char* op = a.op ? "apply" : name_of(direction);
  const UserArray& in = plan.arrays[direction == Direction::forward ? 0 : 1];
  const UserArray& out = plan.arrays[direction == Direction::forward ? 1 : 0];
  const int rank = plan.comm.rank();
  if (plan.bound->broken())
    throw Error(op, "a plan whose earlier execution failed in the middle", "a new plan", rank);
  check_in_flight(plan, op);
  if (a.op && plan.problem.between == Between::none)
    throw Error("apply", "a plan with nothing between its transforms",
                "a plan whose problem says what is between (Problem::between)", rank);
  a.op.check(plan.problem, direction);
  check_type(plan, op, "in", a.in_type, in.element);
  check_type(plan, op, "out", a.out_type, out.element);
  if (a.in == nullptr && in.bytes > 0)
    throw Error(op, "in is null", "the input box " + weft::to_string(in.box), rank);
  if (a.out == nullptr && out.bytes > 0)
    throw Error(op, "out is null", "the output box " + weft::to_string(out.box), rank);
  if (plan.problem.in_place) {
    if (in.bytes > 0 && out.bytes > 0 && a.in != a.out)
      throw Error(op, "two different arrays", "in == out, as the problem is in place", rank);
  } else if (overlap(a.in, in.bytes, a.out, out.bytes)) {
    throw Error(op, "in and out overlap", "separate arrays, or a problem that is in place", rank);
  }
  if (in.bytes > 0) plan.check_place_once(op, "in", a.in);
  if (out.bytes > 0) plan.check_place_once(op, "out", a.out);
  check_memory(plan, op, a, in, out);
}

void PlanImpl::check_arrays_alone(Direction direction, const Arrays& of_user) {
  try {
    check_arrays(direction, of_user);
  } catch (const Error& e) {
    if (comm.size() == 1) throw;
    throw Error(e.operation(), e.got(),
                e.expected() +
                    " (nothing has moved; other ranks may wait for this one, use option "
                    "check=collective to let all fail together)",
                e.rank());
  }
}

}  // namespace weft
