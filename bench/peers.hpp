// Other libraries on the same problem, in the same run, on the same ranks: what a timing is worth knowing
// against. A peer has its own arrays, in the distribution and memory order that the benchmark asks of Weft.
#pragma once

#include <memory>
#include <string>

#include "case.hpp"
#include "weft/comm.hpp"

namespace weft::bench {

class Peer {
 public:
  virtual ~Peer() = default;
  /// Fills the input again, outside of what is timed.
  virtual void refill() = 0;
  /// One execution; this rank's time in seconds. Collective.
  virtual double run() = 0;
  /// Lets what it has left running come to rest, outside of what is timed. Collective.
  virtual void rest() {}
  /// What it is, with version and settings.
  virtual std::string about() const = 0;
};

/// "fftw-mpi" (planned with FFTW_MEASURE, or FFTW_PATIENT where the effort is patient) "mkl" (one process, as
/// many threads as there are ranks), or "cufft" (one GPU). Collective. Throws `weft::Error` on all ranks if
/// the peer is not there or cannot do the problem.
std::unique_ptr<Peer> make_peer(const std::string& name, const Comm& comm, const Case& c);

std::unique_ptr<Peer> make_fftw_mpi(const Comm& comm, const Case& c);
std::unique_ptr<Peer> make_mkl(const Comm& comm, const Case& c);
std::unique_ptr<Peer> make_cufft(const Comm& comm, const Case& c);

}  // namespace weft::bench
