#include "transport/mpi/told_offsets.hpp"

#include <memory>
#include <utility>

#include "transport/mpi/types.hpp"

namespace weft {

namespace {

struct Messages {
  OffsetsByRank told, heard;
  std::vector<MPI_Request> requests;
};

}  // namespace

OffsetsByRank tell_offsets(MpiWorld& world, int tag, OffsetsByRank told, OffsetsByRank heard) {
  auto messages = std::make_unique<Messages>(Messages{std::move(told), std::move(heard), {}});
  Messages& m = *messages;
  m.requests.reserve(m.told.size() + m.heard.size());
  const auto count = [](const std::vector<MPI_Aint>& offsets) {
    return mpi_count(static_cast<Index>(offsets.size()), 1);
  };
  try {
    world.collective([&] {
      const auto lock = world.lock();
      for (auto& [peer, offsets] : m.heard)
        check_mpi(MPI_Irecv(offsets.data(), count(offsets), MPI_AINT, peer, tag, world.comm(),
                            &m.requests.emplace_back()),
                  "MPI_Irecv");
      for (const auto& [peer, offsets] : m.told)
        check_mpi(MPI_Isend(offsets.data(), count(offsets), MPI_AINT, peer, tag, world.comm(),
                            &m.requests.emplace_back()),
                  "MPI_Isend");
    });
    world.wait_for(m.requests);
  } catch (...) {
    static_cast<void>(messages.release());  // MPI may still read and write there
    throw;
  }
  return std::move(m.heard);
}

}  // namespace weft
