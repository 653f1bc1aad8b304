// Memory that all ranks of a machine reach by plain loads and stores. Every rank allocates a part.
#pragma once

#include <cstddef>
#include <memory>

namespace weft {

class CommImpl;

class SharedMemory {
 public:
  virtual ~SharedMemory() = default;
  /// The address, in this process, of the memory that `rank` has allocated, a multiple of 64 bytes; null if
  /// it allocated none, or if it is on another machine.
  virtual std::byte* of(int rank) const = 0;
};

/// Memory of this rank at a multiple of 64 bytes, uninitialised or zero; null for 0 bytes. Throws
/// `weft::Error` that names `operation` if there is none left.
std::shared_ptr<std::byte> allocate(std::size_t bytes, const char* operation);
std::shared_ptr<std::byte> allocate_zeros(std::size_t bytes, const char* operation);

/// Shares memory between the processes of one machine. Every rank makes a POSIX shared memory object, and
/// ranks of one machine open each other's. The names are removed before this returns, so that a job leaves
/// nothing behind however it ends. All pages are reserved at once, so that too little room is an error here
/// and not a crash later. The memory is zero. Collective; throws the same `weft::Error` on all ranks. MPI's
/// shared windows are not used because they must be freed collectively and before MPI_Finalize (ADR 0015).
std::shared_ptr<SharedMemory> share_between_processes(CommImpl& comm, std::size_t bytes);

}  // namespace weft
