#include "array.hpp"

#include <algorithm>
#include <cstring>

namespace weft::bench {

namespace {
constexpr const char* operation = "weft-bench";
/// Images go through pinned memory of this size.
constexpr std::size_t pinned_bytes = std::size_t{64} << 20;
}  // namespace

Array::Array(std::size_t bytes, std::shared_ptr<Device> device) : size_(bytes), device_(std::move(device)) {
  if (!device_) {
    image();
    return;
  }
  const DeviceScope scope(*device_);
  memory_ = device_->allocate(bytes, operation);
}

void* Array::image() {
  if (image_.size() < size_) image_ = Buffer<char>(size_);
  return image_.data();
}

void Array::copy(bool to_device) {
  if (!device_ || size() == 0) return;
  auto* const image = static_cast<char*>(this->image());
  const DeviceScope scope(*device_);
  const std::size_t most = std::min(size(), pinned_bytes);
  const std::shared_ptr<std::byte> pinned = device_->allocate_pinned(most, operation);
  const std::unique_ptr<DeviceStream> stream = device_->make_stream();
  const std::unique_ptr<DeviceEvent> done = device_->make_event(false);
  for (std::size_t at = 0; at < size(); at += most) {
    const std::size_t bytes = std::min(most, size() - at);
    if (to_device) std::memcpy(pinned.get(), image + at, bytes);
    to_device ? stream->copy(memory_.get() + at, pinned.get(), bytes)
              : stream->copy(pinned.get(), memory_.get() + at, bytes);
    stream->record(*done);
    device_->wait_for(*done);
    if (!to_device) std::memcpy(image + at, pinned.get(), bytes);
  }
}

}  // namespace weft::bench
