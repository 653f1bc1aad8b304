#include "support/double_fft.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <mutex>

#include "fft/calls/plane_lines.hpp"
#include "fft/calls/run_calls.hpp"
#include "fft/calls/step_lines.hpp"
#include "fft/calls/strided_lines.hpp"
#include "fft/calls/two_passes.hpp"
#include "support/cufft_call_rules.hpp"
#include "support/double_memory.hpp"
#include "support/double_stream.hpp"
#include "weft/buffer.hpp"

namespace weft::test::device_double {

namespace {

/// So few that most random problems have calls in parts.
constexpr std::size_t most_items = 24, work_of_each = 16;
constexpr Index most_in_passes = 64 << 10;  // bytes

/// A call, by FFTW. Like cuFFT, a c2r destroys its input and writes between lines as if they were complex
/// ones, and real lines start on complex elements.
class Call final : public StreamFft {
 public:
  explicit Call(const CufftCall& call) : call_(call) {
    if (const std::string why = refused(call); !why.empty()) fail(why + " in " + to_string(call));
    problem_.precision = call.precision;
    problem_.kind = call.kind;
    problem_.direction = call.direction;
    problem_.aligned = false;
    problem_.may_destroy_input = call.kind == FftKind::real && call.direction == Direction::backward;
    Index from = call.from.stride, to = call.to.stride;
    for (int i = call.axes - 1; i >= 0; --i) {
      const auto at = static_cast<std::size_t>(i);
      problem_.dimensions.insert(problem_.dimensions.begin(), {call.n[at], from, to});
      from *= call.from.embed[at];
      to *= call.to.embed[at];
    }
    if (call.batch > 1) problem_.loops = {{call.batch, call.from.distance, call.to.distance}};
  }

  std::size_t work_bytes() const override { return static_cast<std::size_t>(call_.batch) * work_of_each; }

  void enqueue(DeviceStream& stream, std::byte* from, std::byte* to, std::byte* work,
               const FftContext& /*context*/) override {
    const Aside aside;
    const auto complex = static_cast<std::uintptr_t>(2 * real_bytes(call_.precision));
    for (const std::byte* at : {from, to, work})
      if (reinterpret_cast<std::uintptr_t>(at) % complex != 0) fail("arrays off a complex element");
    if (Memory::of_process().owner(work) < 0) fail("no work area");
    FftProblem problem = problem_;
    problem.in_place = from == to;
    const bool destroys =
        call_.kind == FftKind::real && problem_.direction == Direction::backward && from != to;
    const std::size_t used = work_bytes();
    static_cast<Stream&>(stream).run([=, this] {
      std::memset(work, 0xff, used);
      const auto fft = plan(problem);
      Buffer<std::byte> space(static_cast<std::size_t>(fft->work_bytes()));
      fft->execute(from, to, space.data());
      if (!destroys) return;
      std::memset(from, 0xff, complex);
      spoil_gaps(call_, to);
    });
  }

 private:
  /// As cuFFT's, plans are kept: FFTW may make another one for the same problem later, with other rounding
  /// errors.
  std::shared_ptr<const LocalFft> plan(const FftProblem& problem) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<const LocalFft>& kept = kept_[problem.in_place ? 1 : 0];
    if (!kept) kept = fftw_row().plan(problem);
    return kept;
  }

  /// What lies behind real lines that are embedded in longer ones, but for the last line, where no item of
  /// the batch lies there.
  static void spoil_gaps(const CufftCall& call, std::byte* to) {
    const auto last = static_cast<std::size_t>(call.axes - 1);
    const Index line = call.axes > 1 ? call.to.embed[last] : call.to.distance / call.to.stride;
    const Index n = call.n[last], end = std::min(line, 2 * (n / 2 + 1)), size = real_bytes(call.precision);
    const std::array<Index, 2> rows{call.axes > 2 ? call.n[0] : 1, call.axes > 1 ? call.n[last - 1] : 1};
    if (call.axes > 1 && call.batch > 1 && call.to.distance < line * rows[1] * call.to.stride) return;
    for (Index b = 0; b < call.batch; ++b)
      for (Index i = 0; i < rows[0]; ++i)
        for (Index j = 0; j < rows[1]; ++j) {
          if (b + 1 == call.batch && i + 1 == rows[0] && j + 1 == rows[1]) return;
          const Index row = (i * (call.axes > 2 ? call.to.embed[1] : 0) + j) * (call.axes > 1 ? line : 0);
          for (Index k = n; k < end; ++k)
            std::memset(to + (b * call.to.distance + (row + k) * call.to.stride) * size, 0xff,
                        static_cast<std::size_t>(size));
        }
  }

  std::mutex mutex_;
  std::array<std::shared_ptr<const LocalFft>, 2> kept_;  ///< out of place, in place
  CufftCall call_;
  FftProblem problem_;
};

/// Whatever is faster.
LineWay some_way(const CallStep& step) {
  const CufftCall& call = step.call;
  const Index bytes = StepLines(step).count() * call.n[0] * from_bytes(call);
  if (kernels_can_real_rows(step) && StepLines(step).count() % 2 == 0) return LineWay::kernels;
  if (call.n[0] % 8 == 0 && bytes <= most_in_passes && passes_can(step)) return LineWay::passes;
  if (step.diverted.count > 0 ? kernels_can_divert(step)
                              : call.from.stride > 1 && call.n[0] % 4 != 0 && kernels_can(step))
    return LineWay::kernels;
  if (call.kind == FftKind::c2c && call.axes == 1 && call.from.stride > 1 && call.n[0] % 2 == 1)
    return LineWay::aside;
  return LineWay::calls;
}

/// Of problems whose loops have an odd number of indices in all, or that may store modes elsewhere.
AxesOf some_axes(const FftProblem& problem) {
  if (problem.diverted.count > 0) return AxesOf::apart;
  Index count = 1;
  for (const FftDimension& d : problem.loops) count *= d.n;
  return count % 2 == 1 ? AxesOf::apart : AxesOf::together;
}

/// So little that calls are done in parts; enough for two passes that store modes elsewhere.
std::size_t most_work(const FftProblem& problem) {
  return problem.diverted.count > 0 ? most_in_passes : most_items * work_of_each;
}

/// Of problems that are stored on peers and have an even number of planes, but for lines that two passes do.
bool in_planes(const FftProblem& problem) {
  Index planes = 1;
  for (const FftDimension& d : problem.loops) planes *= d.n;
  const auto in_passes = [](const FftDimension& d) { return d.diverted && d.n % 8 == 0; };
  return problem.diverted.pieces > 1 && planes % 2 == 0 && planes_can(problem) &&
         std::ranges::none_of(problem.dimensions, in_passes);
}

}  // namespace

FftRow fft_row() {
  FftRow row = fftw_row();
  row.name = "double";
  row.unable = unable_in_calls;
  row.memory = MemoryKind::cuda;
  row.plan = nullptr;
  row.plan_on = [](Device& device, const FftProblem& problem) {
    if (in_planes(problem)) return plan_plane_lines(device, problem);
    return make_fft_of_calls(device, problem,
                             [](const CufftCall& call) { return std::make_shared<Call>(call); },
                             {some_way, some_axes(problem), most_work(problem)});
  };
  return row;
}

}  // namespace weft::test::device_double
