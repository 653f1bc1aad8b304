// When the operations of an execution began and ended on the streams of a device, by events around each.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "device/device.hpp"

namespace weft {

class StreamTimes {
 public:
  /// Whether executions are noted from now on, of so many operations. The first time makes the events.
  void set(bool on, Device& device, std::size_t operations);
  bool on() const { return on_; }
  /// Of a new execution, which is noted or not.
  void start(DeviceStream& stream);
  /// What has begun already goes on.
  void begin(std::size_t operation, DeviceStream& stream);
  void end(std::size_t operation, DeviceStream& stream);

  struct Interval {
    double begin, end;  ///< seconds since the start
  };
  /// Of the last execution, which has to be done; nothing if it, or the operation in it, was not noted.
  std::optional<Interval> of(std::size_t operation, const Device& device) const;
  bool any() const;
  /// Gives the events back.
  void clear();

 private:
  struct Noted {
    enum class State { none, begun, ended } state = State::none;
    std::unique_ptr<DeviceEvent> begin, end;
  };
  std::unique_ptr<DeviceEvent> began_;
  std::vector<Noted> noted_;  ///< per operation
  bool on_ = false;
};

}  // namespace weft
