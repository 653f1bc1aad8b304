#include "fft/calls/step_lines.hpp"

namespace weft {

StepLines::StepLines(const CallStep& step)
    : line{step.call.n[0], step.call.from.stride, step.call.to.stride, Transform::c2c, step.diverted_stride},
      around{{step.call.batch, step.call.from.distance, step.call.to.distance, Transform::c2c,
              step.diverted_distance}} {
  around.insert(around.end(), step.loops.begin(), step.loops.end());
}

Index StepLines::count() const {
  Index n = 1;
  for (const FftDimension& d : around) n *= d.n;
  return n;
}

CallStep StepLines::step(const CallStep& like) const {
  CallStep s = like;
  const FftDimension& batch = around.front();
  s.call.n = {line.n, 0, 0};
  s.call.from = {s.call.n, line.from_stride, batch.from_stride};
  s.call.to = {s.call.n, line.to_stride, batch.to_stride};
  s.call.batch = batch.n;
  s.diverted_stride = line.diverted_stride;
  s.diverted_distance = batch.diverted_stride;
  s.loops.assign(around.begin() + 1, around.end());
  std::erase_if(s.loops, [](const FftDimension& d) { return d.n == 1; });
  return s;
}

}  // namespace weft
