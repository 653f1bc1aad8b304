// Local FFTs of any layout in device memory, against the direct sum.
#include <gtest/gtest.h>

#include <random>

#include "fft/embedded.hpp"
#include "fft/stream_fft.hpp"
#include "support/device_mirror.hpp"
#include "support/devices.hpp"
#include "support/local_problem.hpp"

namespace weft::test {

namespace {

/// A local FFT of a device as one of the host.
class OnDevice final : public LocalFft {
 public:
  explicit OnDevice(const FftProblem& problem) : problem_(problem), device_(current_device()) {
    const DeviceScope scope(*device_);
    fft_ = plan_stream_fft(find_ffts("auto", MemoryKind::cuda), problem, *device_).fft;
  }
  ~OnDevice() override {
    const DeviceScope scope(*device_);
    fft_.reset();
  }

  void execute(void* from, void* to) const override {
    DeviceMirror mirror;
    const std::size_t read = span_read(problem_), written = span_written(problem_);
    const std::size_t larger = std::max(read, written);
    std::byte* const in = mirror.upload(from, problem_.in_place ? larger : read);
    std::byte* const out = problem_.in_place ? in : mirror.upload(to, written);
    std::byte* const work = mirror.fresh(fft_->work_bytes());
    {
      const DeviceScope scope(*device_);
      fft_->enqueue(mirror.stream(), in, out, work);
    }
    if (!problem_.in_place) mirror.download(from, in, read);
    mirror.download(to, out, problem_.in_place ? larger : written);
  }

 private:
  FftProblem problem_;
  std::shared_ptr<Device> device_;
  std::shared_ptr<StreamFft> fft_;
};

/// The calls that a transform becomes.
std::string steps_of(const FftProblem& problem) {
  std::string text = problem.in_place ? "in place" : "out of place";
  for (const EmbeddedStep& step : embed(problem).steps) text += "; " + to_string(step.call);
  return text;
}

}  // namespace

TEST(DeviceFft, AnyLayoutAgainstTheDirectSum) {
  const ScopedDevices devices;
  ScopedDevices::choose(0);
  std::mt19937_64 random(11);
  for (int i = 0; i < 300; ++i) {
    const LocalProblem problem = random_local_problem(random);
    if (!find_ffts("auto", MemoryKind::cuda).front()->unable(problem.fft).empty()) continue;
    SCOPED_TRACE(steps_of(problem.fft));
    const OnDevice fft(problem.fft);
    const LocalResult result = compute(fft, problem);
    ASSERT_LE(result.error, local_bound(problem)) << "problem " << i;
    ASSERT_TRUE(result.gaps_kept) << "problem " << i;
    if (!problem.fft.may_destroy_input) {
      ASSERT_TRUE(result.input_kept) << "problem " << i;
    }
  }
}

}  // namespace weft::test
