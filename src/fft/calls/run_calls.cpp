#include "fft/calls/run_calls.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>

#include "fft/calls/contiguous_lines.hpp"
#include "fft/calls/plane_lines.hpp"
#include "fft/calls/r2r_calls.hpp"
#include "fft/calls/repeated_calls.hpp"
#include "fft/calls/step_lines.hpp"
#include "fft/calls/strided_lines.hpp"
#include "fft/calls/timed_plans.hpp"
#include "fft/calls/two_passes.hpp"
#include "fft/loops.hpp"
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

void add_calls(FftSequence& all, const FftProblem& problem, AxesOf axes, const PlanStep& plan) {
  CufftCalls e = cufft_calls(problem, axes);
  double scale = problem.scale;  // what no operation has taken yet
  FftSequence::Place from = FftSequence::input, to = FftSequence::output;
  if (e.to.bytes > 0) {
    to = all.reserve(e.to.bytes);
    e.to.copy.factor = std::exchange(scale, 1);
  }
  if (e.from.bytes > 0) {
    from = all.reserve(e.from.bytes);
    if (!e.first_stores_aside()) {
      e.from.copy.factor = std::exchange(scale, 1);  // the transform is linear
      all.add(e.from.copy, FftSequence::input, from);
    }
  }
  for (const CallStep& step : e.steps) {
    const bool last = &step == &e.steps.back(),
               stores_aside = &step == &e.steps.front() && e.first_stores_aside();
    CallStep whole = step;
    if (!last || e.to.bytes > 0) whole.diverted = {};
    const std::shared_ptr<StreamFft> fft = plan(whole, last || stores_aside ? &scale : nullptr);
    all.diverts = fft->diverts;
    all.spares_output = fft->spares_output && e.steps.size() == 1;
    all.add(fft,
            stores_aside                             ? FftSequence::input
            : step.sides == CallStep::Sides::to_only ? to
                                                     : from,
            step.sides == CallStep::Sides::from_only ? from : to);
  }
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

/// Whether a step of the problem has several axes, and kernels could do one of them by itself.
bool may_be_apart(const FftProblem& problem) {
  if (problem.kind == FftKind::r2r) return false;
  const CufftCalls together = cufft_calls(problem), apart = cufft_calls(problem, AxesOf::apart);
  constexpr Index least_bytes = 1 << 20;
  return std::ranges::any_of(together.steps, [](const CallStep& s) { return s.call.axes > 1; }) &&
         std::ranges::any_of(apart.steps, [](const CallStep& s) {
           return kernels_can(s) && (s.diverted.pieces > 1 ||
                                     StepLines(s).count() * s.call.n[0] * from_bytes(s.call) >= least_bytes);
         });
}

/// The problem with its outermost loop shortened, to a power of two, until both sides have at most so many
/// bytes from the first to the last. With fewer axes it would be another problem. Complex arrays have no
/// gaps.
FftProblem trial_of(FftProblem problem, std::size_t most) {
  problem.in_place = false;
  problem.scale = 1;
  problem.diverted = {};
  problem.puts = false;
  problem.cells = {};
  for (auto* all : {&problem.dimensions, &problem.loops})
    for (FftDimension& d : *all) {
      d.diverted_stride = 0;
      d.diverted = false;
    }
  if (problem.kind == FftKind::c2c) problem.direction = Direction::forward;
  problem.loops = merge_loops(problem.loops);
  const auto close_gaps = [&] {
    if (problem.kind != FftKind::c2c) return;
    std::vector<FftDimension*> axes;
    for (auto* all : {&problem.dimensions, &problem.loops})
      for (FftDimension& d : *all) axes.push_back(&d);
    for (const auto stride : {&FftDimension::from_stride, &FftDimension::to_stride}) make_dense(axes, stride);
  };
  close_gaps();
  if (problem.loops.empty()) return problem;
  Index& n = std::ranges::max_element(problem.loops, {}, &FftDimension::to_stride)->n;
  const auto fits = [&] { return std::max(span_read(problem), span_written(problem)) <= most; };
  n = static_cast<Index>(std::bit_floor(static_cast<std::uint64_t>(n)));
  while (n > 1 && !fits()) {
    n /= 2;
    close_gaps();
  }
  return problem;
}

/// Whether one call along three axes, as the library does it, takes a work area of the array's size. cuFFT
/// then passes through memory more often than axis by axis, as with 600, 720, 1080 and 1536 points along
/// each.
bool takes_another_array(const FftProblem& problem, const MakeCallPlan& make) {
  const CufftCalls all = cufft_calls(problem);
  if (all.steps.size() != 1 || all.steps[0].call.axes != 3) return false;
  const CufftCall& call = all.steps[0].call;
  const Index points = call.batch * call.n[0] * call.n[1] * call.n[2];
  return make(call)->work_bytes() >= static_cast<std::size_t>(points * from_bytes(call));
}

/// The same planes without FFTs along the axis across them.
FftProblem planes_of(FftProblem problem) {
  const auto real = problem.kind == FftKind::real ? 1 : 0;  // the last axis stays
  const auto across = std::max_element(
      problem.dimensions.begin(), problem.dimensions.end() - real,
      [](const FftDimension& a, const FftDimension& b) { return a.to_stride < b.to_stride; });
  problem.loops.push_back(*across);
  problem.dimensions.erase(across);
  return problem;
}

std::size_t bytes_of(const FftProblem& trial) {
  return std::max(span_read(trial), span_written(trial));
}

/// What is timed for a problem: as much of it as is enough, or a box that cannot be shortened, if there is
/// room for it, or its planes, if the library is as slow with it as with planes.
FftProblem trial_within(std::size_t enough, std::size_t room, const FftProblem& problem,
                        const MakeCallPlan& make) {
  FftProblem trial = trial_of(problem, enough);
  const bool fits = bytes_of(trial) <= room;
  return fits || !takes_another_array(problem, make) ? trial : trial_of(planes_of(problem), enough);
}

enum class AxesWay { together, apart, planes };

AxesWay fastest_axes_way(Device& device, const FftProblem& problem, const MakeCallPlan& make,
                         const CallManner& together, const CallManner& apart) {
  if (!may_be_apart(problem)) return AxesWay::together;
  // A trial has two arrays, a work area, and for c2r an array aside. What cannot be shortened may take two
  // thirds of what is free.
  constexpr double of_what_is_free = 0.0625, most_of_what_is_free = 0.16, most_bytes = 256 << 20,
                   worth_it = 1.02;
  const double free = device.free_bytes(), room = most_of_what_is_free * free;
  const auto most = static_cast<std::size_t>(std::min(most_bytes, of_what_is_free * free));
  const Index diverted = problem.diverted.count;
  // Planes are worth it where peers get what they compute, or what is packed for them, and it takes longer
  // than blocks wait for each other.
  constexpr std::size_t least_of_planes = 20 << 20;
  const bool planes =
      problem.diverted.pieces > 1 && planes_can(problem) && span_read(problem) >= least_of_planes;
  const bool puts = planes && problem.puts;
  const std::tuple key(device.model(), trial_of(problem, most), diverted, planes, puts);
  static std::mutex mutex;
  static std::map<std::tuple<std::string, FftProblem, Index, bool, bool>, AxesWay> known;
  {
    const std::lock_guard lock(mutex);
    if (const auto found = known.find(key); found != known.end()) return found->second;
  }
  const FftProblem trial = trial_within(most, static_cast<std::size_t>(room), problem, make);
  const std::size_t bytes = bytes_of(trial);
  if (static_cast<double>(bytes) > room) return AxesWay::together;
  // What stores elsewhere has to be a kernel, and is timed as one.
  CallManner storing = apart;
  if (diverted > 0)
    storing.way = [&](const CallStep& step) {
      return kernels_can(step) ? LineWay::kernels : apart.way(step);
    };
  std::size_t copied = 0;
  for (const FftDimension& d : problem.dimensions)
    if (d.diverted) copied = bytes / static_cast<std::size_t>(d.n) * static_cast<std::size_t>(diverted);
  std::vector<TimedPlan> plans{{make_fft_of_calls(device, trial, make, together), 1, copied},
                               {make_fft_of_calls(device, trial, make, storing), worth_it}};
  // With a link to peers the first axis of planes takes no time: a third of both, or more. Of what is packed
  // they read and write less beside the messages of other tiles: two H200 take 2.70 ms for 512^3 by exchange
  // nccl instead of 2.79, but 22.3 instead of 20.4 for 1024^3.
  constexpr double hidden = 0.7, less_traffic = 0.9;
  if (planes && planes_can(trial))
    plans.push_back({plan_plane_lines(device, trial), puts ? hidden : less_traffic});
  const auto fastest = fastest_plan(device, plans, bytes);
  if (!fastest) return AxesWay::together;
  constexpr std::array ways{AxesWay::together, AxesWay::apart, AxesWay::planes};
  const std::lock_guard lock(mutex);
  return known.emplace(key, ways[*fastest]).first->second;
}

}  // namespace

std::shared_ptr<StreamFft> make_fft_of_calls(Device& device, const FftProblem& problem,
                                             const MakeCallPlan& make, const CallManner& manner) {
  auto all = std::make_shared<FftSequence>();
  const PlanStep plan = [&](const CallStep& step, double* scale) -> std::shared_ptr<StreamFft> {
    const LineWay way = step.by_kernels ? LineWay::kernels : manner.way(step);
    if (way == LineWay::calls) return plan_in_loops(step, plan_in_parts(step.call, make, manner.most_work));
    const double factor = scale != nullptr ? std::exchange(*scale, 1) : 1;
    LinesElsewise& elsewise = all->elsewise;
    (way == LineWay::aside ? elsewise.aside : elsewise.by_kernels).insert(step.call.n[0]);
    if (way == LineWay::aside) return plan_lines_aside(step, make, manner.most_work, factor);
    return way == LineWay::passes ? plan_lines_in_passes(device, step, manner.most_work, factor)
                                  : plan_strided_lines(device, step, factor);
  };
  if (problem.kind == FftKind::r2r)
    add_r2r_calls(*all, problem, plan);
  else
    add_calls(*all, problem, manner.axes, plan);
  return all;
}

std::shared_ptr<StreamFft> make_fastest_fft_of_calls(Device& device, const FftProblem& problem,
                                                     const MakeCallPlan& make) {
  CallManner together{[&](const CallStep& step) { return fastest_way(device, step, make); }};
  CallManner apart = together;
  apart.axes = AxesOf::apart;
  const AxesWay way = fastest_axes_way(device, problem, make, together, apart);
  if (way == AxesWay::planes) return plan_plane_lines(device, problem);
  return make_fft_of_calls(device, problem, make, way == AxesWay::apart ? apart : together);
}

}  // namespace weft
