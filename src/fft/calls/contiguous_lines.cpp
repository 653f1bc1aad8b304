#include "fft/calls/contiguous_lines.hpp"

#include <algorithm>
#include <utility>

#include "fft/calls/repeated_calls.hpp"
#include "fft/calls/step_lines.hpp"

namespace weft {

namespace {

/// All lines of a step aside at once.
std::shared_ptr<StreamFft> plan_all_aside(const CallStep& step, const MakeCallPlan& make, double scale) {
  StepLines lines(step);
  // Lines aside have the order in which they lie in the input.
  std::ranges::stable_sort(lines.around, {}, &FftDimension::from_stride);
  const Index n = lines.line.n, element = from_bytes(step.call);
  Shape extents{n};
  Strides from{lines.line.from_stride}, aside{1}, to{lines.line.to_stride};
  Index next = n;
  for (const FftDimension& d : lines.around) {
    extents.push_back(d.n);
    from.push_back(d.from_stride);
    aside.push_back(next);
    to.push_back(d.to_stride);
    next *= d.n;
  }
  const auto copy = [&](const Strides& a, const Strides& b, double factor) {
    return DeviceCopy{copy_loops(extents, a, b), static_cast<int>(element), factor,
                      static_cast<int>(real_bytes(step.call.precision))};
  };
  CufftCall call = step.call;
  call.from = call.to = {{n, 0, 0}, 1, n};
  call.batch = next / n;
  const auto all = std::make_shared<FftSequence>();
  const FftSequence::Place place = all->reserve(next * element);
  all->add(copy(from, aside, 1), FftSequence::input, place);
  all->add(make(call), place, place);
  all->add(copy(aside, to, scale), place, FftSequence::output);
  return all;
}

}  // namespace

std::shared_ptr<StreamFft> plan_lines_aside(const CallStep& step, const MakeCallPlan& make,
                                            std::size_t most_work, double scale) {
  // `plan_in_parts` cuts the batch, so the longest loop becomes the batch.
  StepLines lines(step);
  std::swap(lines.around.front(), *std::ranges::max_element(lines.around, {}, &FftDimension::n));
  const CallStep longest = lines.step(step);
  const MakeCallPlan aside = [&](const CufftCall& call) {
    CallStep part = longest;
    part.call = call;
    return plan_all_aside(part, make, scale);
  };
  return plan_in_parts(longest.call, aside, most_work);
}

}  // namespace weft
