#include "tune/machine.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>

#include "base/cache.hpp"
#include "base/text.hpp"
#include "weft/version.hpp"

namespace weft {

namespace {

/// The first value of a name in /proc/cpuinfo; empty if there is none.
std::string processor_says(const std::string& name) {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with(name) && line.find(": ") != std::string::npos)
      return line.substr(line.find(": ") + 2);
  return "";
}

}  // namespace

std::string processor_text() {
  if (std::string model = processor_says("model name"); !model.empty()) return model;
  utsname system{};
  uname(&system);
  // On Arm, /proc/cpuinfo has numbers instead of a model name.
  return join(
      std::vector<std::string>{system.machine, processor_says("CPU implementer"), processor_says("CPU part")},
      " ");
}

std::string Machine::library(const std::string& hardware, const FftRow& row, Precision precision) {
  return hardware + ", " + row.version() + (precision == Precision::float64 ? ", float64" : ", float32");
}

std::string hardware_text() {
  return processor_text() + ", " + std::to_string(sysconf(_SC_NPROCESSORS_ONLN)) + " cores, " +
         std::to_string(second_cache_bytes()) + " B second cache";
}

std::string ranks_text(const std::vector<int>& nodes) {
  std::map<int, int> ranks;
  for (const int node : nodes) ++ranks[node];
  std::map<int, int, std::greater<>> machines;  // by their number of ranks
  for (const auto& [node, count] : ranks) ++machines[count];
  std::vector<std::string> parts;
  for (const auto& [count, number] : machines)
    parts.push_back(std::to_string(number) + "x" + std::to_string(count));
  return join(parts, "+");
}

Machine machine_of(CommImpl& comm, std::span<const FftRow* const> ffts, const std::string& devices) {
  const std::string hardware = hardware_text();
  std::string mine =
      hardware + ", weft " + std::to_string(WEFT_VERSION_MAJOR) + "." + std::to_string(WEFT_VERSION_MINOR);
  std::vector<std::string> versions;
  for (const FftRow* row : ffts) versions.push_back(row->version());
  std::sort(versions.begin(), versions.end());  // option fft determines their order
  for (const std::string& version : versions) mine += ", " + version;
  if (!devices.empty()) mine += ", " + devices;

  Machine machine;
  machine.hardware = comm.broadcast(hardware, 0);
  machine.fingerprint = comm.broadcast(mine, 0);
  std::vector<std::uint64_t> numbers = all_of(comm, stable_hash(mine));
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  if (numbers.size() > 1) {
    char text[17];
    std::snprintf(text, sizeof text, "%016llx",
                  static_cast<unsigned long long>(stable_hash(join(numbers, " "))));
    machine.fingerprint += ", with other machines (" + std::string(text) + ")";
  }
  machine.placement = std::string(comm.medium()) + " " + ranks_text(comm.nodes());
  machine.fingerprint += ", " + machine.placement;
  return machine;
}

}  // namespace weft
