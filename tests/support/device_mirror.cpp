#include "support/device_mirror.hpp"

#include <cstring>

namespace weft::test {

DeviceMirror::DeviceMirror() : device_(current_device()) {
  const DeviceScope scope(*device_);
  stream_ = device_->make_stream();
  event_ = device_->make_event(false);
}

DeviceMirror::~DeviceMirror() {
  const DeviceScope scope(*device_);
  finish();
  kept_.clear();
  stream_.reset();
  event_.reset();
}

void DeviceMirror::finish() {
  stream_->record(*event_);
  device_->wait_for(*event_);
}

std::byte* DeviceMirror::upload(const void* host, std::size_t bytes) {
  if (bytes == 0) return nullptr;
  const DeviceScope scope(*device_);
  const std::shared_ptr<std::byte> pinned = device_->allocate_pinned(bytes, "test");
  std::memcpy(pinned.get(), host, bytes);
  kept_.push_back(device_->allocate(bytes, "test"));
  stream_->copy(kept_.back().get(), pinned.get(), bytes);
  finish();
  return kept_.back().get();
}

std::byte* DeviceMirror::fresh(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  const DeviceScope scope(*device_);
  kept_.push_back(device_->allocate(bytes, "test"));
  stream_->fill(kept_.back().get(), 0xff, bytes);
  return kept_.back().get();
}

void DeviceMirror::download(void* host, const std::byte* device, std::size_t bytes) {
  if (bytes == 0) return;
  const DeviceScope scope(*device_);
  const std::shared_ptr<std::byte> pinned = device_->allocate_pinned(bytes, "test");
  stream_->copy(pinned.get(), device, bytes);
  finish();
  std::memcpy(host, pinned.get(), bytes);
}

}  // namespace weft::test
