// Counts and datatypes of MPI messages. MPI counts in int: 64-bit counts are narrowed, which is checked while
// planning, or become a datatype, as strided boxes do. Such a type is nested as often as it takes, so that
// every count inside it fits.
#pragma once

#include <mpi.h>

#include <atomic>
#include <memory>

#include "transport/transport.hpp"

namespace weft {

/// Throws `weft::Error` if no element has this size.
MPI_Datatype mpi_datatype(int element_bytes);

/// A count or displacement of elements as MPI's int. Throws `weft::Error` if it does not fit.
int mpi_count(Index bytes, int element_bytes);

namespace detail {
/// The largest count that `mpi_count` accepts; tests lower it to meet the limit with small arrays.
extern std::atomic<Index> mpi_count_limit;
/// The bytes of a message to another machine that MPI sends at once: below 64 KiB, the limit of Open MPI over
/// TCP, with room for what it puts in front. A multiple of 16; tests lower it.
extern std::atomic<Index> mpi_bytes_at_once;
}  // namespace detail

/// A part of a tile as the arguments of a call of MPI. One that is made for it owns its datatype, together
/// with its copies; it is freed if MPI is still there. Made with nothing, it has no elements.
struct MpiPart {
  MpiPart() = default;
  /// Elements, or one element of a large type if there are more than MPI can count. Throws `weft::Error`, as
  /// does the other, if MPI does not make a type.
  MpiPart(const Message& message, int element_bytes);
  /// One element of a type: the points of a box in its order, from the start of its space.
  MpiPart(const StridedPart& box, int element_bytes);

  std::byte* start(const Memory& memory) const { return at(memory, space) + offset; }

  Space space = Space::work;
  Index offset = 0;  ///< bytes
  int count = 0;
  MPI_Datatype type = MPI_BYTE;
  std::shared_ptr<const MPI_Datatype> own = {};
};

/// The bytes in which a part of so many is best sent to a rank, or read from it, one piece after the other:
/// of another machine those that MPI sends at once, as it would wait with more for an answer. Of parts with
/// more pieces than are tested quickly, the transfer takes long beside the answer.
Index bytes_at_once(const MpiWorld& world, int rank, Index bytes);

}  // namespace weft
