#include <cuda_runtime_api.h>

#include <stdexcept>

#include "support/devices.hpp"

namespace weft::test {

namespace {
void check(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}
}  // namespace

ScopedDevices::ScopedDevices(bool, bool) {}
ScopedDevices::~ScopedDevices() = default;
int ScopedDevices::count() {
  int devices = 0;
  check(cudaGetDeviceCount(&devices));
  return devices;
}
int ScopedDevices::problems() {
  return 120;
}
void ScopedDevices::choose(int number) {
  check(cudaSetDevice(number));
}

}  // namespace weft::test
