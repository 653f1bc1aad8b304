// Who takes part in a transform: the ranks of an MPI communicator, or the threads of one process.
#pragma once

#include <memory>

#include "weft/export.hpp"

namespace weft {

class CommImpl;

/// A handle to a set of ranks; copies refer to the same set.
class WEFT_API Comm {
 public:
  /// The ranks of an MPI communicator. Include <weft/mpi.hpp> to use it. Collective over the communicator.
  /// Weft works on a duplicate of it, so that its messages never meet the program's. The duplicate is freed
  /// with the last copy of the handle, which may outlive MPI_Finalize. Throws `weft::Error` if MPI is not
  /// initialised or already finalised, and for MPI_COMM_NULL and intercommunicators.
  template <class MpiComm>
  static Comm mpi(MpiComm communicator) = delete;

  /// The calling thread as the only rank, without MPI. Local.
  static Comm self();

  /// A new Comm of the ranks that give the same `colour` (any number), in rank order. Plans on it concern no
  /// other rank. Collective over this Comm. Throws `weft::Error` if the ranks cannot communicate any more.
  Comm split(int colour) const;

  /// The number of this rank, from 0, and the number of ranks. Local.
  int rank() const;
  int size() const;
  /// "mpi" or "threads". Local.
  const char* medium() const;
  /// Waits for all ranks. Collective.
  void barrier() const;

  /// For Weft's own use.
  explicit Comm(std::shared_ptr<CommImpl> impl) : impl_(std::move(impl)) {}
  CommImpl& impl() const;
  const std::shared_ptr<CommImpl>& shared() const { return impl_; }

 private:
  std::shared_ptr<CommImpl> impl_;
};

}  // namespace weft
