// Counts and datatypes of MPI messages. MPI counts in int: 64-bit counts are narrowed, which is checked while
// planning, or become a datatype, as strided boxes do. Such a type is nested as often as it takes, so that
// every count inside it fits.
#pragma once

#include <mpi.h>

#include <atomic>
#include <vector>

#include "transport/transport.hpp"

namespace weft {

/// Throws `weft::Error` if no element has this size.
MPI_Datatype mpi_datatype(int element_bytes);

/// A count or displacement of elements as MPI's int. Throws `weft::Error` if it does not fit.
int mpi_count(Index bytes, int element_bytes);

namespace detail {
/// The largest count that `mpi_count` accepts; tests lower it to meet the limit with small arrays.
extern std::atomic<Index> mpi_count_limit;
}  // namespace detail

/// A message as the arguments of a point-to-point call: one element of a large type if it has more elements
/// than MPI can count.
struct MpiPart {
  Index offset = 0;  ///< bytes from the start of the workspace
  int count = 0;
  MPI_Datatype type = MPI_BYTE;
};

/// Makes the parts of an exchange. Owns their datatypes, which are freed if MPI is still there.
class MpiParts {
 public:
  explicit MpiParts(int element_bytes) : element_bytes_(element_bytes) {}
  ~MpiParts();
  MpiParts(const MpiParts&) = delete;
  MpiParts& operator=(const MpiParts&) = delete;

  /// Throws `weft::Error`, as does the other, if MPI does not make a type.
  MpiPart part(const Message& message);
  /// One element of a type: the points of a strided part in its order, from the start of its space.
  MpiPart part(const StridedPart& box);

 private:
  int element_bytes_;
  std::vector<MPI_Datatype> made_;
};

}  // namespace weft
