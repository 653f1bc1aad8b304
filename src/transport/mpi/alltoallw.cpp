// One MPI_Alltoallw per tile on datatypes that describe the boxes where they lie: no packing, no unpacking,
// and no buffer of ours; MPI does both inside (multi-gpu-fft-performance, Algorithm 2; mpi4py-fft).
#include "transport/mpi/group_exchange.hpp"

namespace weft {

namespace {

class MpiAlltoallw final : public GroupExchange {
 public:
  explicit MpiAlltoallw(const CarrierRequest& c) : GroupExchange(c), parts_(c.reshape.element_bytes) {
    for (const TileMessages& t : c.reshape.tiles)
      tiles_.emplace_back(side_of(t.sends, t.from), side_of(t.receives, t.to));
    zeros_.assign(members().size(), 0);
  }

  bool post(int tile, const Memory& memory, Queue&, Patience) override {
    const auto& [send, receive] = tiles_[static_cast<std::size_t>(tile)];
    const auto lock = world().lock();
    check_mpi(MPI_Alltoallw(send.start(memory), send.counts.data(), zeros_.data(), send.types.data(),
                            receive.start(memory), receive.counts.data(), zeros_.data(), receive.types.data(),
                            group()),
              "MPI_Alltoallw");
    return restart(tile);
  }

 private:
  /// Per member of the group: one box, or nothing.
  struct Side {
    std::byte* start(const Memory& memory) const { return memory[static_cast<std::size_t>(space)]; }

    Space space = Space::work;
    std::vector<int> counts;
    std::vector<MPI_Datatype> types;
  };

  Side side_of(const std::vector<Message>& messages, const std::vector<StridedPart>& boxes) {
    Side s;
    s.counts.resize(members().size());
    s.types.resize(members().size(), MPI_BYTE);
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      s.space = boxes[i].at.space;
      const MpiPart part = parts_.part(boxes[i]);
      const std::size_t m = place_of(messages[i].peer);
      s.counts[m] = part.count;
      s.types[m] = part.type;
    }
    return s;
  }

  MpiParts parts_;
  std::vector<std::pair<Side, Side>> tiles_;  ///< sends, receives
  std::vector<int> zeros_;                    ///< displacements: the types have them
};

}  // namespace

ExchangeRow mpi_alltoallw_row() {
  return {.name = "alltoallw",
          .meaning = "MPI_Alltoallw on datatypes of the boxes, without packing",
          .traits = {.form = Form::boxes, .concurrent = false},
          .applicable = [](CommImpl& comm) { return comm.mpi() != nullptr; },
          .carrier = make_carrier<MpiAlltoallw>};
}

}  // namespace weft
