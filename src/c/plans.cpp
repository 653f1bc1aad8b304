// Plans for C: making and executing them. What they tell about themselves: findings.cpp.
#include "weft/plan.hpp"

#include "api/plan_impl.hpp"
#include "c/failure.hpp"
#include "c/handles.hpp"
#include "c/problems.hpp"
#include "c/structs.hpp"

using namespace weft::c;
using weft::Comm;
using weft::Error;
using weft::Options;
using weft::Plan;

namespace {

/// Throws for a direction that is none, as for other misuse of an execution. By reference, as such a number
/// must not be read as an enumerator.
bool is_forward(const Plan& plan, const weft_direction& direction, const char* operation) {
  constexpr bool forward[] = {true, false};
  try {
    return in_table(forward, direction, operation, "weft_direction");
  } catch (...) {
    fail_together(std::current_exception(),
                  [&](const Error& own) { weft::PlanImpl::of(plan).refuse_execution(operation, own); });
  }
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
      fail_together(std::current_exception(), [&](const Error& own) { Plan::refuse(ranks, own); });
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
    if (is_forward(mine, direction, "execute"))
      mine.forward(in, out, workspace, workspace_bytes);
    else
      mine.backward(in, out, workspace, workspace_bytes);
  });
}

weft_status weft_start(weft_plan plan, weft_direction direction, const void* in, void* out, void* workspace,
                       size_t workspace_bytes) {
  return guarded([&] {
    Plan& mine = object_of(plan, "start");
    if (is_forward(mine, direction, "start"))
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
