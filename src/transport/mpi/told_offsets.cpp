#include "transport/mpi/told_offsets.hpp"

namespace weft {

void tell_offsets(const MpiWorld& world, int tag, const OffsetsByRank& told, OffsetsByRank& heard) {
  std::vector<MPI_Request> requests;
  const auto lock = world.lock();
  for (auto& [peer, offsets] : heard)
    check_mpi(MPI_Irecv(offsets.data(), static_cast<int>(offsets.size()), MPI_AINT, peer, tag, world.comm(),
                        &requests.emplace_back()),
              "MPI_Irecv");
  for (const auto& [peer, offsets] : told)
    check_mpi(MPI_Isend(offsets.data(), static_cast<int>(offsets.size()), MPI_AINT, peer, tag, world.comm(),
                        &requests.emplace_back()),
              "MPI_Isend");
  check_mpi(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
            "MPI_Waitall");
}

}  // namespace weft
