// A machine as text. Measured choices are valid only where this text is the same. It contains what decides
// which candidate is fastest, and nothing in which equal machines differ.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "comm/comm_impl.hpp"
#include "fft/local_fft.hpp"

namespace weft {

struct Machine {
  /// The processor of rank 0's machine: "Intel(R) Xeon(R) Gold 6226R, 32 cores, 1048576 B second cache".
  std::string hardware;
  /// The key of wisdom: hardware, version of Weft, local FFT libraries, devices if arrays are in their
  /// memory, and the placement of the ranks: "..., weft 0.1, fftw-3.3.10-sse2-avx, mpi 4x1".
  std::string fingerprint;
  /// The medium of the ranks and how many are on each machine: "mpi 4x1".
  std::string placement;

  /// The key of a library's own wisdom.
  std::string library(const FftRow& row, Precision precision) const {
    return library(hardware, row, precision);
  }
  static std::string library(const std::string& hardware, const FftRow& row, Precision precision);
  /// The key of a description that these ranks have measured, with a device of this model or without any.
  std::string described(const std::string& device = "") const {
    return hardware + ", " + placement + (device.empty() ? "" : ", " + device);
  }
};

/// The processor of the machine that the caller runs on, and that machine's `Machine::hardware`.
std::string processor_text();
std::string hardware_text();

/// The number of ranks on each machine: "4x1" for 4 machines with one rank each, "2x8+1x3" for two with 8 and
/// one with 3. `nodes` has the machine's number of every rank.
std::string ranks_text(const std::vector<int>& nodes);

/// The machine of a set of ranks that may use the libraries `ffts`, the same on all ranks, and have arrays on
/// `devices` (empty: on the host). Collective.
Machine machine_of(CommImpl& comm, std::span<const FftRow* const> ffts, const std::string& devices = "");

}  // namespace weft
