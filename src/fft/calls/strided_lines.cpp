#include "fft/calls/strided_lines.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "fft/calls/step_lines.hpp"
#include "fft/loops.hpp"
#include "kernels/lines/step.hpp"
#include "weft/error.hpp"

namespace weft {

namespace {

/// exp(-2 pi i k / n) for k < n, in memory of the device.
template <class Real>
std::shared_ptr<std::byte> upload_roots(Device& device, Index n) {
  std::vector<std::complex<Real>> roots(static_cast<std::size_t>(n));
  for (Index k = 0; k < n; ++k) {
    const long double angle =
        -2 * std::numbers::pi_v<long double> * static_cast<long double>(k) / static_cast<long double>(n);
    roots[static_cast<std::size_t>(k)] = {static_cast<Real>(std::cos(angle)),
                                          static_cast<Real>(std::sin(angle))};
  }
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
  StridedLines(const LineStep& step, std::shared_ptr<std::byte> roots)
      : step_(step), roots_(std::move(roots)) {
    step_.roots = roots_.get();
    diverts = step_.diverted.count > 0;
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
  std::shared_ptr<std::byte> roots_;
};

/// The loops over the lines, those with the shortest strides first.
std::vector<FftDimension> loops_of(const StepLines& lines) {
  std::vector<FftDimension> loops = merge_loops(lines.around);
  std::ranges::stable_sort(loops, {}, [](const FftDimension& d) { return d.from_stride + d.to_stride; });
  return loops;
}

}  // namespace

bool kernels_can(const CallStep& step) {
  const CufftCall& call = step.call;
  if (call.kind != FftKind::c2c || call.axes != 1 || !line_radices(call.n[0])) return false;
  const StepLines lines(step);
  const std::vector<FftDimension> loops = loops_of(lines);
  return !loops.empty() && loops.size() <= LineStep::most_loops && loops[0].from_stride == 1 &&
         loops[0].to_stride == 1 && lines.count() < std::numeric_limits<std::int32_t>::max();
}

bool kernels_can_divert(const CallStep& step) {
  return step.diverted.count > 0 && kernels_can(step) && loops_of(StepLines(step))[0].diverted_stride == 1;
}

std::shared_ptr<StreamFft> plan_strided_lines(Device& device, const CallStep& step, double scale) {
  if (!kernels_can(step))
    throw Error("plan: local FFT", to_string(step.call), "lines that kernels of Weft can transform");
  const StepLines lines(step);
  LineStep s;
  s.n = lines.line.n;
  const auto radices = line_radices(s.n);
  s.radices = *radices;
  s.stages = static_cast<int>(std::ranges::count_if(s.radices, [](int radix) { return radix > 0; }));
  s.from_stride = lines.line.from_stride;
  s.to_stride = lines.line.to_stride;
  for (const FftDimension& d : loops_of(lines))
    s.loops[static_cast<std::size_t>(s.count++)] = {d.n, d.from_stride, d.to_stride, d.diverted_stride};
  s.forward = step.call.direction == Direction::forward;
  s.real_bytes = static_cast<int>(real_bytes(step.call.precision));
  s.factor = scale;
  if (kernels_can_divert(step)) {
    s.diverted = step.diverted;
    s.diverted_stride = lines.line.diverted_stride;
  }
  return std::make_shared<StridedLines>(
      s, s.real_bytes == 8 ? upload_roots<double>(device, s.n) : upload_roots<float>(device, s.n));
}

}  // namespace weft
