#include "transport/mpi/counts.hpp"

#include <atomic>
#include <limits>

#include "weft/error.hpp"

namespace weft {

namespace {
std::atomic<Index> limit{std::numeric_limits<int>::max()};
}

MPI_Datatype mpi_datatype(int element_bytes) {
  return element_bytes == 16 ? MPI_C_DOUBLE_COMPLEX : element_bytes == 8 ? MPI_DOUBLE : MPI_FLOAT;
}

int mpi_count(Index bytes, int element_bytes) {
  const Index count = bytes / element_bytes;
  if (count > limit)
    throw Error("plan: exchange", "a message or displacement of " + std::to_string(count) + " elements",
                "at most " + std::to_string(limit) +
                    ", as this exchange counts in MPI's int: use exchange p2p, p2pw, pairwise or alltoallw, "
                    "which count in "
                    "large types, or more ranks");
  return static_cast<int>(count);
}

Index mpi_count_limit() {
  return limit;
}
void set_mpi_count_limit(Index value) {
  limit = value;
}

}  // namespace weft
