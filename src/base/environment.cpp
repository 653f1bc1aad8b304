#include "base/environment.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "base/nearest_name.hpp"
#include "base/warning.hpp"

extern char** environ;

namespace weft {

namespace {
constexpr std::array table{
    EnvironmentVariable{"WEFT_DECOMPOSITION", "default of option decomposition"},
    EnvironmentVariable{"WEFT_PIPELINE", "default of option pipeline"},
    EnvironmentVariable{"WEFT_EXCHANGE", "default of option exchange"},
    EnvironmentVariable{"WEFT_FFT", "default of option fft"},
    EnvironmentVariable{"WEFT_LAYOUT", "default of option layout"},
    EnvironmentVariable{"WEFT_THREADS", "default of option threads"},
    EnvironmentVariable{"WEFT_EFFORT", "default of option effort"},
    EnvironmentVariable{"WEFT_FFT_EFFORT", "default of option fft_effort"},
    EnvironmentVariable{"WEFT_ONLINE", "default of option online"},
    EnvironmentVariable{"WEFT_WISDOM", "default of option wisdom"},
    EnvironmentVariable{"WEFT_MACHINE", "default of option machine: a file that describes the machine"},
    EnvironmentVariable{"WEFT_TRACE", "default of option trace: a file for the timeline of every plan"},
    EnvironmentVariable{"WEFT_BUDGET", "default of option budget"},
    EnvironmentVariable{"WEFT_CHECK", "default of option check"},
    EnvironmentVariable{"WEFT_TILE", "default of option tile"},
    EnvironmentVariable{"WEFT_SUBTILE", "default of option subtile"},
    EnvironmentVariable{"WEFT_WINDOW", "default of option window"},
    EnvironmentVariable{"WEFT_MKL_LIBRARY",
                        "file or folder of Intel MKL's libmkl_rt; unset: Weft searches for it"},
    EnvironmentVariable{"WEFT_NCCL_LIBRARY",
                        "file of NCCL's libnccl.so.2; unset: the loader searches for it"},
    EnvironmentVariable{"WEFT_NVSHMEM_LIBRARY",
                        "file of NVSHMEM's libnvshmem_host.so.3; unset: the loader searches for it"},
    EnvironmentVariable{"WEFT_CUFFTMP_LIBRARY",
                        "file of libcufftMp.so.12, a peer of weft-bench; unset: the loader searches for it"},
    EnvironmentVariable{"WEFT_RAILS", "default of option rails"},
    EnvironmentVariable{"WEFT_UCX_LIBRARY", "file of UCX's libucp.so.0; unset: the loader searches for it"},
    EnvironmentVariable{"WEFT_NUMA", "off: NUMA nodes are not told apart"},
    EnvironmentVariable{"WEFT_HWLOC_LIBRARY",
                        "file of hwloc's libhwloc.so.15; unset: the loader searches for it"},
    EnvironmentVariable{"WEFT_ZFP_LIBRARY",
                        "file of libzfp, of codecs zfp and zfp-accuracy; unset: the loader searches for it"},
    EnvironmentVariable{"WEFT_DIR", "for CMake, where it finds an installed Weft"},
    EnvironmentVariable{"WEFT_ROOT", "for CMake, where it finds an installed Weft"},
    EnvironmentVariable{"WEFT_VERBOSE", "1: rank 0 says on standard error how far trials are"},
    EnvironmentVariable{"WEFT_WARNINGS", "off: no warnings on standard error"},
    EnvironmentVariable{"WEFT_TEST_MKL",
                        "tests only: \"required\" fails the tests of MKL where it is not installed"},
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

void warn_of_unknown_variables() {
  constexpr std::string_view prefix = "WEFT_", tests = "WEFT_TEST_";
  std::vector<std::string> known;
  for (const EnvironmentVariable& v : table) known.push_back(std::string(v.name).substr(prefix.size()));
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (!text.starts_with(prefix) || text.starts_with(tests)) continue;
    const std::string name(text.substr(prefix.size(), text.find('=') - prefix.size()));
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string nearest = nearest_name(name, known);
    warn("environment variable WEFT_" + name + " is not known and has no effect" +
         (nearest.empty() ? "" : "; the nearest is WEFT_" + nearest));
  }
}

}  // namespace weft
