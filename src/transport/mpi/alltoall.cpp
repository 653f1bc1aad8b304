// One MPI_Alltoall per tile, every part padded to the largest of its exchange group: the call that MPI
// libraries tune most, where the workspace has room for the padding.
#include "transport/mpi/group_exchange.hpp"

namespace weft {

namespace {

class MpiAlltoall final : public GroupExchange {
 public:
  explicit MpiAlltoall(const CarrierRequest& c)
      : GroupExchange(c), type_(mpi_datatype(c.reshape.element_bytes)) {
    for (const TileMessages& t : c.reshape.tiles)
      counts_.push_back(mpi_count(t.padded_bytes, c.reshape.element_bytes));
  }

 private:
  void carry(int tile, const Memory& memory, Queue& /*queue*/) override {
    const TileMessages& t = messages(tile);
    const int count = at(counts_, tile);
    std::byte* const work = at(memory, Space::work);
    const auto lock = world().lock();
    check_mpi(MPI_Alltoall(work + t.send_start, count, type_, work + t.receive_start, count, type_, group()),
              "MPI_Alltoall");
  }

  MPI_Datatype type_;
  std::vector<int> counts_;  ///< per tile
};

}  // namespace

ExchangeRow mpi_alltoall_row() {
  return {.name = "alltoall",
          .meaning = "MPI_Alltoall within each exchange group, all parts padded to the largest",
          .traits = {.form = Form::padded,
                     .among = Among::processes,
                     .concurrent = false,
                     .blocks = true,
                     .in_rounds = true,
                     .collective = true},
          .carrier = make_carrier<MpiAlltoall>,
          .takes_devices = mpi_takes_devices};
}

}  // namespace weft
