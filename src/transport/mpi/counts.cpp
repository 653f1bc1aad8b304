#include "transport/mpi/counts.hpp"

#include <limits>

#include "weft/error.hpp"

namespace weft {

std::atomic<Index> detail::mpi_count_limit{std::numeric_limits<int>::max()};

MPI_Datatype mpi_datatype(int element_bytes) {
  switch (element_bytes) {
    case 16:
      return MPI_C_DOUBLE_COMPLEX;
    case 8:
      return MPI_DOUBLE;
    case 4:
      return MPI_FLOAT;
    default:
      throw Error("plan: exchange", "elements of " + std::to_string(element_bytes) + " bytes", "4, 8 or 16");
  }
}

int mpi_count(Index bytes, int element_bytes) {
  const Index count = bytes / element_bytes, limit = detail::mpi_count_limit;
  if (count > limit)
    throw Error("plan: exchange", "a message or displacement of " + std::to_string(count) + " elements",
                "at most " + std::to_string(limit) +
                    ", as this exchange counts in MPI's int: use exchange p2p, p2pw, pairwise or alltoallw, "
                    "which count in "
                    "large types, or more ranks");
  return static_cast<int>(count);
}

}  // namespace weft
