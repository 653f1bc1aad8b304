// What this library has and where it runs, for reports of programs and of users.
#pragma once

#include <string>
#include <vector>

#include "weft/export.hpp"

namespace weft {

/// An environment variable that Weft reads.
struct Variable {
  std::string name;     ///< "WEFT_THREADS"
  std::string meaning;  ///< in words
  std::string value;    ///< in this process now; "" if it is not set
};

/// All of them.
WEFT_API std::vector<Variable> environment_variables();

/// A library for local FFTs that this build knows.
struct FftLibrary {
  std::string name;      ///< as in option `fft`
  std::string version;   ///< in its own words; "" if it is missing
  std::string missing;   ///< why it cannot be used in this process; "" if it can
  bool on_gpus = false;  ///< whether it is for arrays in memory of GPUs
};

/// All of them, those that are preferred first. Loads those that are looked for at run time.
WEFT_API std::vector<FftLibrary> fft_libraries();

/// Whether arrays may be in memory of GPUs.
struct Gpu {
  std::string name;     ///< of the current one; "" if there is none
  std::string missing;  ///< why there is none; "" if there is one
};

/// The current GPU of the calling thread.
WEFT_API Gpu gpu();

/// The processor, its cores and its second-level cache, as wisdom names a machine.
WEFT_API std::string hardware();

/// The NUMA nodes of this machine, as far as plans tell them apart: "one NUMA node", "2 NUMA nodes", "not
/// told apart: " and why.
WEFT_API std::string numa_nodes();

}  // namespace weft
