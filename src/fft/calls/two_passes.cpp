#include "fft/calls/two_passes.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "fft/calls/fft_sequence.hpp"
#include "fft/calls/repeated_calls.hpp"
#include "fft/calls/step_lines.hpp"
#include "fft/calls/strided_lines.hpp"
#include "kernels/lines/radices.hpp"
#include "weft/error.hpp"

namespace weft {

namespace {

struct Factors {
  Index first, second;
};

/// The two that are nearest to each other, the larger one second: the second pass reads and stores in
/// rows that are the longer the more points the first one has.
std::optional<Factors> factors_of(Index n) {
  std::optional<Factors> best;
  for (Index first = 2; first * first <= n; ++first)
    if (n % first == 0 && line_radices(first) && line_radices(n / first)) best = Factors{first, n / first};
  return best;
}

bool are_lines_adjacent(const std::vector<FftDimension>& loops) {
  return !loops.empty() && loops[0].from_stride == 1 && loops[0].to_stride == 1;
}
bool are_points_adjacent(const StepLines& lines) {
  return lines.line.from_stride == 1 && lines.line.to_stride == 1;
}

void add(LineStep& step, const LineLoop& loop) {
  step.loops[static_cast<std::size_t>(step.count++)] = loop;
}

/// Both passes, and work memory between them.
class Passes {
 public:
  Passes(const CallStep& step, double scale) : lines_(step), loops_(loops_of(lines_)) {
    const auto [n0, n1] = factors_of(lines_.line.n).value();
    for (LineStep* pass : {&first_, &second_}) {
      pass->forward = step.call.direction == Direction::forward;
      pass->real_bytes = static_cast<int>(real_bytes(step.call.precision));
    }
    first_.n = n0;
    second_.n = n1;
    second_.factor = scale;
    // In work memory adjacent lines remain so, and so do adjacent points.
    const bool adjacent = !are_points_adjacent(lines_);
    if (adjacent && !are_lines_adjacent(loops_))
      loops_.insert(loops_.begin(), {1, 1, 1});  // a part of one line
    const Index unit = adjacent ? loops_[0].n : 1;
    elements_ = lines_.line.n * unit;
    first_.from_stride = n1 * lines_.line.from_stride;
    first_.to_stride = n1 * unit;
    second_.from_stride = unit;
    second_.to_stride = n0 * lines_.line.to_stride;
    const LineLoop points{n1, lines_.line.from_stride, unit};
    const LineLoop modes{n0, n1 * unit, lines_.line.to_stride, lines_.line.diverted_stride};
    if (adjacent) add_loop(loops_[0], 1);
    first_.turn.loop = first_.count;
    add(first_, points);
    add(second_, modes);
    for (auto loop = loops_.begin() + (adjacent ? 1 : 0); loop != loops_.end(); ++loop) {
      add_loop(*loop, elements_);
      elements_ *= loop->n;
    }
    divert(step);
  }

  std::shared_ptr<StreamFft> plan(Device& device) const {
    const auto all = std::make_shared<FftSequence>();
    const FftSequence::Place work = all->reserve(2 * elements_ * first_.real_bytes);
    all->add(plan_line_step(device, first_), FftSequence::input, work);
    all->add(plan_line_step(device, second_), work, FftSequence::output);
    all->diverts = second_.diverted.count > 0;
    return all;
  }

 private:
  void add_loop(const FftDimension& d, Index work_stride) {
    add(first_, {d.n, d.from_stride, work_stride});
    add(second_, {d.n, work_stride, d.to_stride, d.diverted_stride});
  }

  /// Mode n0 k1 + k0 of a line is mode k1 of a line of the second pass.
  void divert(const CallStep& step) {
    const DivertedModes& asked = step.diverted;
    const Index n0 = first_.n;
    const auto divides = [&](Index modes) { return modes % n0 == 0; };
    if (asked.count == 0 || second_.loops[0].diverted != 1 || !divides(asked.first) ||
        !divides(asked.count) || !std::ranges::all_of(asked.begin, divides))
      return;
    second_.diverted = asked;
    second_.diverted.first /= n0;
    second_.diverted.count /= n0;
    for (Index& begin : second_.diverted.begin) begin /= n0;
    second_.diverted_stride = n0 * lines_.line.diverted_stride;
  }

  StepLines lines_;
  std::vector<FftDimension> loops_;
  LineStep first_, second_;
  Index elements_ = 0;  ///< of work memory
};

}  // namespace

bool passes_can(const CallStep& step) {
  if (step.call.kind != FftKind::c2c || step.call.axes != 1 || !factors_of(step.call.n[0])) return false;
  const StepLines lines(step);
  const std::vector<FftDimension> loops = loops_of(lines);
  return (are_points_adjacent(lines) || are_lines_adjacent(loops)) &&
         loops.size() + 1 <= LineStep::most_loops &&
         lines.count() * lines.line.n < std::numeric_limits<std::int32_t>::max();
}

std::shared_ptr<StreamFft> plan_lines_in_passes(Device& device, const CallStep& step, std::size_t most_work,
                                                double scale) {
  if (!passes_can(step))
    throw Error("plan: local FFT", to_string(step.call),
                "lines that kernels of Weft can transform in two passes");
  std::shared_ptr<StreamFft> all = Passes(step, scale).plan(device);
  if (all->work_bytes() <= most_work) return all;
  // `plan_in_parts` cuts the batch, so the longest loop becomes the batch.
  StepLines lines(step);
  std::swap(lines.around.front(), *std::ranges::max_element(lines.around, {}, &FftDimension::n));
  CallStep longest = lines.step(step);
  longest.diverted = {};
  const MakeCallPlan part = [&](const CufftCall& call) {
    CallStep one = longest;
    one.call = call;
    return Passes(one, scale).plan(device);
  };
  return plan_in_parts(longest.call, part, most_work);
}

}  // namespace weft
