#include "array.hpp"

#include <algorithm>

namespace weft::bench {

namespace {
constexpr const char* operation = "weft-bench";
}  // namespace

Array::Array(std::size_t bytes, std::shared_ptr<Device> device) : size_(bytes), device_(std::move(device)) {
  if (!device_) {
    host_ = Buffer<std::byte>(bytes);
    return;
  }
  const DeviceScope scope(*device_);
  memory_ = device_->allocate(bytes, operation);
  pinned_ = device_->allocate_pinned(std::min(bytes, pinned_bytes), operation);
}

std::byte* Array::stretch(std::size_t at, std::size_t bytes, bool is_read) {
  if (!device_) return host_.data() + at;
  at_ = at;
  bytes_ = bytes;
  if (is_read) copy(false);
  return pinned_.get();
}

void Array::store() {
  if (device_) copy(true);
}

void Array::copy(bool to_device) {
  if (bytes_ == 0) return;
  const DeviceScope scope(*device_);
  const std::unique_ptr<DeviceStream> stream = device_->make_stream();
  const std::unique_ptr<DeviceEvent> done = device_->make_event(false);
  to_device ? stream->copy(memory_.get() + at_, pinned_.get(), bytes_)
            : stream->copy(pinned_.get(), memory_.get() + at_, bytes_);
  stream->record(*done);
  device_->wait_for(*done);
}

}  // namespace weft::bench
