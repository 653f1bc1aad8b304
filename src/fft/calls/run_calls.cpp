#include "fft/calls/run_calls.hpp"

#include <algorithm>
#include <set>

#include "fft/calls/contiguous_lines.hpp"
#include "fft/calls/r2r_calls.hpp"
#include "fft/calls/repeated_calls.hpp"

namespace weft {

namespace {

/// A copy of all points from input to output; with `from_is_to` from the output to itself, for scaling.
DeviceCopy whole(const FftProblem& p, bool from_is_to) {
  Shape extents;
  Strides from, to;
  const bool half = p.kind == FftKind::real && p.direction == Direction::forward;
  const auto add = [&](const FftDimension& d, Index n) {
    if (n == 1) return;
    extents.push_back(n);
    from.push_back(from_is_to ? d.to_stride : d.from_stride);
    to.push_back(d.to_stride);
  };
  for (const FftDimension& d : p.loops) add(d, d.n);
  for (const FftDimension& d : p.dimensions) add(d, half && &d == &p.dimensions.back() ? d.n / 2 + 1 : d.n);
  const auto real = static_cast<int>(real_bytes(p.precision));
  const bool complex = p.kind == FftKind::c2c || half;
  return {copy_loops(extents, from, to), complex ? 2 * real : real, p.scale, real};
}

DeviceCopy aside_copy(const AsideCopy& a, bool to_aside, Precision precision) {
  return {to_aside ? copy_loops(a.extents, a.problem, a.aside) : copy_loops(a.extents, a.aside, a.problem),
          a.element_bytes, 1, static_cast<int>(real_bytes(precision))};
}

}  // namespace

std::shared_ptr<StreamFft> make_fft_of_calls(const FftProblem& problem, const MakeCallPlan& make,
                                             const ChooseLinesAside& aside, std::size_t most_work) {
  std::set<Index> lengths_aside;
  const MakeStepPlan of_step = [&](const CallStep& step) {
    if (!aside(step)) return plan_in_loops(step, plan_in_parts(step.call, make, most_work));
    lengths_aside.insert(step.call.n[0]);
    return plan_lines_aside(step, make, most_work);
  };
  std::shared_ptr<StreamFft> fft;
  if (problem.kind == FftKind::r2r) {
    fft = std::make_shared<R2rStreamFft>(problem, [&](const CufftCall& call) {
      return of_step({CallStep::Sides::from_to, call, {}});
    });
  } else {
    fft = std::make_shared<CallsStreamFft>(problem, of_step);
  }
  fft->lengths_aside = std::move(lengths_aside);
  return fft;
}

CallsStreamFft::CallsStreamFft(const FftProblem& problem, const MakeStepPlan& make) {
  const CufftCalls e = cufft_calls(problem);
  for (const CallStep& step : e.steps) {
    steps_.push_back({step.sides, make(step)});
    step_bytes_ = std::max(step_bytes_, steps_.back().plan->work_bytes());
  }
  from_aside_ = e.from.element_bytes > 0;
  to_aside_ = e.to.element_bytes > 0;
  from_aside_bytes_ = work_aligned(e.from.elements * e.from.element_bytes);
  aside_bytes_ = from_aside_bytes_ + work_aligned(e.to.elements * e.to.element_bytes);
  if (from_aside_) before_ = aside_copy(e.from, true, problem.precision);
  if (to_aside_) {
    after_ = aside_copy(e.to, false, problem.precision);
    after_.factor = problem.scale;
  } else if (from_aside_) {
    before_.factor = problem.scale;  // the transform is linear
  } else {
    copies_ = steps_.empty() && !problem.in_place;
    scales_ = problem.scale != 1 && (steps_.empty() || !steps_.back().plan->take_scale(problem.scale));
    after_ = whole(problem, !copies_);
  }
}

void CallsStreamFft::enqueue(DeviceStream& stream, std::byte* from, std::byte* to, std::byte* work) {
  std::byte* const read = from_aside_ ? work : from;
  std::byte* const write = to_aside_ ? work + from_aside_bytes_ : to;
  if (from_aside_) stream.permute(read, from, before_);
  for (const Step& step : steps_) {
    std::byte* const f = step.sides == CallStep::Sides::to_only ? write : read;
    std::byte* const t = step.sides == CallStep::Sides::from_only ? read : write;
    step.plan->enqueue(stream, f, t, work + aside_bytes_);
  }
  if (to_aside_) {
    stream.permute(to, write, after_);
  } else if (copies_ || scales_) {
    stream.permute(to, copies_ ? from : to, after_);
  }
}

}  // namespace weft
