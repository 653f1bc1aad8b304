#include "exec/stream/times.hpp"

#include <algorithm>

namespace weft {

void StreamTimes::set(bool on, Device& device, std::size_t operations) {
  on_ = on;
  if (!on || began_) return;
  began_ = device.make_event(true);
  for (std::size_t i = 0; i < operations; ++i)
    noted_.push_back({Noted::State::none, device.make_event(true), device.make_event(true)});
}

void StreamTimes::start(DeviceStream& stream) {
  for (Noted& n : noted_) n.state = Noted::State::none;
  if (on_) stream.record(*began_);
}

void StreamTimes::begin(std::size_t operation, DeviceStream& stream) {
  if (!on_ || noted_[operation].state != Noted::State::none) return;
  stream.record(*noted_[operation].begin);
  noted_[operation].state = Noted::State::begun;
}

void StreamTimes::end(std::size_t operation, DeviceStream& stream) {
  if (!on_) return;
  stream.record(*noted_[operation].end);
  noted_[operation].state = Noted::State::ended;
}

std::optional<StreamTimes::Interval> StreamTimes::of(std::size_t operation, const Device& device) const {
  if (operation >= noted_.size() || noted_[operation].state != Noted::State::ended) return std::nullopt;
  return Interval{device.seconds_between(*began_, *noted_[operation].begin),
                  device.seconds_between(*began_, *noted_[operation].end)};
}

bool StreamTimes::any() const {
  return std::any_of(noted_.begin(), noted_.end(),
                     [](const Noted& n) { return n.state == Noted::State::ended; });
}

void StreamTimes::clear() {
  noted_.clear();
  began_.reset();
}

}  // namespace weft
