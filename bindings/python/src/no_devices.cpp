// Without CUDA there are no GPUs, which is no error before one is asked for.
#include <string>

#include "devices.hpp"

namespace weft::python {

int device_count() {
  return 0;
}
int current_device() {
  return 0;
}
int device_of(std::uintptr_t) {
  return -1;
}
void order_streams(int device, std::uintptr_t, std::uintptr_t) {
  const OnDevice none(device);
}

OnDevice::OnDevice(int device) {
  if (device < 0) return;
  throw Error("plan: device", "GPU " + std::to_string(device) + ", but this Weft was built without CUDA",
              "a Weft with it: pip install --force-reinstall . -C cmake.define.WEFT_CUDA=ON");
}
OnDevice::~OnDevice() = default;

// No object of these is ever made that has something.
OwnStream::OwnStream(int device) : device_(device) {}
OwnStream::~OwnStream() = default;
void OwnStream::wait() const {}
DeviceBuffer::~DeviceBuffer() = default;
void DeviceBuffer::reserve(int, std::size_t) {}
void copy_axes(const std::vector<CopiedAxis>&, char*, char*, Towards, const OwnStream&) {}

}  // namespace weft::python
