#include "fft/calls/run_calls.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "fft/calls/contiguous_lines.hpp"
#include "fft/calls/r2r_calls.hpp"
#include "fft/calls/repeated_calls.hpp"
#include "geometry/transform.hpp"

namespace weft {

namespace {

/// Plans a step, whose result is multiplied by `scale` if `takes_scale`, which then becomes 1.
using PlanStep = std::function<std::shared_ptr<StreamFft>(const CallStep& step, double* scale)>;

/// A copy of all points of the output from where they lie with strides `from`.
DeviceCopy whole(const FftProblem& p, Index FftDimension::*from, double scale) {
  const FftSide side = side_written(p);
  Shape extents;
  Strides read, written;
  for (const FftDimension& d : box_of(p, side)) {
    if (d.n == 1) continue;
    extents.push_back(d.n);
    read.push_back(d.*from);
    written.push_back(d.to_stride);
  }
  return {copy_loops(extents, read, written), static_cast<int>(side.element_bytes), scale,
          static_cast<int>(real_bytes(p.precision))};
}

void add_calls(FftSequence& all, const FftProblem& problem, const PlanStep& plan) {
  CufftCalls e = cufft_calls(problem);
  double scale = problem.scale;  // what no operation has taken yet
  FftSequence::Place from = FftSequence::input, to = FftSequence::output;
  if (e.to.bytes > 0) {
    to = all.reserve(e.to.bytes);
    e.to.copy.factor = std::exchange(scale, 1);
  }
  if (e.from.bytes > 0) {
    from = all.reserve(e.from.bytes);
    e.from.copy.factor = std::exchange(scale, 1);  // the transform is linear
    all.add(e.from.copy, FftSequence::input, from);
  }
  for (const CallStep& step : e.steps)
    all.add(plan(step, &step == &e.steps.back() ? &scale : nullptr),
            step.sides == CallStep::Sides::to_only ? to : from,
            step.sides == CallStep::Sides::from_only ? from : to);
  if (e.to.bytes > 0) {
    all.add(e.to.copy, to, FftSequence::output);
  } else if (e.steps.empty() && !problem.in_place) {
    all.add(whole(problem, &FftDimension::from_stride, scale), from, to);
  } else if (scale != 1) {
    all.add(whole(problem, &FftDimension::to_stride, scale), to, to);
  }
}

void add_r2r_calls(FftSequence& all, const FftProblem& problem, const PlanStep& plan) {
  const std::vector<R2rCalls> axes = r2r_calls(problem);
  Index elements = 0;
  for (const R2rCalls& axis : axes) elements = std::max(elements, axis.elements);
  const FftSequence::Place aside = all.reserve(elements * 2 * real_bytes(problem.precision));
  FftSequence::Place from = FftSequence::input;
  std::map<CufftCall, std::shared_ptr<StreamFft>> known;
  for (const R2rCalls& axis : axes) {
    all.add(axis.before, from, aside);
    if (axis.call) {
      std::shared_ptr<StreamFft>& fft = known[*axis.call];
      if (!fft) fft = plan({CallStep::Sides::from_to, *axis.call, {}}, nullptr);
      all.add(fft, aside, aside);
    }
    all.add(axis.after, aside, FftSequence::output);
    from = FftSequence::output;
  }
}

}  // namespace

std::shared_ptr<StreamFft> make_fft_of_calls(const FftProblem& problem, const MakeCallPlan& make,
                                             const ChooseLinesAside& aside, std::size_t most_work) {
  auto all = std::make_shared<FftSequence>();
  const PlanStep plan = [&](const CallStep& step, double* scale) {
    if (!aside(step)) return plan_in_loops(step, plan_in_parts(step.call, make, most_work));
    all->lengths_aside.insert(step.call.n[0]);
    return plan_lines_aside(step, make, most_work, scale != nullptr ? std::exchange(*scale, 1) : 1);
  };
  (problem.kind == FftKind::r2r ? add_r2r_calls : add_calls)(*all, problem, plan);
  return all;
}

}  // namespace weft
