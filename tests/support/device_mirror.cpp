#include "support/device_mirror.hpp"

#include <algorithm>
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
  finish();  // an execution may be enqueued on another stream
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

void on_host(const Block& block, const std::function<void(const Block&)>& op) {
  const std::shared_ptr<Device> device = current_device();
  const DeviceScope scope(*device);
  DeviceStream& stream = *block.queue;
  const std::unique_ptr<DeviceEvent> event = device->make_event(false);
  const auto finish = [&] {
    stream.record(*event);
    device->wait_for(*event);
  };
  Index last = (std::max(block.fields, block.results) - 1) * block.field_stride;
  for (int a = 0; a < block.box.ndim(); ++a) last += (block.box.extent(a) - 1) * block.strides[a];
  const Index element = (block.element == Element::complex ? 2 : 1) *
                        (block.precision == Precision::float64 ? Index{8} : Index{4});
  const auto bytes = static_cast<std::size_t>((last + 1) * element);
  const std::shared_ptr<std::byte> copy = device->allocate_pinned(bytes, "test");
  auto* const data = static_cast<std::byte*>(block.data);
  stream.copy(copy.get(), data, bytes);
  finish();
  Block here = block;
  here.memory = MemoryKind::host;
  here.data = copy.get();
  here.stream = nullptr;
  here.queue = nullptr;
  op(here);
  stream.copy(data, copy.get(), bytes);
  finish();
}

}  // namespace weft::test
