// Gradients by one transform along each axis, for C.
#include "weft/gradient.hpp"

#include <optional>

#include "api/gradient_facts.hpp"
#include "c/boxes.hpp"
#include "c/failure.hpp"
#include "c/handles.hpp"
#include "c/memory.hpp"
#include "c/problems.hpp"
#include "c/structs.hpp"

using namespace weft::c;
using weft::Error;
using weft::Gradient;
using weft::GradientFacts;

namespace {

constexpr const char* of_gradient = "gradient";

weft_layout side_layout(const Gradient& gradient, bool input) {
  const weft::Problem& problem = GradientFacts::problem(gradient);
  weft_layout layout{};
  layout.box = box_of(input ? gradient.input_box() : gradient.output_box());
  copy_axes(input ? gradient.input_order() : gradient.output_order(), layout.order);
  copy_axes(input ? gradient.input_strides() : gradient.output_strides(), layout.strides);
  layout.offset = input ? gradient.input_offset() : gradient.output_offset();
  layout.distance = input ? gradient.input_distance() : gradient.output_distance();
  layout.count = static_cast<int64_t>(input ? gradient.input_count() : gradient.output_count());
  layout.is_complex = problem.element == weft::Element::complex ? 1 : 0;
  layout.element_bytes = (problem.precision == weft::Precision::float64 ? 8U : 4U) << layout.is_complex;
  return layout;
}

}  // namespace

weft_status weft_gradient_create(weft_comm comm, const weft_problem* problem, weft_options options,
                                 const double* lengths, weft_components components, weft_gradient* gradient) {
  return guarded([&] {
    const weft::Comm& ranks = object_of(comm, of_gradient);
    std::optional<Place> place;
    weft::Problem mine;
    weft::Options with;
    weft::Components order{};
    try {
      place.emplace();
      check_given(gradient, of_gradient, "gradient");
      mine = problem_of(problem);
      order = components_of(components, of_gradient);
      if (options != nullptr) with = object_of(options, "gradient: options");
    } catch (...) {
      fail_together(std::current_exception(), [&](const Error& own) { weft::Plan::refuse(ranks, own); });
    }
    *gradient = place->hold<weft_gradient>(
        std::make_unique<Gradient>(GradientFacts::make(ranks, mine, with, numbers_of(lengths, mine), order)));
  });
}

weft_status weft_gradient_free(weft_gradient* gradient) {
  return guarded([&] { free_handle(gradient); });
}

weft_status weft_gradient_execute(weft_gradient gradient, const void* in, void* out) {
  return guarded([&] { object_of(gradient, of_gradient)(in, out); });
}

weft_status weft_gradient_set_stream(weft_gradient gradient, void* stream) {
  return guarded([&] { object_of(gradient, "set stream").set_stream(static_cast<CUstream_st*>(stream)); });
}

weft_status weft_gradient_layout(weft_gradient gradient, weft_side side, weft_layout* layout) {
  return guarded([&] {
    constexpr const char* operation = "gradient: layout";
    constexpr bool inputs[] = {true, false};
    const Gradient& mine = object_of(gradient, operation);
    check_given(layout, operation, "layout");
    check_size<weft_layout>(layout->size, operation, "weft_layout");
    store(*layout, side_layout(mine, in_table(inputs, side, operation, "weft_side")));
  });
}

weft_status weft_gradient_axes(weft_gradient gradient, int* axes, int* count) {
  return guarded([&] {
    const Gradient& mine = object_of(gradient, of_gradient);
    check_given(axes, of_gradient, "axes");
    check_given(count, of_gradient, "count");
    copy_axes(mine.axes(), axes);
    *count = mine.axes().size();
  });
}

weft_status weft_gradient_workspace_bytes(weft_gradient gradient, size_t* bytes) {
  return guarded([&] {
    const Gradient& mine = object_of(gradient, of_gradient);
    check_given(bytes, of_gradient, "bytes");
    *bytes = mine.workspace_bytes();
  });
}

weft_status weft_gradient_text(weft_gradient gradient, char** text) {
  return guarded([&] {
    const Gradient& mine = object_of(gradient, of_gradient);
    check_given(text, of_gradient, "text");
    *text = copy_of(mine.to_string());
  });
}
