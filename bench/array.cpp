#include "array.hpp"

#include <algorithm>
#include <new>

#include "base/text.hpp"
#include "weft/error.hpp"

namespace weft::bench {

Buffer<std::byte> host_memory(std::size_t bytes, const std::string& what) {
  try {
    return Buffer<std::byte>(bytes);
  } catch (const std::bad_alloc&) {
    throw Error("weft-bench", "no memory for " + human_bytes(static_cast<double>(bytes)) + ": " + what,
                "fewer points per rank");
  }
}

Array::Array(std::size_t bytes, std::shared_ptr<Device> device, const std::string& what)
    : size_(bytes), device_(std::move(device)) {
  if (!device_) {
    host_ = host_memory(bytes, what);
    return;
  }
  const DeviceScope scope(*device_);
  const std::string operation = "weft-bench: " + what;
  memory_ = device_->allocate(bytes, operation.c_str());
  pinned_ = device_->allocate_pinned(std::min(bytes, pinned_bytes), operation.c_str());
}

Array::Array(std::shared_ptr<std::byte> memory, std::size_t bytes, std::shared_ptr<Device> device,
             const std::string& what)
    : size_(bytes), device_(std::move(device)), memory_(std::move(memory)) {
  const DeviceScope scope(*device_);
  pinned_ = device_->allocate_pinned(std::min(bytes, pinned_bytes), ("weft-bench: " + what).c_str());
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
