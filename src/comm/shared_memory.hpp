// Memory that all ranks of a machine reach by plain loads and stores: each rank gives some, all see
// everybody's.
#pragma once

#include <cstddef>
#include <memory>

namespace weft {

class CommImpl;

class SharedMemory {
 public:
  virtual ~SharedMemory() = default;
  /// The memory that a rank of this machine gave, as this rank addresses it, on a multiple of 64 bytes; null
  /// if it gave none, and for ranks of other machines.
  virtual std::byte* of(int rank) const = 0;
};

/// `bytes` on a multiple of 64, uninitialised or zero; null for none. Throws `weft::Error` that names
/// `operation`.
std::shared_ptr<std::byte> allocate(std::size_t bytes, const char* operation);
std::shared_ptr<std::byte> allocate_zeros(std::size_t bytes, const char* operation);

/// Shares memory between processes of one machine: every rank makes a POSIX shared memory object, those of
/// one machine open each other's, and their names are gone before this returns, so that nothing is left
/// behind by a job that ends later, in whatever way. Every page is there from the start: too little room is
/// an error now and not a crash later. The memory is zero. Collective; throws the same `weft::Error` on all
/// ranks. MPI's own shared windows can only be freed together and before MPI_Finalize, while a plan is
/// destroyed by each rank when it likes (ADR 0015).
std::shared_ptr<SharedMemory> share_between_processes(CommImpl& comm, std::size_t bytes);

}  // namespace weft
