#include "fft/calls/repeated_calls.hpp"

#include <utility>

#include "base/arithmetic.hpp"

namespace weft {

std::shared_ptr<StreamFft> plan_in_parts(const CufftCall& call, const MakeCallPlan& make,
                                         std::size_t most_work) {
  std::shared_ptr<StreamFft> plan = make(call);
  // Parts have an even number of real lines, so that they start on complex elements even if lines have an odd
  // length.
  const Index unit = call.kind == FftKind::real ? 2 : 1;
  CufftCall part = call;
  while (plan->work_bytes() > most_work && part.batch > unit) {
    const auto times = static_cast<Index>(divided_up(plan->work_bytes(), most_work));
    part.batch = divided_up(divided_up(part.batch, unit), times) * unit;
    plan = make(part);
  }
  if (part.batch == call.batch) return plan;
  const Index parts = call.batch / part.batch;
  const Index from_step = part.batch * call.from.distance * from_bytes(call);
  const Index to_step = part.batch * call.to.distance * to_bytes(call);
  const auto all = std::make_shared<FftSequence>();
  all->add(plan, FftSequence::input, FftSequence::output, {{parts, from_step, to_step}});
  part.batch = call.batch % part.batch;
  if (part.batch > 0)
    all->add(make(part), {FftSequence::Place::Array::input, parts * from_step},
             {FftSequence::Place::Array::output, parts * to_step});
  return all;
}

std::shared_ptr<StreamFft> plan_in_loops(const CallStep& step, std::shared_ptr<StreamFft> call) {
  if (step.loops.empty()) return call;
  std::vector<FftDimension> loops = step.loops;
  for (FftDimension& d : loops) {
    d.from_stride *= from_bytes(step.call);
    d.to_stride *= to_bytes(step.call);
  }
  const auto all = std::make_shared<FftSequence>();
  all->add(std::move(call), FftSequence::input, FftSequence::output, std::move(loops));
  return all;
}

}  // namespace weft
