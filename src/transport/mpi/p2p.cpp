// Non-blocking point-to-point messages: all receives of a tile are posted, then all sends, to the ranks after
// this one first; parts are handed on in the order in which they arrive. There are two rows of it: packed
// parts, and datatypes of the boxes where they lie, which MPI copies once instead of us twice and MPI once.
//
// A part for another machine is cut into messages that an MPI library sends at once. Longer ones wait for an
// answer of the receiver, which comes when that rank next calls MPI: over TCP, an exchange that is to be
// hidden behind local FFTs then takes an eighth longer.
//
// A part whose length varies is cut as if it filled its room, so that the receiver knows how many messages
// come. Those behind its end are empty.
#include <algorithm>
#include <cstring>
#include <thread>

#include "kernels/cpu/varying_rows.hpp"
#include "transport/mpi/failure_notices.hpp"
#include "transport/mpi/types.hpp"

namespace weft {

namespace {

class MpiP2p final : public Carrier {
 public:
  explicit MpiP2p(const CarrierRequest& c)
      : world_(*c.comm.mpi()),
        own_(c.device ? -1 : c.comm.rank()),
        cuts_(!c.device),
        reshape_(c.reshape),
        notices_(world_, peers_of(c.reshape, c.comm.rank())) {
    world_.check_tags(reshape_.most_tiles + 1);
    for (const TileMessages& t : reshape_.tiles) {
      Tile& tile = tiles_.emplace_back(Tile{side_of(t.sends, t.from), side_of(t.receives, t.to)});
      std::vector<Piece>& pieces = tile.sends.pieces;
      std::rotate(
          pieces.begin(),
          std::find_if(pieces.begin(), pieces.end(), [&](const Piece& p) { return p.rank > world_.rank(); }),
          pieces.end());
    }
  }

  /// Only once all ranks have got here, so that tags are alike on all: one for each tile, and one behind
  /// them for notices of failure.
  void connect() override {
    tags_ = world_.take_tags(reshape_.most_tiles + 1);
    notices_.use(tags_.first() + reshape_.most_tiles);
  }

  bool post(int tile, const Memory& memory, Queue&, Patience) override {
    Tile& t = at(tiles_, tile);
    Side &sends = t.sends, &receives = t.receives;
    const int tag = tags_.first() + tile;
    t.work = at(memory, Space::work);
    compact_parts(tile);
    {
      const auto lock = world_.lock();
      receives.left = receives.messages;
      for (std::size_t i = 0; i < receives.pieces.size(); ++i) {
        const auto& [rank, position, part, begin] = receives.pieces[i];
        check_mpi(MPI_Irecv(part.start(memory), part.count, part.type, rank, tag, world_.comm(),
                            &receives.requests[i]),
                  "MPI_Irecv");
      }
      for (std::size_t i = 0; i < sends.pieces.size(); ++i) {
        const auto& [rank, position, part, begin] = sends.pieces[i];
        const int count =
            begin < 0 ? part.count
                      : static_cast<int>(std::clamp<Index>(at(sends.bytes, position) - begin, 0, part.count));
        check_mpi(
            MPI_Isend(part.start(memory), count, part.type, rank, tag, world_.comm(), &sends.requests[i]),
            "MPI_Isend");
      }
    }
    t.own_pending = receives.own >= 0;
    if (sends.own >= 0) {
      const Message &from = at(at(reshape_.tiles, tile).sends, sends.own),
                    &to = at(at(reshape_.tiles, tile).receives, receives.own);
      std::memcpy(t.work + to.offset, t.work + from.offset, static_cast<std::size_t>(from.bytes));
    }
    return true;
  }

  Index bytes_saved(int tile) const override { return at(tiles_, tile).saved; }

  bool sent(int tile, Patience patience) override {
    return notices_.await(patience, [&] { return world_.complete(at(tiles_, tile).sends.requests); });
  }

  int next_arrival(int tile, Queue&, Patience patience) override {
    Tile& t = at(tiles_, tile);
    if (t.own_pending) {
      t.own_pending = false;
      return t.receives.own;
    }
    int arrived = no_more_arrivals;
    const auto look = [&, &side = t.receives] {
      for (;;) {
        MPI_Status status;
        const auto [index, done] = world_.complete_any(side.requests, &status);
        if (!done || index < 0) return done;
        const Piece& piece = at(side.pieces, index);
        if (piece.begin >= 0) at(side.bytes, piece.position) += bytes_of(status);
        if (--at(side.left, piece.position) > 0) continue;
        arrived = piece.position;
        return true;
      }
    };
    if (!notices_.await(patience, look)) return no_arrival_yet;
    if (arrived >= 0) {
      const Message& part = at(at(reshape_.tiles, tile).receives, arrived);
      if (part.rows.rows > 0) spread(part.rows, t.work + part.offset, at(t.receives.bytes, arrived));
    }
    return arrived;
  }

  /// MPI moves on when it is asked for something that it does not know yet. Yielding lets a rank that shares
  /// this core hand its messages to the network before this rank's next local operation is done.
  void progress() override {
    look_at_messages();
    std::this_thread::yield();
  }

  /// Receives that nobody will complete are called back, so that late messages do not land in our memory.
  void cancel() noexcept override {
    if (!mpi_alive()) return;
    const auto lock = world_.lock();
    for (Tile& t : tiles_)
      for (MPI_Request& request : t.receives.requests)
        if (request != MPI_REQUEST_NULL) {
          MPI_Cancel(&request);
          MPI_Request_free(&request);
        }
    notices_.tell();
  }

 private:
  void look_at_messages() {
    int done = 1;
    for (const Tile& t : tiles_)
      for (const Side* side : {&t.receives, &t.sends})
        for (const MPI_Request request : side->requests) {
          if (request == MPI_REQUEST_NULL) continue;
          const auto lock = world_.lock();
          check_mpi(MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE), "MPI_Request_get_status");
          if (done == 0) return;
        }
    const auto lock = world_.lock();
    check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, tags_.first(), world_.comm(), &done, MPI_STATUS_IGNORE),
              "MPI_Iprobe");
  }

  /// What is sent as a message of MPI.
  struct Piece {
    int rank, position;  ///< position: of the part in the tile
    MpiPart part;
    Index begin = -1;  ///< where it begins in a part whose length varies, in bytes; -1: in any other
  };
  struct Side {
    std::vector<Piece> pieces;
    std::vector<MPI_Request> requests;  ///< of the pieces
    std::vector<int> messages, left;    ///< pieces of each part, and those that have not arrived
    std::vector<Index> bytes;           ///< of parts whose length varies: of what is sent, or has arrived
    int own = -1;                       ///< position of the part that is copied here; -1: there is none
  };
  struct Tile {
    Side sends, receives;
    bool own_pending = false;  ///< the part that is copied here has not been returned
    Index saved = 0;           ///< `bytes_saved`
    std::byte* work = nullptr;
  };

  Side side_of(const std::vector<Message>& parts, const std::vector<StridedPart>& boxes) const {
    Side side;
    side.messages.resize(parts.size());
    side.bytes.resize(parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const int rank = parts[i].peer, position = static_cast<int>(i);
      if (rank == own_) {
        side.own = position;
        continue;
      }
      const std::size_t before = side.pieces.size();
      boxes.empty() ? cut(parts[i], position, side) : cut(boxes[i], rank, position, side);
      side.messages[i] = static_cast<int>(side.pieces.size() - before);
    }
    side.left = side.messages;
    side.requests.assign(side.pieces.size(), MPI_REQUEST_NULL);
    return side;
  }

  Index at_once(int rank, Index bytes) const { return cuts_ ? bytes_at_once(world_, rank, bytes) : bytes; }

  void cut(const Message& part, int position, Side& side) const {
    const bool varies = part.rows.rows > 0;
    const Index whole = at_once(part.peer, part.bytes), end = part.offset + part.bytes;
    const Index each = varies ? std::min<Index>(whole, detail::mpi_count_limit) : whole;
    for (Index first = part.offset; first < end; first += each) {
      const Message piece{part.peer, first, std::min(each, end - first)};
      if (varies)
        side.pieces.push_back({part.peer, position, bytes_of(piece), first - part.offset});
      else
        side.pieces.push_back({part.peer, position, MpiPart(piece, reshape_.element_bytes)});
    }
  }

  static MpiPart bytes_of(const Message& piece) {
    MpiPart bytes;
    bytes.offset = piece.offset;
    bytes.count = mpi_count(piece.bytes, 1);
    return bytes;
  }
  static Index bytes_of(const MPI_Status& status) {
    int count = 0;
    check_mpi(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count");
    return count;
  }

  /// Of what the tile sends, parts whose length varies; no bytes of those that it receives have arrived.
  void compact_parts(int tile) {
    Tile& t = at(tiles_, tile);
    const std::vector<Message>& parts = at(reshape_.tiles, tile).sends;
    std::fill(t.receives.bytes.begin(), t.receives.bytes.end(), 0);
    t.saved = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].rows.rows == 0) continue;
      t.sends.bytes[i] = compact(parts[i].rows, t.work + parts[i].offset);
      t.saved += parts[i].bytes - t.sends.bytes[i];
    }
  }

  /// A box is cut along the slowest axis that has several indices.
  void cut(const StridedPart& part, int rank, int position, Side& side) const {
    const Box& box = part.box;
    const auto* const slowest =
        std::find_if(part.order.begin(), part.order.end(), [&](int a) { return box.extent(a) > 1; });
    const int axis = slowest == part.order.end() ? 0 : *slowest;
    const Index bytes = box.count() * reshape_.element_bytes, index = bytes / box.extent(axis);
    const Index each = std::max<Index>(at_once(rank, bytes) / index, 1);
    StridedPart piece = part;
    for (Index first = box.lo[axis]; first < box.hi[axis]; first += each) {
      piece.box.lo[axis] = first;
      piece.box.hi[axis] = std::min(first + each, box.hi[axis]);
      piece.at.offset =
          part.at.offset + (first - box.lo[axis]) * part.at.strides[axis] * reshape_.element_bytes;
      side.pieces.push_back({rank, position, MpiPart(piece, reshape_.element_bytes)});
    }
  }

  MpiWorld& world_;
  int own_;    ///< whose part is copied here; in memory of devices nobody's, as MPI copies there
  bool cuts_;  ///< whether parts for other machines are
  const ReshapeMessages& reshape_;
  TagRange tags_;
  FailureNotices notices_;
  std::vector<Tile> tiles_;
};

}  // namespace

ExchangeRow mpi_p2p_row() {
  return {.name = "p2p",
          .meaning = "MPI_Isend and MPI_Irecv, unpacking on arrival",
          .traits = {.among = Among::processes, .moves_on = MovesOn::between_machines, .any_length = true},
          .carrier = make_carrier<MpiP2p>,
          .takes_devices = mpi_takes_devices};
}

ExchangeRow mpi_p2pw_row() {
  return {.name = "p2pw",
          .meaning = "MPI_Isend and MPI_Irecv on datatypes of the boxes, without packing",
          .traits = {.form = Form::boxes, .among = Among::processes, .beside_stores = true},
          // Datatypes are packed inside MPI while it waits, so that little is left to move on meanwhile.
          .carrier = make_carrier<MpiP2p>};
}

}  // namespace weft
