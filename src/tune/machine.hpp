// What a measured choice depends on beside the problem, as a text: choices are taken over only where it is
// the same. It names what changes which candidate is fastest, not what tells two equal machines apart.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "comm/comm_impl.hpp"
#include "fft/local_fft.hpp"

namespace weft {

struct Machine {
  /// "Intel(R) Xeon(R) Gold 6226R, 32 cores, 1048576 B second cache": of rank 0's machine.
  std::string hardware;
  /// The same, this version of Weft, the local FFT libraries, and where the ranks are: "..., weft 0.1,
  /// fftw-3.3.10-sse2-avx, mpi 4x1", behind the libraries the devices, if arrays are in their memory. The key
  /// of wisdom.
  std::string fingerprint;

  /// The key of what a library has learnt.
  std::string library(const FftRow& row, Precision precision) const {
    return library(hardware, row, precision);
  }
  static std::string library(const std::string& hardware, const FftRow& row, Precision precision);
};

/// Of the machine that the caller runs on; the processor alone, and all that is `Machine::hardware`.
std::string processor_text();
std::string hardware_text();

/// "4x1": 4 machines with a rank each; "2x8+1x3": two with 8, and one with 3. From the number of the machine
/// of every rank.
std::string ranks_text(const std::vector<int>& nodes);

/// The machine of a set of ranks, which may use the libraries `ffts`, alike on all ranks, and have their
/// arrays on `devices` (none: on the host). Collective.
Machine machine_of(CommImpl& comm, std::span<const FftRow* const> ffts, const std::string& devices = "");

}  // namespace weft
