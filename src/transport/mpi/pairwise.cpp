// Blocking pairwise exchange: in step s every rank of the group sends to the member s places after it and
// receives from the one s places before it, so that no rank is ever the target of two.
#include "transport/mpi/group_exchange.hpp"

namespace weft {

namespace {

class MpiPairwise final : public GroupExchange {
 public:
  explicit MpiPairwise(const CarrierRequest& c) : GroupExchange(c), parts_(c.reshape.element_bytes) {
    for (const TileMessages& t : c.reshape.tiles)
      tiles_.push_back({by_member(t.sends), by_member(t.receives)});
  }

  bool post(int tile, const Memory& memory, Queue&, Patience) override {
    const Tile& t = tiles_[static_cast<std::size_t>(tile)];
    std::byte* work = memory[static_cast<std::size_t>(Space::work)];
    const int n = static_cast<int>(members().size());
    for (int step = 0; step < n; ++step) {
      const int to = (place() + step) % n, from = (place() + n - step) % n;
      const MpiPart& s = t.sends[static_cast<std::size_t>(to)];
      const MpiPart& r = t.receives[static_cast<std::size_t>(from)];
      const auto lock = world().lock();
      check_mpi(MPI_Sendrecv(work + s.offset, s.count, s.type, s.count > 0 ? to : MPI_PROC_NULL, tag,
                             work + r.offset, r.count, r.type, r.count > 0 ? from : MPI_PROC_NULL, tag,
                             group(), MPI_STATUS_IGNORE),
                "MPI_Sendrecv");
    }
    return restart(tile);
  }

 private:
  /// Per member of the group.
  struct Tile {
    std::vector<MpiPart> sends, receives;
  };

  std::vector<MpiPart> by_member(const std::vector<Message>& messages) {
    std::vector<MpiPart> parts(members().size());
    for (const Message& m : messages) parts[place_of(m.peer)] = parts_.part(m);
    return parts;
  }

  // Every rank posts its tiles in the same order, and messages of one pair do not overtake each other.
  static constexpr int tag = 0;

  MpiParts parts_;
  std::vector<Tile> tiles_;
};

}  // namespace

ExchangeRow mpi_pairwise_row() {
  return {.name = "pairwise",
          .meaning = "MPI_Sendrecv with one member of the exchange group after the other",
          .traits = {.concurrent = false},
          .applicable = [](CommImpl& comm) { return comm.mpi() != nullptr; },
          .carrier = make_carrier<MpiPairwise>,
          .takes_devices = mpi_takes_devices};
}

}  // namespace weft
