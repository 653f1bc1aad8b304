// When the operations of an execution began and ended on the streams of a device, by events around each.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/timing.hpp"
#include "device/device.hpp"

namespace weft {

class StreamTimes {
 public:
  /// Whether executions are noted from now on, of so many operations. The first time makes the events; if it
  /// throws, nothing has changed.
  void set(bool on, Device& device, std::size_t operations) {
    if (on && !began_) {
      std::vector<Noted> noted;
      for (std::size_t i = 0; i < operations; ++i)
        noted.push_back({Noted::State::none, device.make_event(true), device.make_event(true)});
      idle_ = device.make_stream();
      now_ = device.make_event(true);
      began_ = device.make_event(true);  // the last
      noted_ = std::move(noted);
    }
    on_ = on;
  }
  bool on() const { return on_; }
  /// Of a new execution, which is noted or not. Looks at the clocks of the device and of the host.
  void start(DeviceStream& stream, const Device& device) {
    for (Noted& n : noted_) n.state = Noted::State::none;
    if (!on_) return;
    idle_->record(*now_);
    device.wait_for(*now_);
    host_now_ = seconds_now();
    stream.record(*began_);
  }
  /// What has begun already goes on.
  void begin(std::size_t operation, DeviceStream& stream) {
    if (!on_ || noted_[operation].state != Noted::State::none) return;
    stream.record(*noted_[operation].begin);
    noted_[operation].state = Noted::State::begun;
  }
  void end(std::size_t operation, DeviceStream& stream) {
    if (!on_) return;
    stream.record(*noted_[operation].end);
    noted_[operation].state = Noted::State::ended;
  }

  struct Interval {
    double begin, end;  ///< seconds since the start
  };
  /// Of the last execution, which has to be done; nothing if it, or the operation in it, was not noted.
  std::optional<Interval> of(std::size_t operation, const Device& device) const {
    if (operation >= noted_.size() || noted_[operation].state != Noted::State::ended) return std::nullopt;
    return Interval{device.seconds_between(*began_, *noted_[operation].begin),
                    device.seconds_between(*began_, *noted_[operation].end)};
  }
  /// When the last noted execution began, by the clock of the host.
  double began(const Device& device) const { return host_now_ + device.seconds_between(*now_, *began_); }
  bool any() const {
    return std::any_of(noted_.begin(), noted_.end(),
                       [](const Noted& n) { return n.state == Noted::State::ended; });
  }
  /// Gives the events back.
  void clear() {
    noted_.clear();
    began_.reset();
    now_.reset();
    idle_.reset();
  }

 private:
  struct Noted {
    enum class State { none, begun, ended } state = State::none;
    std::unique_ptr<DeviceEvent> begin, end;
  };
  std::unique_ptr<DeviceEvent> began_;
  // The two clocks at the same moment, by an event on a stream with nothing else on it.
  std::unique_ptr<DeviceStream> idle_;
  std::unique_ptr<DeviceEvent> now_;
  double host_now_ = 0;
  std::vector<Noted> noted_;  ///< per operation
  bool on_ = false;
};

}  // namespace weft
