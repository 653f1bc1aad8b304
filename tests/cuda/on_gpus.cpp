#include <cuda_runtime_api.h>

#include <stdexcept>

#include "support/devices.hpp"
#include "transport/nccl/library.hpp"

namespace weft::test {

namespace {
void check(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}
}  // namespace

ScopedDevices::ScopedDevices(const DevicesManner&) {}
/// The device that threads have by themselves.
ScopedDevices::~ScopedDevices() {
  cudaSetDevice(0);
}
int ScopedDevices::count() {
  int devices = 0;
  check(cudaGetDeviceCount(&devices));
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
  check(cudaSetDevice(number));
}

}  // namespace weft::test
