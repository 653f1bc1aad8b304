// Blocking pairwise exchange: in step s every rank of the group sends to the member s places after it and
// receives from the one s places before it, so that no rank is ever the target of two.
#include "transport/mpi/group_exchange.hpp"

namespace weft {

namespace {

class MpiPairwise final : public GroupExchange {
 public:
  using GroupExchange::GroupExchange;

  void post(int tile, std::byte* work) override {
    Tile& t = tile_at(tile);
    int bytes = 0;
    check_mpi(MPI_Type_size(type(), &bytes), "MPI_Type_size");
    const auto at = [&](const Side& s, std::size_t member) {
      return work + s.start + static_cast<Index>(s.displacements[member]) * bytes;
    };
    for (int step = 0; step < members(); ++step) {
      const int to = (place() + step) % members(), from = (place() + members() - step) % members();
      const auto d = static_cast<std::size_t>(to), s = static_cast<std::size_t>(from);
      const int sent = t.send.counts[d], received = t.receive.counts[s];
      check_mpi(MPI_Sendrecv(at(t.send, d), sent, type(), sent > 0 ? to : MPI_PROC_NULL, tag,
                             at(t.receive, s), received, type(), received > 0 ? from : MPI_PROC_NULL, tag,
                             group(), MPI_STATUS_IGNORE),
                "MPI_Sendrecv");
    }
    t.returned = 0;
  }

 private:
  // Every rank posts its tiles in the same order, and messages of one pair do not overtake each other.
  static constexpr int tag = 0;
};

}  // namespace

ExchangeRow mpi_pairwise_row() {
  return {.name = "pairwise",
          .meaning = "MPI_Sendrecv with one member of the exchange group after the other",
          .direct = false,
          .overlaps = [](CommImpl&) { return false; },
          .applicable = [](CommImpl& comm) { return comm.mpi() != nullptr; },
          .make_buffered = make_exchange<BufferedExchange, MpiPairwise>,
          .make_direct = nullptr};
}

}  // namespace weft
