// One MPI_Alltoall per tile, every part padded to the largest of its exchange group: the call that MPI
// libraries tune most, where the workspace has room for the padding.
#include "transport/mpi/group_exchange.hpp"

namespace weft {

namespace {

class MpiAlltoall final : public GroupExchange {
 public:
  explicit MpiAlltoall(const CarrierRequest& c) : GroupExchange(c), messages_(c.reshape.tiles) {
    for (const TileMessages& t : messages_)
      counts_.push_back(mpi_count(t.padded_bytes, c.reshape.element_bytes));
  }

  bool post(int tile, const Memory& memory, Queue&, Patience) override {
    const TileMessages& t = messages_[static_cast<std::size_t>(tile)];
    const int count = counts_[static_cast<std::size_t>(tile)];
    std::byte* work = memory[static_cast<std::size_t>(Space::work)];
    const auto lock = world().lock();
    check_mpi(
        MPI_Alltoall(work + t.send_start, count, type(), work + t.receive_start, count, type(), group()),
        "MPI_Alltoall");
    return restart(tile);
  }

 private:
  const std::vector<TileMessages>& messages_;
  std::vector<int> counts_;  ///< per tile
};

}  // namespace

ExchangeRow mpi_alltoall_row() {
  return {.name = "alltoall",
          .meaning = "MPI_Alltoall within each exchange group, all parts padded to the largest",
          .traits = {.form = Form::padded, .concurrent = false},
          .applicable = [](CommImpl& comm) { return comm.mpi() != nullptr; },
          .carrier = make_carrier<MpiAlltoall>,
          .takes_devices = mpi_takes_devices};
}

}  // namespace weft
