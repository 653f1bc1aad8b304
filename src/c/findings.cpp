// What plans tell about themselves, for C.
#include "api/explanation_json.hpp"
#include "api/plan_impl.hpp"
#include "c/boxes.hpp"
#include "c/failure.hpp"
#include "c/handles.hpp"
#include "c/json.hpp"
#include "c/memory.hpp"
#include "c/structs.hpp"

using namespace weft::c;
using weft::Direction;
using weft::Plan;

namespace {

constexpr Direction directions[] = {Direction::forward, Direction::backward};

weft_layout layout_of(const weft::UserArray& array, weft::Precision precision) {
  weft_layout layout{};
  layout.box = box_of(array.box);
  copy_axes(array.order, layout.order);
  copy_axes(array.item_strides, layout.strides);
  layout.offset = array.layout.offset;
  layout.distance = array.distance;
  layout.count = array.layout.count;
  layout.is_complex = array.element == weft::Element::complex ? 1 : 0;
  layout.element_bytes = (precision == weft::Precision::float64 ? 8U : 4U) << layout.is_complex;
  return layout;
}

weft_operation_time time_of(const weft::OperationTime& t) {
  weft_operation_time result{};
  result.kind = t.kind;
  result.stage = t.stage;
  result.reshape = t.reshape;
  result.tile = t.tile;
  result.stream = t.stream;
  result.peer = t.peer;
  result.begin = t.begin;
  result.end = t.end;
  result.bytes = t.bytes;
  result.memory_read = t.memory_read;
  result.memory_written = t.memory_written;
  return result;
}

/// Stores what text(plan) says.
template <class Text>
weft_status store_text(weft_plan plan, char** to, const Text& text) {
  return guarded([&] {
    const Plan& mine = object_of(plan, "plan");
    check_given(to, "plan", "text");
    *to = copy_of(text(mine));
  });
}

/// Stores what fact(plan) is.
template <class T, class Fact>
weft_status store_fact(weft_plan plan, T* to, const char* name, const Fact& fact) {
  return guarded([&] {
    const Plan& mine = object_of(plan, "plan");
    check_given(to, "plan", name);
    *to = fact(mine);
  });
}

}  // namespace

weft_status weft_plan_layout(weft_plan plan, weft_side side, weft_layout* layout) {
  return guarded([&] {
    constexpr std::size_t sides[] = {0, 1};
    const weft::PlanImpl& mine = weft::PlanImpl::of(object_of(plan, "plan: layout"));
    check_given(layout, "plan: layout", "layout");
    check_size<weft_layout>(layout->size, "plan: layout", "weft_layout");
    const std::size_t which = in_table(sides, side, "plan: layout", "weft_side");
    store(*layout, layout_of(mine.arrays[which], mine.problem.precision));
  });
}

weft_status weft_plan_between_box(weft_plan plan, weft_box* box) {
  return store_fact(plan, box, "box", [](const Plan& p) { return box_of(p.between_box()); });
}

weft_status weft_plan_buffer_bytes(weft_plan plan, size_t* bytes) {
  return store_fact(plan, bytes, "bytes", [](const Plan& p) { return p.buffer_bytes(); });
}

weft_status weft_plan_workspace_bytes(weft_plan plan, size_t* bytes) {
  return store_fact(plan, bytes, "bytes", [](const Plan& p) { return p.workspace_bytes(); });
}

weft_status weft_plan_scale_factor(weft_plan plan, double* factor) {
  return store_fact(plan, factor, "factor", [](const Plan& p) { return p.scale_factor(); });
}

weft_status weft_plan_record_times(weft_plan plan, int on) {
  return guarded([&] { object_of(plan, "record times").record_times(on != 0); });
}

weft_status weft_plan_operation_times(weft_plan plan, size_t element_size, weft_operation_time** times,
                                      size_t* count) {
  return guarded([&] {
    const Plan& mine = object_of(plan, "operation times");
    check_given(times, "operation times", "times");
    check_given(count, "operation times", "count");
    check_size<weft_operation_time>(element_size, "operation times", "weft_operation_time");
    const std::vector<weft::OperationTime> all = mine.operation_times();
    char* const array = static_cast<char*>(allocate(all.size() * element_size));
    for (std::size_t i = 0; i < all.size(); ++i)
      store_sized(array + i * element_size, element_size, time_of(all[i]));
    *times = reinterpret_cast<weft_operation_time*>(array);
    *count = all.size();
  });
}

weft_status weft_plan_measured_error(weft_plan plan, weft_direction direction, const void* in,
                                     weft_accuracy* accuracy) {
  return guarded([&] {
    constexpr const char* operation = "measured error";
    Plan& mine = object_of(plan, operation);
    Direction where = Direction::forward;
    try {
      where = in_table(directions, direction, operation, "weft_direction");
      check_given(accuracy, operation, "accuracy");
      check_size<weft_accuracy>(accuracy->size, operation, "weft_accuracy");
    } catch (...) {
      fail_together(std::current_exception(),
                    [&](const weft::Error& own) { weft::PlanImpl::of(mine).refuse_measuring(where, own); });
    }
    const weft::Accuracy found = mine.measured_error(where, in);
    store(*accuracy, {0, found.l2, found.maximum, found.bound});
  });
}

weft_status weft_plan_text(weft_plan plan, char** text) {
  return store_text(plan, text, [](const Plan& p) { return p.to_string(); });
}

weft_status weft_plan_explain(weft_plan plan, char** text) {
  return store_text(plan, text, [](const Plan& p) { return to_string(p.explain()); });
}

weft_status weft_plan_explain_json(weft_plan plan, char** text) {
  return store_text(plan, text, [](const Plan& p) { return text_of(json_of(p.explain())); });
}

weft_status weft_plan_program(weft_plan plan, weft_direction direction, char** text) {
  return store_text(plan, text, [&](const Plan& p) {
    return p.program_to_string(in_table(directions, direction, "plan: program", "weft_direction"));
  });
}
