// Times of work on a stream of a device. The host is kept ahead: what is timed is enqueued behind copies that
// take the device a while, so that it never waits for the host.
#pragma once

#include <memory>
#include <vector>

#include "clock.hpp"
#include "device/device.hpp"

namespace weft::bench {

class DeviceTimer {
 public:
  /// The device has been entered. Two arrays of so many bytes are there for what is timed; copies between
  /// them are what keeps the host ahead.
  DeviceTimer(Device& device, std::size_t bytes)
      : bytes_(bytes),
        device_(device),
        stream_(device.make_stream()),
        begin_(device.make_event(true)),
        end_(device.make_event(true)),
        from_(device.allocate(bytes, what)),
        to_(device.allocate(bytes, what)) {
    stream_->fill(from_.get(), 0, bytes);
    stream_->fill(to_.get(), 0, bytes);
  }

  Device& device() { return device_; }
  DeviceStream& stream() { return *stream_; }
  std::byte* from() { return from_.get(); }
  std::byte* to() { return to_.get(); }
  std::size_t bytes() const { return bytes_; }

  struct Times {
    double device_s = 0;  ///< of one on the device
    double host_s = 0;    ///< to enqueue one
  };
  /// `enqueue()` appends work to the stream, so often in a row; medians of some tries. The first one does not
  /// count: libraries load what they need.
  template <class Enqueue>
  Times time(int repeat, const Enqueue& enqueue) {
    std::vector<double> of_device, of_host;
    constexpr int tries = 5;
    for (int i = -1; i < tries; ++i) {
      for (int k = 0; k < 2 + repeat / 8; ++k) stream_->copy(to_.get(), from_.get(), bytes_);
      stream_->record(*begin_);
      const double begin = seconds();
      for (int k = 0; k < repeat; ++k) enqueue();
      const double end = seconds();
      stream_->record(*end_);
      device_.wait_for(*end_);
      if (i < 0) continue;
      of_device.push_back(device_.seconds_between(*begin_, *end_) / repeat);
      of_host.push_back((end - begin) / repeat);
    }
    return {summarise(of_device).median, summarise(of_host).median};
  }
  template <class Enqueue>
  double device_seconds(int repeat, const Enqueue& enqueue) {
    return time(repeat, enqueue).device_s;
  }

  static constexpr const char* what = "weft-bench: what measures a device";

 private:
  std::size_t bytes_;
  Device& device_;
  std::unique_ptr<DeviceStream> stream_;
  std::unique_ptr<DeviceEvent> begin_, end_;
  std::shared_ptr<std::byte> from_, to_;
};

}  // namespace weft::bench
