#include "device/device.hpp"

#include <atomic>
#include <exception>
#include <utility>

#include "weft/error.hpp"

namespace weft {

namespace {

const DeviceRow* built_in() {
#ifdef WEFT_WITH_GPU
  static const DeviceRow row = gpu_row();
  return &row;
#else
  return nullptr;
#endif
}

std::atomic<const DeviceRow*>& replacement() {
  static std::atomic<const DeviceRow*> row{built_in()};
  return row;
}

}  // namespace

DeviceCapture::~DeviceCapture() {
  if (stream_ == nullptr) return;
  try {
    stream_->end_capture();
  } catch (const std::exception&) {
    // The exception that interrupted the capture is the one that the caller shall see.
  }
}

std::unique_ptr<DeviceGraph> DeviceCapture::end() {
  return std::exchange(stream_, nullptr)->end_capture();
}

const DeviceRow* device_row() {
  return replacement().load(std::memory_order_acquire);
}

void replace_device_row(const DeviceRow* row) {
  replacement().store(row != nullptr ? row : built_in(), std::memory_order_release);
}

std::shared_ptr<Device> current_device() {
  constexpr const char* operation = "plan: memory";
  const DeviceRow* row = device_row();
  if (row == nullptr)
    throw Error(operation, "cuda in a build of Weft without GPUs",
                "host, or a build with WEFT_CUDA=ON or WEFT_HIP=ON");
  const std::string missing = row->missing();
  if (!missing.empty()) throw Error(operation, std::string(row->name) + ": " + missing, "host, or a GPU");
  return row->current();
}

}  // namespace weft
