#include <stdexcept>

#include "kernels/gpu/runtime.hpp"
#include "support/devices.hpp"
#include "transport/nccl/library.hpp"

namespace weft::test {

namespace {
void check(gpus::Status status) {
  if (status != gpus::success) throw std::runtime_error(WEFT_GPU(GetErrorString)(status));
}
}  // namespace

ScopedDevices::ScopedDevices(const DevicesManner&) {}
/// The device that threads have by themselves.
ScopedDevices::~ScopedDevices() {
  static_cast<void>(WEFT_GPU(SetDevice)(0));
}
int ScopedDevices::count() {
  int devices = 0;
  check(WEFT_GPU(GetDeviceCount)(&devices));
  return devices;
}
int ScopedDevices::reach_of(int) {
  return 0;
}
bool ScopedDevices::nccl_between_processes() {
  return nccl::missing().empty();
}
bool ScopedDevices::are_on_host() {
  return false;
}
int ScopedDevices::problems() {
  return 120;
}
long ScopedDevices::objects() {
  return 0;
}
double ScopedDevices::kept() {
  return 64 << 20;
}
void ScopedDevices::choose(int number) {
  check(WEFT_GPU(SetDevice)(number));
}

}  // namespace weft::test
