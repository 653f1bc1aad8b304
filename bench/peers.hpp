// Other libraries, timed for comparison on the same problem in the same run on the same ranks. A peer has its
// own arrays, in the distribution and memory order of Weft's problem; along a line FFTW-MPI chooses how many
// points each rank has.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "case.hpp"
#include "weft/comm.hpp"

namespace weft::bench {

class Peer {
 public:
  virtual ~Peer() = default;
  /// Fills the input again. Not timed.
  virtual void refill() = 0;
  /// Executes once and returns this rank's time in seconds. Collective.
  virtual double run() = 0;
  /// Waits until threads of the library are idle. Not timed. Collective.
  virtual void rest() {}
  /// The library with version and settings.
  virtual std::string about() const = 0;
  /// The relative L2 error of its result, the larger one of both directions, of peers that find it.
  virtual std::optional<double> error() const { return std::nullopt; }
};

/// "fftw-mpi" (planned with FFTW_MEASURE, or FFTW_PATIENT where the effort is patient), "mkl" (one process,
/// as many threads as there are ranks), "cufft" (one GPU), or "cufftmp" (MPI ranks with a GPU each).
/// Collective. Throws `weft::Error` on all ranks if the library is missing or cannot do the problem.
std::unique_ptr<Peer> make_peer(const std::string& name, const Comm& comm, const Case& c);

std::unique_ptr<Peer> make_fftw_mpi(const Comm& comm, const Case& c);
std::unique_ptr<Peer> make_mkl(const Comm& comm, const Case& c);
std::unique_ptr<Peer> make_cufft(const Comm& comm, const Case& c);
std::unique_ptr<Peer> make_cufftmp(const Comm& comm, const Case& c);

}  // namespace weft::bench
