// Non-blocking point-to-point messages: all receives of a tile are posted, then all sends, to the ranks after
// this one first; parts are handed on in the order in which they arrive. There are two rows of it: packed
// parts, and datatypes of the boxes where they lie, which MPI copies once instead of us twice and MPI once.
#include <algorithm>
#include <cstring>
#include <set>

#include "transport/mpi/failure_notices.hpp"
#include "transport/mpi/types.hpp"

namespace weft {

namespace {

class MpiP2p final : public Carrier {
 public:
  explicit MpiP2p(const CarrierRequest& c)
      : world_(*c.comm.mpi()),
        own_(c.device_memory ? -1 : c.comm.rank()),
        most_tiles_(c.reshape.most_tiles),
        parts_(c.reshape.element_bytes),
        notices_(world_, peers_of(c.reshape, c.comm.rank())) {
    world_.check_tags(most_tiles_ + 1);
    for (const TileMessages& t : c.reshape.tiles) tiles_.push_back(tile_of(t));
  }

  /// Only once all ranks have got here, so that tags are alike on all: one for each tile, and one behind
  /// them for notices of failure.
  void connect() override {
    tags_ = world_.take_tags(most_tiles_ + 1);
    notices_.use(tags_.first() + most_tiles_);
  }

  bool post(int tile, const Memory& memory, Queue&, Patience) override {
    Tile& t = tiles_[static_cast<std::size_t>(tile)];
    std::byte* work = memory[static_cast<std::size_t>(Space::work)];
    const auto start = [&](const Peer& p) {
      return memory[static_cast<std::size_t>(p.space)] + p.part.offset;
    };
    const int tag = tags_.first() + tile;
    {
      const auto lock = world_.lock();
      for (std::size_t i = 0; i < t.receives.size(); ++i) {
        const Peer& p = t.receives[i];
        check_mpi(MPI_Irecv(start(p), p.part.count, p.part.type, p.rank, tag, world_.comm(), &t.receiving[i]),
                  "MPI_Irecv");
      }
      for (std::size_t i = 0; i < t.sends.size(); ++i) {
        const Peer& p = t.sends[i];
        check_mpi(MPI_Isend(start(p), p.part.count, p.part.type, p.rank, tag, world_.comm(), &t.sending[i]),
                  "MPI_Isend");
      }
    }
    if (t.own_bytes > 0)
      std::memcpy(work + t.own_to, work + t.own_from, static_cast<std::size_t>(t.own_bytes));
    t.own_pending = t.own_position >= 0;
    return true;
  }

  bool sent(int tile, Patience patience) override {
    return notices_.await(patience,
                          [&] { return world_.complete(tiles_[static_cast<std::size_t>(tile)].sending); });
  }

  int next_arrival(int tile, Queue&, Patience patience) override {
    Tile& t = tiles_[static_cast<std::size_t>(tile)];
    if (t.own_pending) {
      t.own_pending = false;
      return t.own_position;
    }
    int arrived = -1;
    const auto look = [&] {
      const auto [index, done] = world_.complete_any(t.receiving);
      arrived = index;
      return done;
    };
    if (!notices_.await(patience, look)) return no_arrival_yet;
    return arrived < 0 ? no_more_arrivals : t.receives[static_cast<std::size_t>(arrived)].position;
  }

  /// MPI moves on when it is asked for something that it does not know yet.
  void progress() override {
    int done = 1;
    for (const Tile& t : tiles_)
      for (const auto* requests : {&t.receiving, &t.sending})
        for (const MPI_Request request : *requests) {
          if (request == MPI_REQUEST_NULL) continue;
          const auto lock = world_.lock();
          check_mpi(MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE), "MPI_Request_get_status");
          if (done == 0) return;
        }
    const auto lock = world_.lock();
    check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, tags_.first(), world_.comm(), &done, MPI_STATUS_IGNORE),
              "MPI_Iprobe");
  }

  /// Receives that nobody will complete are called back, so that late messages do not land in our memory.
  void cancel() noexcept override {
    if (!mpi_alive()) return;
    const auto lock = world_.lock();
    for (Tile& t : tiles_)
      for (MPI_Request& request : t.receiving)
        if (request != MPI_REQUEST_NULL) {
          MPI_Cancel(&request);
          MPI_Request_free(&request);
        }
    notices_.tell();
  }

 private:
  struct Peer {
    int rank, position;
    MpiPart part;
    Space space = Space::work;
  };
  struct Tile {
    std::vector<Peer> sends, receives;  ///< without what is copied here
    std::vector<MPI_Request> sending, receiving;
    Index own_from = 0, own_to = 0, own_bytes = 0;
    int own_position = -1;
    bool own_pending = false;
  };

  /// The other ranks that this one sends to or receives from.
  static std::vector<int> peers_of(const ReshapeMessages& reshape, int rank) {
    std::set<int> peers;
    for (const TileMessages& t : reshape.tiles)
      for (const auto* messages : {&t.sends, &t.receives})
        for (const Message& m : *messages)
          if (m.peer != rank) peers.insert(m.peer);
    return {peers.begin(), peers.end()};
  }

  Tile tile_of(const TileMessages& messages) {
    Tile tile;
    for (std::size_t i = 0; i < messages.receives.size(); ++i) {
      const Message& m = messages.receives[i];
      if (m.peer == own_) {
        tile.own_to = m.offset;
        tile.own_position = static_cast<int>(i);
      } else {
        tile.receives.push_back(peer(m, messages.to, i));
      }
    }
    for (std::size_t i = 0; i < messages.sends.size(); ++i) {
      const Message& m = messages.sends[i];
      if (m.peer == own_) {
        tile.own_from = m.offset;
        tile.own_bytes = m.bytes;
      } else {
        tile.sends.push_back(peer(m, messages.from, i));
      }
    }
    const auto after = [&](const Peer& p) { return p.rank > world_.rank(); };
    std::rotate(tile.sends.begin(), std::find_if(tile.sends.begin(), tile.sends.end(), after),
                tile.sends.end());
    tile.receiving.assign(tile.receives.size(), MPI_REQUEST_NULL);
    tile.sending.assign(tile.sends.size(), MPI_REQUEST_NULL);
    return tile;
  }

  Peer peer(const Message& m, const std::vector<StridedPart>& boxes, std::size_t i) {
    if (boxes.empty()) return {m.peer, static_cast<int>(i), parts_.part(m)};
    return {m.peer, static_cast<int>(i), parts_.part(boxes[i]), boxes[i].at.space};
  }

  MpiWorld& world_;
  int own_;  ///< whose part is copied here; in memory of devices nobody's, as MPI copies there
  int most_tiles_;
  MpiParts parts_;
  TagRange tags_;
  FailureNotices notices_;
  std::vector<Tile> tiles_;
};

}  // namespace

ExchangeRow mpi_p2p_row() {
  return {.name = "p2p",
          .meaning = "MPI_Isend and MPI_Irecv, unpacking on arrival",
          .traits = {},
          .applicable = [](CommImpl& comm) { return comm.mpi() != nullptr; },
          .overlaps = [](CommImpl& comm) { return several_nodes(comm); },
          .carrier = make_carrier<MpiP2p>,
          .takes_devices = mpi_takes_devices};
}

ExchangeRow mpi_p2pw_row() {
  return {.name = "p2pw",
          .meaning = "MPI_Isend and MPI_Irecv on datatypes of the boxes, without packing",
          .traits = {.form = Form::boxes, .beside_stores = true},
          .applicable = [](CommImpl& comm) { return comm.mpi() != nullptr; },
          // Datatypes are packed inside MPI while it waits, so that little is left to move on meanwhile.
          .carrier = make_carrier<MpiP2p>};
}

}  // namespace weft
