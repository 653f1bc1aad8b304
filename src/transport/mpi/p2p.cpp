// Non-blocking point-to-point messages: all receives of a tile are posted, then all sends, to the ranks after
// this one first; parts are handed on in the order in which they arrive.
#include <algorithm>
#include <cstring>

#include "comm/mpi_world.hpp"
#include "transport/mpi/counts.hpp"

namespace weft {

namespace {

class MpiP2p final : public BufferedExchange {
 public:
  explicit MpiP2p(const ExchangeContext& c)
      : world_(*c.comm.mpi()),
        most_tiles_(c.reshape.most_tiles),
        type_(mpi_datatype(c.reshape.element_bytes)) {
    world_.check_tags(most_tiles_);
    const int rank = world_.rank();
    for (const TileMessages& t : c.reshape.tiles) {
      Tile tile;
      for (std::size_t i = 0; i < t.receives.size(); ++i) {
        if (t.receives[i].peer == rank) {
          tile.own_to = t.receives[i].offset;
          tile.own_position = static_cast<int>(i);
        } else {
          tile.receives.push_back(part(t.receives[i], c.reshape.element_bytes, static_cast<int>(i)));
        }
      }
      for (const Message& m : t.sends) {
        if (m.peer == rank) {
          tile.own_from = m.offset;
          tile.own_bytes = m.bytes;
        } else {
          tile.sends.push_back(part(m, c.reshape.element_bytes, 0));
        }
      }
      const auto after = [&](const Part& p) { return p.peer > rank; };
      std::rotate(tile.sends.begin(), std::find_if(tile.sends.begin(), tile.sends.end(), after),
                  tile.sends.end());
      tile.receiving.assign(tile.receives.size(), MPI_REQUEST_NULL);
      tile.sending.assign(tile.sends.size(), MPI_REQUEST_NULL);
      tiles_.push_back(std::move(tile));
    }
  }

  /// Only once all ranks have got here, so that tags stay alike on all.
  void connect() override { first_tag_ = world_.take_tags(most_tiles_); }

  void post(int tile, std::byte* work) override {
    Tile& t = tiles_[static_cast<std::size_t>(tile)];
    const int tag = first_tag_ + tile;
    for (std::size_t i = 0; i < t.receives.size(); ++i) {
      const Part& p = t.receives[i];
      check_mpi(MPI_Irecv(work + p.offset, p.count, type_, p.peer, tag, world_.comm(), &t.receiving[i]),
                "MPI_Irecv");
    }
    for (std::size_t i = 0; i < t.sends.size(); ++i) {
      const Part& p = t.sends[i];
      check_mpi(MPI_Isend(work + p.offset, p.count, type_, p.peer, tag, world_.comm(), &t.sending[i]),
                "MPI_Isend");
    }
    if (t.own_bytes > 0)
      std::memcpy(work + t.own_to, work + t.own_from, static_cast<std::size_t>(t.own_bytes));
    t.own_pending = t.own_position >= 0;
  }

  void wait_sent(int tile) override {
    Tile& t = tiles_[static_cast<std::size_t>(tile)];
    check_mpi(MPI_Waitall(static_cast<int>(t.sending.size()), t.sending.data(), MPI_STATUSES_IGNORE),
              "MPI_Waitall");
  }

  int next_arrival(int tile) override {
    Tile& t = tiles_[static_cast<std::size_t>(tile)];
    if (t.own_pending) {
      t.own_pending = false;
      return t.own_position;
    }
    int index = MPI_UNDEFINED;
    check_mpi(
        MPI_Waitany(static_cast<int>(t.receiving.size()), t.receiving.data(), &index, MPI_STATUS_IGNORE),
        "MPI_Waitany");
    return index == MPI_UNDEFINED ? -1 : t.receives[static_cast<std::size_t>(index)].position;
  }

  void progress() override {
    for (const Tile& t : tiles_)
      for (const MPI_Request request : t.receiving) {
        if (request == MPI_REQUEST_NULL) continue;
        int done = 0;
        check_mpi(MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE), "MPI_Request_get_status");
        return;
      }
  }

 private:
  struct Part {
    int peer, count, position;
    Index offset;
  };
  struct Tile {
    std::vector<Part> sends, receives;  ///< without this rank's own part
    std::vector<MPI_Request> sending, receiving;
    Index own_from = 0, own_to = 0, own_bytes = 0;
    int own_position = -1;
    bool own_pending = false;
  };

  static Part part(const Message& m, int element_bytes, int position) {
    return {m.peer, mpi_count(m.bytes, element_bytes), position, m.offset};
  }

  MpiWorld& world_;
  int most_tiles_;
  MPI_Datatype type_;
  int first_tag_ = 0;
  std::vector<Tile> tiles_;
};

}  // namespace

ExchangeRow mpi_p2p_row() {
  return {.name = "p2p",
          .meaning = "MPI_Isend and MPI_Irecv, unpacking on arrival",
          .direct = false,
          .overlaps = [](CommImpl& comm) { return comm.mpi()->nodes() > 1; },
          .applicable = [](CommImpl& comm) { return comm.mpi() != nullptr; },
          .make_buffered = make_exchange<BufferedExchange, MpiP2p>,
          .make_direct = nullptr};
}

}  // namespace weft
