#include <memory>

#include "support/device_double.hpp"
#include "support/devices.hpp"

namespace weft::test {

namespace {
std::unique_ptr<ScopedDeviceDouble> current;
}

ScopedDevices::ScopedDevices(bool delays, bool processes) {
  DoubleManner manner;
  manner.delays = delays;
  manner.processes = processes;
  manner.room = std::size_t{1} << 30;
  current = std::make_unique<ScopedDeviceDouble>(manner);
}
ScopedDevices::~ScopedDevices() {
  current.reset();
}
int ScopedDevices::count() {
  return 8;
}
int ScopedDevices::problems() {
  return 200;
}
void ScopedDevices::choose(int number) {
  set_double_device(number);
}

}  // namespace weft::test
