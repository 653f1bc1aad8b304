// One MPI_Alltoallw per tile on datatypes that describe the boxes where they lie: no packing, no unpacking,
// and no buffer of ours; MPI does both inside (multi-gpu-fft-performance, Algorithm 2; mpi4py-fft).
#include "transport/mpi/group_exchange.hpp"

namespace weft {

namespace {

class MpiAlltoallw final : public GroupExchange {
 public:
  explicit MpiAlltoallw(const CarrierRequest& c) : GroupExchange(c), zeros_(members().size()) {
    for (const TileMessages& t : c.reshape.tiles)
      tiles_.push_back({side_of(t.sends, t.from, c.reshape.element_bytes),
                        side_of(t.receives, t.to, c.reshape.element_bytes)});
  }

 private:
  /// Per member of the group: one box, or nothing.
  struct Side {
    Space space = Space::work;
    std::vector<int> counts;
    std::vector<MPI_Datatype> types;
    std::vector<MpiPart> boxes;  ///< they own the types
  };
  struct Tile {
    Side send, receive;
  };

  void carry(int tile, const Memory& memory, Queue& /*queue*/) override {
    const auto& [send, receive] = at(tiles_, tile);
    const auto lock = world().lock();
    check_mpi(MPI_Alltoallw(at(memory, send.space), send.counts.data(), zeros_.data(), send.types.data(),
                            at(memory, receive.space), receive.counts.data(), zeros_.data(),
                            receive.types.data(), group()),
              "MPI_Alltoallw");
  }

  Side side_of(const std::vector<Message>& messages, const std::vector<StridedPart>& boxes,
               int element_bytes) const {
    Side s;
    s.counts.resize(members().size());
    s.types.resize(members().size(), MPI_BYTE);
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      const MpiPart& box = s.boxes.emplace_back(boxes[i], element_bytes);
      s.space = box.space;
      s.counts[place_of(messages[i].peer)] = box.count;
      s.types[place_of(messages[i].peer)] = box.type;
    }
    return s;
  }

  std::vector<Tile> tiles_;
  std::vector<int> zeros_;  ///< displacements: the types have them
};

}  // namespace

ExchangeRow mpi_alltoallw_row() {
  return {.name = "alltoallw",
          .meaning = "MPI_Alltoallw on datatypes of the boxes, without packing",
          .traits = {.form = Form::boxes,
                     .among = Among::processes,
                     .concurrent = false,
                     .blocks = true,
                     .collective = true},
          .carrier = make_carrier<MpiAlltoallw>};
}

}  // namespace weft
