// Who takes part in a transform: the ranks of an MPI communicator, or the threads of one process.
#pragma once

#include <memory>

#include "weft/export.hpp"

namespace weft {

class CommImpl;

/// A handle to a set of ranks; copies refer to the same set.
class WEFT_API Comm {
 public:
  /// The ranks of an MPI communicator. Include <weft/mpi.hpp> to use it. Collective over the communicator,
  /// which is duplicated: none of its messages is ever seen or matched by Weft. The duplicate is freed with
  /// the last copy of the handle, also after MPI_Finalize. Throws `weft::Error` if MPI is not initialised or
  /// already finalised, and of MPI_COMM_NULL and intercommunicators.
  template <class MpiComm>
  static Comm mpi(MpiComm communicator) = delete;

  /// One rank: the calling thread alone, without MPI.
  static Comm self();

  /// The ranks that give the same `colour`, in rank order, as a communicator of their own: a plan on it
  /// concerns nobody else. Collective.
  Comm split(int colour) const;

  /// This rank's number, from 0, and how many there are.
  int rank() const;
  int size() const;
  /// "mpi" or "threads"
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
