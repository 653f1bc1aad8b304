// What handles of C stand for. A handle is a number in the guise of a pointer: the kind of the object, a
// slot, and how often the slot had been used before. So a handle that was freed, is of another kind, or never
// was one, is recognised by comparing it with what its slot holds, without a lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "weft/comm.hpp"
#include "weft/gradient.hpp"
#include "weft/operators.hpp"
#include "weft/options.hpp"
#include "weft/plan.hpp"
#include "weft/thread_team.hpp"
#include "weft/weft.h"

namespace weft::c {

/// A team, and whether it is running: it must not be freed then.
struct Team {
  explicit Team(int size) : threads(size) {}
  ThreadTeam threads;
  std::atomic<int> runs{0};
};

enum class HandleKind : unsigned { none, comm, team, options, plan, mode_operator, gradient };

/// The object that a type of handle stands for.
template <class Handle>
struct Held;
template <>
struct Held<weft_comm> {
  using Type = Comm;
  static constexpr HandleKind kind = HandleKind::comm;
};
template <>
struct Held<weft_team> {
  using Type = Team;
  static constexpr HandleKind kind = HandleKind::team;
};
template <>
struct Held<weft_options> {
  using Type = Options;
  static constexpr HandleKind kind = HandleKind::options;
};
template <>
struct Held<weft_plan> {
  using Type = Plan;
  static constexpr HandleKind kind = HandleKind::plan;
};
template <>
struct Held<weft_mode_operator> {
  using Type = ModeOperator;
  static constexpr HandleKind kind = HandleKind::mode_operator;
};
template <>
struct Held<weft_gradient> {
  using Type = Gradient;
  static constexpr HandleKind kind = HandleKind::gradient;
};

struct Slot;

/// A slot for an object that is still to be made, so that nothing can fail once it is made.
class Place {
 public:
  /// Throws std::bad_alloc, or `weft::Error` if there are too many handles.
  Place();
  ~Place();
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  /// The handle of an object, which the slot owns from now on. Once only.
  template <class Handle>
  Handle hold(std::unique_ptr<typename Held<Handle>::Type> object) noexcept {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): it is never followed
    return reinterpret_cast<Handle>(hold(Held<Handle>::kind, object.release()));
  }

 private:
  std::uintptr_t hold(HandleKind kind, void* object) noexcept;

  Slot* slot_;
  std::uint32_t index_;
};

/// The object of a handle. Throws a `Failure` with WEFT_BAD_HANDLE if there is none.
void* find_object(HandleKind kind, std::uintptr_t handle, const char* operation);
/// The same; the handle is invalid afterwards. Of several threads that take it one succeeds.
void* take_object(HandleKind kind, std::uintptr_t handle, const char* operation);

template <class Handle>
typename Held<Handle>::Type& object_of(Handle handle, const char* operation) {
  return *static_cast<typename Held<Handle>::Type*>(
      find_object(Held<Handle>::kind, reinterpret_cast<std::uintptr_t>(handle), operation));
}

/// Ends the handle in the caller's variable, which becomes NULL; its object is destroyed. NULL is allowed.
template <class Handle>
void free_handle(Handle* variable) {
  if (variable == nullptr || *variable == nullptr) return;
  const std::unique_ptr<typename Held<Handle>::Type> last(static_cast<typename Held<Handle>::Type*>(
      take_object(Held<Handle>::kind, reinterpret_cast<std::uintptr_t>(*variable), "free")));
  *variable = nullptr;
}

template <class Handle>
Handle new_handle(std::unique_ptr<typename Held<Handle>::Type> object) {
  Place place;
  return place.hold<Handle>(std::move(object));
}

}  // namespace weft::c
