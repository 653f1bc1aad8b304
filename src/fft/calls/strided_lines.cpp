#include "fft/calls/strided_lines.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <numbers>
#include <optional>
#include <utility>
#include <vector>

#include "fft/calls/step_lines.hpp"
#include "fft/loops.hpp"
#include "weft/error.hpp"

namespace weft {

namespace {

/// exp(-2 pi i k / n) for `count` numbers k that are `apart`.
template <class Real>
void add_roots(std::vector<std::complex<Real>>& roots, Index n, Index count, Index apart) {
  for (Index i = 0; i < count; ++i) {
    const auto k = static_cast<long double>(i * apart);
    const long double angle = -2 * std::numbers::pi_v<long double> * k / static_cast<long double>(n);
    roots.emplace_back(static_cast<Real>(std::cos(angle)), static_cast<Real>(std::sin(angle)));
  }
}

/// In memory of the device.
template <class Real>
std::shared_ptr<std::byte> upload(Device& device, const std::vector<std::complex<Real>>& roots) {
  constexpr const char* operation = "plan: roots of line FFTs";
  const std::size_t bytes = roots.size() * sizeof roots[0];
  auto memory = device.allocate(bytes, operation);
  const auto pinned = device.allocate_pinned(bytes, operation);
  std::copy_n(reinterpret_cast<const std::byte*>(roots.data()), bytes, pinned.get());
  const auto stream = device.make_stream();
  const auto done = device.make_event(false);
  stream->copy(memory.get(), pinned.get(), bytes);
  stream->record(*done);
  device.wait_for(*done);
  return memory;
}

class StridedLines final : public StreamFft {
 public:
  /// `factors`: of modes, or of real rows.
  StridedLines(const LineStep& step, std::shared_ptr<std::byte> roots, std::shared_ptr<std::byte> factors)
      : step_(step), roots_(std::move(roots)), factors_(std::move(factors)) {
    step_.roots = roots_.get();
    (step_.real_rows != RealRows::none ? step_.real_roots : step_.turn.roots) = factors_.get();
    diverts = step_.diverted.count > 0;
    spares_output = step_.diverted.count == step_.n;
  }
  std::size_t work_bytes() const override { return 0; }
  void enqueue(DeviceStream& stream, std::byte* from, std::byte* to, std::byte* /*work*/,
               const FftContext& context) override {
    LineArrays arrays{from, to};
    if (diverts) arrays.diverted = context.diverted;
    const bool signals = diverts && context.signals != nullptr;
    stream.lines(arrays, step_, signals ? *context.signals : DeviceSignals{});
  }

 private:
  LineStep step_;
  std::shared_ptr<std::byte> roots_, factors_;
};

LineStep with(LineStep step, const LineRadices& radices) {
  step.radices = radices;
  step.stages = static_cast<int>(std::ranges::count_if(step.radices, [](int radix) { return radix > 0; }));
  return step;
}
/// Of lines that one block of threads has.
LineRadices radices_of_block(const LineStep& step) {
  if (step.real_rows != RealRows::none) return real_row_radices(step.n, step.real_rows);
  return complex_line_radices(step.n, step.of_rows() ? LineKind::rows : LineKind::apart);
}

template <class Real>
std::shared_ptr<StreamFft> plan_with_roots(Device& device, LineStep step) {
  std::vector<std::complex<Real>> roots, factors;
  add_roots(roots, step.n, step.n, 1);
  if (step.real_rows != RealRows::none) add_roots(factors, 2 * step.n, step.n, 1);
  if (step.turn.loop >= 0) {
    const Index n = step.n * step.loops[static_cast<std::size_t>(step.turn.loop)].n;
    step.turn.low_bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n))) / 2;
    const Index low = Index{1} << step.turn.low_bits;
    add_roots(factors, n, low, 1);
    add_roots(factors, n, n / low + 1, low);
  }
  return std::make_shared<StridedLines>(step, upload(device, roots),
                                        factors.empty() ? nullptr : upload(device, factors));
}

}  // namespace

std::vector<FftDimension> loops_of(const StepLines& lines) {
  return merge_loops(lines.around);
}

std::shared_ptr<std::byte> complete_line_step(Device& device, LineStep& step, const LineRadices& radices) {
  step = with(step, radices);
  const auto roots = [&]<class Real>(Real) {
    std::vector<std::complex<Real>> all;
    add_roots(all, step.n, step.n, 1);
    return upload(device, all);
  };
  std::shared_ptr<std::byte> memory = step.real_bytes == 8 ? roots(double{}) : roots(float{});
  step.roots = memory.get();
  return memory;
}

std::optional<LineRadices> shared_radices(const LineStep& step, int most_parts) {
  // No less than the rows of a block that has a part of each line. One block reads shorter runs as fast, and
  // waits for no other: 1024^3 that lands in cells takes 0.93 of the time.
  constexpr Index least_run = 128;
  const bool fill = 2 * step.real_bytes * step.loops[0].n >= least_run;
  return fill && may_have_parts(step) ? part_radices(step.n, most_parts) : std::nullopt;
}

std::shared_ptr<StreamFft> plan_line_step(Device& device, LineStep step) {
  const auto shared = shared_radices(step, device.most_line_parts());
  step = with(step, shared ? *shared : radices_of_block(step));
  if (shared) step.parts = shared->front();
  return step.real_bytes == 8 ? plan_with_roots<double>(device, step) : plan_with_roots<float>(device, step);
}

namespace {

/// Whether there are radices for lines of n points, and loops over them that kernels have.
bool have_kernels(const CallStep& step, Index n, const std::vector<FftDimension>& loops) {
  return step.call.axes == 1 && line_radices(n) && !loops.empty() && loops.size() <= LineStep::most_loops &&
         StepLines(step).count() < std::numeric_limits<std::int32_t>::max();
}

}  // namespace

bool kernels_can(const CallStep& step) {
  const std::vector<FftDimension> loops = loops_of(StepLines(step));
  return step.call.kind == FftKind::c2c && have_kernels(step, step.call.n[0], loops) &&
         loops[0].from_stride == 1 && loops[0].to_stride == 1;
}

bool kernels_can_rows(const CallStep& step) {
  const bool kept = step.diverted.count == 0,
             all_diverted = step.diverted.count == step.call.n[0] && step.diverted_stride == 1;
  return step.call.kind == FftKind::c2c && have_kernels(step, step.call.n[0], loops_of(StepLines(step))) &&
         step.call.from.stride == 1 && step.call.to.stride == 1 && (kept || all_diverted);
}

bool kernels_can_real_rows(const CallStep& step) {
  const CufftCall& call = step.call;
  if (call.kind != FftKind::real || call.n[0] % 2 != 0 || call.from.stride != 1 || call.to.stride != 1)
    return false;
  const std::vector<FftDimension> loops = loops_of(StepLines(step));
  const auto stride =
      call.direction == Direction::forward ? &FftDimension::from_stride : &FftDimension::to_stride;
  return have_kernels(step, call.n[0] / 2, loops) && step.diverted.count == 0 &&
         std::ranges::all_of(loops, [&](const FftDimension& d) { return d.*stride % 2 == 0; });
}

bool kernels_can_divert(const CallStep& step) {
  if (step.diverted.count == 0) return false;
  return kernels_can_rows(step) || (kernels_can(step) && loops_of(StepLines(step))[0].diverted_stride == 1);
}

std::shared_ptr<StreamFft> plan_strided_lines(Device& device, const CallStep& step, double scale) {
  const bool reals = kernels_can_real_rows(step), forward = step.call.direction == Direction::forward;
  if (!reals && !kernels_can(step) && !kernels_can_rows(step))
    throw Error("plan: local FFT", to_string(step.call), "lines that kernels of Weft can transform");
  const StepLines lines(step);
  LineStep s;
  s.n = lines.line.n;
  s.from_stride = lines.line.from_stride;
  s.to_stride = lines.line.to_stride;
  // Two real numbers are a complex one.
  const Index from_unit = reals && forward ? 2 : 1, to_unit = reals && !forward ? 2 : 1;
  if (reals) {
    s.n /= 2;
    s.real_rows = forward ? RealRows::read : RealRows::stored;
  }
  for (const FftDimension& d : loops_of(lines))
    s.loops[static_cast<std::size_t>(s.count++)] = {d.n, d.from_stride / from_unit, d.to_stride / to_unit,
                                                    d.diverted_stride};
  s.forward = forward;
  s.real_bytes = static_cast<int>(real_bytes(step.call.precision));
  s.factor = scale;
  if (kernels_can_divert(step)) {
    s.diverted = step.diverted;
    s.diverted_stride = lines.line.diverted_stride;
  }
  return plan_line_step(device, s);
}

}  // namespace weft
