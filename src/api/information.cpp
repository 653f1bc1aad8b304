#include "weft/information.hpp"

#include "base/environment.hpp"
#include "base/numa/map.hpp"
#include "device/device.hpp"
#include "fft/local_fft.hpp"
#include "tune/machine.hpp"

namespace weft {

std::vector<Variable> environment_variables() {
  std::vector<Variable> all;
  for (const EnvironmentVariable& v : environment_table())
    all.push_back({v.name, v.meaning, environment_value(v.name).value_or("")});
  return all;
}

std::vector<FftLibrary> fft_libraries() {
  std::vector<FftLibrary> all;
  for (const FftRow& row : fft_table()) {
    const std::string missing = row.missing();
    all.push_back({row.name, missing.empty() ? row.version() : "", missing, row.memory != MemoryKind::host});
  }
  return all;
}

Gpu gpu() {
  const DeviceRow* const row = device_row();
  if (row == nullptr) return {"", "this build is without CUDA and HIP"};
  const std::string missing = row->missing();
  return missing.empty() ? Gpu{row->current()->name(), ""} : Gpu{"", missing};
}

std::string hardware() {
  return hardware_text();
}

std::string numa_nodes() {
  return numa::description();
}

}  // namespace weft
