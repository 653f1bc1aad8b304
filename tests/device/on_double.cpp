#include <memory>
#include <optional>

#include "support/device_double.hpp"
#include "support/devices.hpp"
#include "support/nccl_double.hpp"
#include "support/scoped_variable.hpp"

namespace weft::test {

namespace {
std::unique_ptr<ScopedDeviceDouble> current;
std::optional<ScopedVariable> without_nccl;
}  // namespace

ScopedDevices::ScopedDevices(const DevicesManner& asked) {
  DoubleManner manner;
  manner.delays = asked.delays;
  manner.processes = asked.processes;
  manner.unordered = !asked.ordered;
  manner.reach = asked.reach;
  manner.room = asked.room;
  current = std::make_unique<ScopedDeviceDouble>(manner);
  if (asked.processes) {
    without_nccl.emplace("WEFT_NCCL_LIBRARY", "/no/such/library");  // the double's is within a process
  } else {
    nccl::replace_functions(&nccl_double());
  }
}
ScopedDevices::~ScopedDevices() {
  nccl::replace_functions(nullptr);
  without_nccl.reset();
  current.reset();
}
int ScopedDevices::count() {
  return 8;
}
int ScopedDevices::reach_of(int asked) {
  return asked;
}
bool ScopedDevices::nccl_between_processes() {
  return false;
}
bool ScopedDevices::are_on_host() {
  return true;
}
int ScopedDevices::problems() {
  return 40;
}
long ScopedDevices::objects() {
  return live_double_objects();
}
double ScopedDevices::kept() {
  return 0;
}
void ScopedDevices::choose(int number) {
  set_double_device(number);
}

}  // namespace weft::test
