#include "base/environment.hpp"

#include <array>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "weft/error.hpp"

extern char** environ;

namespace weft {

namespace {
constexpr std::array table{
    EnvironmentVariable{"WEFT_DECOMPOSITION", "default of option decomposition: auto, slab, pencil"},
    EnvironmentVariable{"WEFT_PIPELINE", "default of option pipeline: auto, sequential, windowed"},
    EnvironmentVariable{"WEFT_EXCHANGE",
                        "default of option exchange: auto, p2p, alltoallv, pairwise, direct, copy"},
    EnvironmentVariable{"WEFT_FFT", "default of option fft: auto, fftw"},
    EnvironmentVariable{"WEFT_EFFORT", "default of option effort: estimate, measure, patient"},
    EnvironmentVariable{"WEFT_CHECK", "default of option check: local, collective"},
    EnvironmentVariable{"WEFT_TILE", "default of option tile (pipeline windowed)"},
    EnvironmentVariable{"WEFT_WINDOW", "default of option window (pipeline windowed)"},
    EnvironmentVariable{"WEFT_TEST_PROBLEMS", "tests only: number of random problems"},
    EnvironmentVariable{"WEFT_TEST_SEED", "tests only: seed of the first random problem"},
};
}  // namespace

std::span<const EnvironmentVariable> environment_table() {
  return table;
}

std::optional<std::string> environment_value(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

void check_environment() {
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (!text.starts_with("WEFT_")) continue;
    const std::string_view name = text.substr(0, text.find('='));
    bool known = false;
    std::string names;
    for (const EnvironmentVariable& v : table) {
      known = known || name == v.name;
      names += (names.empty() ? "" : ", ") + std::string(v.name);
    }
    if (!known) throw Error("environment", "unknown variable " + std::string(name), "one of " + names);
  }
}

}  // namespace weft
