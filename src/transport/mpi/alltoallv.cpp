// One MPI_Alltoallv per tile, among the ranks that exchange data with each other and nobody else.
#include <algorithm>

#include "comm/mpi_world.hpp"
#include "transport/mpi/counts.hpp"

namespace weft {

namespace {

/// Displacements count from the first message of the tile, which keeps them small.
Index start_of(const std::vector<Message>& messages) {
  return messages.empty() ? 0 : messages.front().offset;
}

class MpiAlltoallv final : public BufferedExchange {
 public:
  explicit MpiAlltoallv(const ExchangeContext& c)
      : world_(*c.comm.mpi()), colours_(c.groups), type_(mpi_datatype(c.reshape.element_bytes)) {
    std::vector<int> members;
    const int colour = c.groups[static_cast<std::size_t>(c.comm.rank())];
    for (std::size_t r = 0; r < c.groups.size(); ++r)
      if (c.groups[r] == colour) members.push_back(static_cast<int>(r));
    for (const TileMessages& t : c.reshape.tiles)
      tiles_.push_back({side(t.sends, members, c.reshape.element_bytes),
                        side(t.receives, members, c.reshape.element_bytes), t.receives.size(), 0});
  }

  void connect() override { group_ = world_.group(colours_); }

  void post(int tile, std::byte* work) override {
    Tile& t = tiles_[static_cast<std::size_t>(tile)];
    check_mpi(MPI_Alltoallv(work + t.send.start, t.send.counts.data(), t.send.displacements.data(), type_,
                            work + t.receive.start, t.receive.counts.data(), t.receive.displacements.data(),
                            type_, group_),
              "MPI_Alltoallv");
    t.returned = 0;
  }

  void wait_sent(int) override {}

  int next_arrival(int tile) override {
    Tile& t = tiles_[static_cast<std::size_t>(tile)];
    return t.returned < t.parts ? static_cast<int>(t.returned++) : -1;
  }

 private:
  struct Side {
    Index start;
    std::vector<int> counts, displacements;
  };
  struct Tile {
    Side send, receive;
    std::size_t parts, returned;
  };

  static Side side(const std::vector<Message>& messages, const std::vector<int>& members, int bytes) {
    Side s{start_of(messages), std::vector<int>(members.size()), std::vector<int>(members.size())};
    for (const Message& m : messages) {
      const auto at = std::lower_bound(members.begin(), members.end(), m.peer) - members.begin();
      s.counts[static_cast<std::size_t>(at)] = mpi_count(m.bytes, bytes);
      s.displacements[static_cast<std::size_t>(at)] = mpi_count(m.offset - s.start, bytes);
    }
    return s;
  }

  MpiWorld& world_;
  std::vector<int> colours_;
  MPI_Comm group_ = MPI_COMM_NULL;
  MPI_Datatype type_;
  std::vector<Tile> tiles_;
};

}  // namespace

ExchangeRow mpi_alltoallv_row() {
  return {.name = "alltoallv",
          .meaning = "MPI_Alltoallv within each exchange group",
          .direct = false,
          .overlaps = [](CommImpl&) { return false; },
          .applicable = [](CommImpl& comm) { return comm.mpi() != nullptr; },
          .make_buffered = [](const ExchangeContext& c) -> std::unique_ptr<BufferedExchange> {
            return std::make_unique<MpiAlltoallv>(c);
          },
          .make_direct = nullptr};
}

}  // namespace weft
