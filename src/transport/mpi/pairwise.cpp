// Blocking pairwise exchange: in step s every rank of the group sends to the member s places after it and
// receives from the one s places before it, so that no rank is ever the target of two.
#include "transport/mpi/group_exchange.hpp"

namespace weft {

namespace {

class MpiPairwise final : public GroupExchange {
 public:
  explicit MpiPairwise(const CarrierRequest& c) : GroupExchange(c) {
    for (const TileMessages& t : c.reshape.tiles)
      tiles_.push_back(
          {by_member(t.sends, c.reshape.element_bytes), by_member(t.receives, c.reshape.element_bytes)});
  }

 private:
  // Every rank posts its tiles in the same order, and messages of one pair do not overtake each other.
  static constexpr int tag = 0;

  /// Per member of the group.
  struct Tile {
    std::vector<MpiPart> sends, receives;
  };

  void carry(int tile, const Memory& memory, Queue& /*queue*/) override {
    const auto& [sends, receives] = at(tiles_, tile);
    const std::size_t n = members().size(), place = place_of(world().rank());
    for (std::size_t step = 0; step < n; ++step) {
      const std::size_t to = (place + step) % n, from = (place + n - step) % n;
      const MpiPart &s = sends[to], &r = receives[from];
      const auto lock = world().lock();
      check_mpi(
          MPI_Sendrecv(s.start(memory), s.count, s.type, s.count > 0 ? static_cast<int>(to) : MPI_PROC_NULL,
                       tag, r.start(memory), r.count, r.type,
                       r.count > 0 ? static_cast<int>(from) : MPI_PROC_NULL, tag, group(), MPI_STATUS_IGNORE),
          "MPI_Sendrecv");
    }
  }

  std::vector<MpiPart> by_member(const std::vector<Message>& messages, int element_bytes) const {
    std::vector<MpiPart> parts(members().size());
    for (const Message& m : messages) parts[place_of(m.peer)] = {m, element_bytes};
    return parts;
  }

  std::vector<Tile> tiles_;
};

}  // namespace

ExchangeRow mpi_pairwise_row() {
  return {.name = "pairwise",
          .meaning = "MPI_Sendrecv with one member of the exchange group after the other",
          .traits = {.among = Among::processes, .concurrent = false, .blocks = true, .in_rounds = true},
          .carrier = make_carrier<MpiPairwise>,
          .takes_devices = mpi_takes_devices};
}

}  // namespace weft
