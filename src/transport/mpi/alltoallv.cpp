// One MPI_Alltoallv per tile, among the ranks that exchange data with each other and nobody else.
#include "transport/mpi/group_exchange.hpp"

namespace weft {

namespace {

class MpiAlltoallv final : public CountedGroup {
 public:
  using CountedGroup::CountedGroup;

  bool post(int tile, const Memory& memory, Queue&, Patience) override {
    std::byte* work = memory[static_cast<std::size_t>(Space::work)];
    const Tile& t = tile_at(tile);
    const auto lock = world().lock();
    check_mpi(MPI_Alltoallv(work + t.send.start, t.send.counts.data(), t.send.displacements.data(), type(),
                            work + t.receive.start, t.receive.counts.data(), t.receive.displacements.data(),
                            type(), group()),
              "MPI_Alltoallv");
    return restart(tile);
  }
};

}  // namespace

ExchangeRow mpi_alltoallv_row() {
  return {.name = "alltoallv",
          .meaning = "MPI_Alltoallv within each exchange group",
          .traits = {.concurrent = false},
          .applicable = [](CommImpl& comm) { return comm.mpi() != nullptr; },
          .carrier = make_carrier<MpiAlltoallv>,
          .takes_devices = mpi_takes_devices};
}

}  // namespace weft
