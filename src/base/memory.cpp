#include "base/memory.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>

namespace weft {

namespace {

constexpr double unknown = std::numeric_limits<double>::infinity();

double of_machine() {
  std::ifstream info("/proc/meminfo");
  double kib = 0;
  for (std::string name, rest; info >> name && std::getline(info, rest);)
    if (name == "MemAvailable:" && (kib = std::strtod(rest.c_str(), nullptr)) > 0) return 1024 * kib;
  return unknown;
}

/// The number in a file; `unknown` if the file holds none ("max" in control groups).
double number_in(const std::string& file) {
  std::ifstream stream(file);
  double value = 0;
  return stream >> value ? value : unknown;
}

/// The bytes left in this process's control group, in both versions of Linux's interface.
double of_group() {
  struct Files {
    const char *limit, *used;
  };
  double least = unknown;
  for (const Files& f : {Files{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
                         Files{"/sys/fs/cgroup/memory/memory.limit_in_bytes",
                               "/sys/fs/cgroup/memory/memory.usage_in_bytes"}}) {
    const double limit = number_in(f.limit), used = number_in(f.used);
    if (limit < unknown && used < unknown) least = std::min(least, std::max(0.0, limit - used));
  }
  return least;
}

}  // namespace

double available_bytes() {
  return std::min(of_machine(), of_group());
}

}  // namespace weft
