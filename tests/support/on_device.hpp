// A local FFT of a device, as one of the host.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>

#include "fft/local_fft.hpp"
#include "fft/stream_fft.hpp"
#include "support/device_mirror.hpp"
#include "support/devices.hpp"

namespace weft::test {

/// Arrays are copied to the device and back.
class OnDevice final : public LocalFft {
 public:
  using Planner = std::function<std::shared_ptr<StreamFft>(Device& device, const FftProblem& problem)>;

  /// `times`: each execution is enqueued so often, all at once; more than once out of place alone.
  explicit OnDevice(const FftProblem& problem, const Planner& plan = by_the_library, int times = 1)
      : problem_(problem), device_(current_device()), times_(times) {
    const DeviceScope scope(*device_);
    fft_ = plan(*device_, problem);
  }
  ~OnDevice() override {
    const DeviceScope scope(*device_);
    fft_.reset();
  }

  static std::shared_ptr<StreamFft> by_the_library(Device& device, const FftProblem& problem) {
    return plan_stream_fft(find_ffts("auto", MemoryKind::cuda), problem, device).fft;
  }

  const LinesElsewise& elsewise() const { return fft_->elsewise; }

  void execute(void* from, void* to, std::byte* /*work*/) const override {
    DeviceMirror mirror;
    const std::size_t read = span_read(problem_), written = span_written(problem_);
    const std::size_t larger = std::max(read, written);
    std::byte* const in = mirror.upload(from, problem_.in_place ? larger : read);
    std::byte* const out = problem_.in_place ? in : mirror.upload(to, written);
    std::byte* const work = mirror.fresh(fft_->work_bytes());
    {
      const DeviceScope scope(*device_);
      for (int i = 0; i < times_; ++i) fft_->enqueue(mirror.stream(), in, out, work);
    }
    if (!problem_.in_place) mirror.download(from, in, read);
    mirror.download(to, out, problem_.in_place ? larger : written);
  }

 private:
  FftProblem problem_;
  std::shared_ptr<Device> device_;
  std::shared_ptr<StreamFft> fft_;
  int times_;
};

}  // namespace weft::test
