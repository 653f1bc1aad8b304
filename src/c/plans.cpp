// Plans for C: making and executing them. What they tell about themselves: findings.cpp.
#include "weft/plan.hpp"

#include <algorithm>

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

/// A function of C as an operator.
class OperatorOfC {
 public:
  OperatorOfC(weft_operator op, void* user) : op_(op), user_(user) {}

  void operator()(const weft::Block& block) const {
    weft_block b{};
    b.size = sizeof b;
    b.ndim = block.box.ndim();
    b.element = block.element == weft::Element::real ? WEFT_REAL : WEFT_COMPLEX;
    b.precision = block.precision == weft::Precision::float64 ? WEFT_FLOAT64 : WEFT_FLOAT32;
    std::copy(block.box.lo.begin(), block.box.lo.end(), b.lo);
    std::copy(block.box.hi.begin(), block.box.hi.end(), b.hi);
    std::copy(block.strides.begin(), block.strides.end(), b.strides);
    b.data = block.data;
    b.fields = block.fields;
    b.results = block.results;
    b.field_stride = block.field_stride;
    b.memory = block.memory == weft::MemoryKind::host ? WEFT_HOST : WEFT_CUDA;
    b.stream = block.stream;
    if (const int status = op_(&b, user_); status != 0)
      throw Error("apply", "an operator that returned " + std::to_string(status), "0");
  }

 private:
  weft_operator op_;
  void* user_;
};

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

weft_status weft_apply(weft_plan plan, weft_direction direction, const void* in, void* out, weft_operator op,
                       void* user, void* workspace, size_t workspace_bytes) {
  return guarded([&] {
    Plan& mine = object_of(plan, "apply");
    const bool forward = is_forward(mine, direction, "apply");
    try {
      check_given(reinterpret_cast<const void*>(op), "apply", "op");
    } catch (...) {
      fail_together(std::current_exception(),
                    [&](const Error& own) { weft::PlanImpl::of(mine).refuse_execution("apply", own); });
    }
    mine.apply(in, out, OperatorOfC(op, user), forward ? weft::Direction::forward : weft::Direction::backward,
               workspace, workspace_bytes);
  });
}

weft_status weft_apply_mode_operator(weft_plan plan, weft_direction direction, const void* in, void* out,
                                     weft_mode_operator op, void* workspace, size_t workspace_bytes) {
  return guarded([&] {
    Plan& mine = object_of(plan, "apply");
    const bool forward = is_forward(mine, direction, "apply");
    const weft::ModeOperator* operate = nullptr;
    try {
      operate = &object_of(op, "apply");
    } catch (...) {
      fail_together(std::current_exception(),
                    [&](const Error& own) { weft::PlanImpl::of(mine).refuse_execution("apply", own); });
    }
    mine.apply(in, out, *operate, forward ? weft::Direction::forward : weft::Direction::backward, workspace,
               workspace_bytes);
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
