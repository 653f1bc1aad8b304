// Plans for C: making and executing them. What they tell about themselves: findings.cpp.
#include "weft/plan.hpp"

#include "c/failure.hpp"
#include "c/handles.hpp"
#include "c/problems.hpp"
#include "c/structs.hpp"

using namespace weft::c;
using weft::Comm;
using weft::Options;
using weft::Plan;

namespace {

/// The other ranks are planning, and wait for this one: all fail together. The status is of this rank's own
/// failure.
[[noreturn]] void fail_together(const Comm& comm, const std::exception_ptr& mine) {
  const Failure own = failure_of(mine);
  try {
    Plan::refuse(comm, own);
  } catch (const weft::Error& agreed) {
    throw Failure(own.status(), agreed);
  }
}

/// Throws for a direction that is none. By reference, as such a number must not be read as an enumerator.
bool is_forward(const weft_direction& direction, const char* operation) {
  constexpr bool forward[] = {true, false};
  return in_table(forward, direction, operation, "weft_direction");
}

}  // namespace

weft_status weft_plan_create(weft_comm comm, const weft_problem* problem, weft_options options,
                             weft_plan* plan) {
  return guarded([&] {
    const Comm& ranks = object_of(comm, "plan");
    std::optional<Place> place;
    weft::Problem mine;
    Options with;
    try {
      place.emplace();
      check_given(plan, "plan", "plan");
      mine = problem_of(problem);
      if (options != nullptr) with = object_of(options, "plan: options");
    } catch (...) {
      fail_together(ranks, std::current_exception());
    }
    *plan = place->hold<weft_plan>(std::make_unique<Plan>(ranks, mine, with));
  });
}

weft_status weft_plan_free(weft_plan* plan) {
  return guarded([&] { free_handle(plan); });
}

weft_status weft_forward(weft_plan plan, const void* in, void* out) {
  return guarded([&] { object_of(plan, "forward").forward(in, out); });
}

weft_status weft_backward(weft_plan plan, const void* in, void* out) {
  return guarded([&] { object_of(plan, "backward").backward(in, out); });
}

weft_status weft_execute(weft_plan plan, weft_direction direction, const void* in, void* out, void* workspace,
                         size_t workspace_bytes) {
  return guarded([&] {
    Plan& mine = object_of(plan, "execute");
    if (is_forward(direction, "execute"))
      mine.forward(in, out, workspace, workspace_bytes);
    else
      mine.backward(in, out, workspace, workspace_bytes);
  });
}

weft_status weft_start(weft_plan plan, weft_direction direction, const void* in, void* out, void* workspace,
                       size_t workspace_bytes) {
  return guarded([&] {
    Plan& mine = object_of(plan, "start");
    if (is_forward(direction, "start"))
      mine.start_forward(in, out, workspace, workspace_bytes);
    else
      mine.start_backward(in, out, workspace, workspace_bytes);
  });
}

weft_status weft_test(weft_plan plan, int* complete) {
  return guarded([&] {
    Plan& mine = object_of(plan, "test");
    check_given(complete, "test", "complete");
    *complete = mine.test() ? 1 : 0;
  });
}

weft_status weft_wait(weft_plan plan) {
  return guarded([&] { object_of(plan, "wait").wait(); });
}

weft_status weft_plan_set_stream(weft_plan plan, void* stream) {
  return guarded([&] { object_of(plan, "set stream").set_stream(static_cast<CUstream_st*>(stream)); });
}
