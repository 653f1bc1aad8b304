// One-sided exchange (lossy-all-to-all, Algorithm 3): a rank reads the parts that are meant for it out of the
// workspaces of its peers, machine after machine in a ring, a few at a time. The workspace is registered
// once, while planning. Two empty messages per part keep order: *ready*, the part may be read, and *taken*,
// it has been. The paper puts; then a sender learns that a part has arrived only by MPI_Win_flush, which
// waits inside MPI for the target (docs/adr/0027). The request of an MPI_Rget says it without waiting.
#include <algorithm>
#include <cstring>
#include <map>

#include "comm/agree.hpp"
#include "transport/mpi/failure_notices.hpp"
#include "transport/mpi/told_offsets.hpp"
#include "transport/mpi/types.hpp"
#include "transport/ring_order.hpp"

namespace weft {

namespace {

class OneSidedRing final : public Carrier {
 public:
  explicit OneSidedRing(const CarrierRequest& c)
      : world_(*c.comm.mpi()),
        window_(std::static_pointer_cast<const MPI_Win>(c.exposed)),
        reshape_(c.reshape),
        order_(ring_order(c.comm.nodes(), c.comm.rank())),
        notices_(world_, peers_of(c.reshape, c.comm.rank())) {
    world_.check_tags(tag_count());
    for (const TileMessages& m : reshape_.tiles) add_tile(m);
    requests_.assign(pieces_.size(), MPI_REQUEST_NULL);
    complete_.resize(pieces_.size());
  }

  /// Only once all ranks have got here, so that tags are alike on all. Ranks tell their readers where each
  /// part begins.
  void connect() override {
    tags_ = world_.take_tags(tag_count());
    notices_.use(tags_.first() + 2 * reshape_.most_tiles);
    OffsetsByRank told, heard;  // tile by tile
    for (const TileMessages& m : reshape_.tiles) {
      for (const Message& s : m.sends) told[s.peer].push_back(s.offset);
      for (const Message& r : m.receives) heard[r.peer].push_back(0);
    }
    heard = tell_offsets(world_, tags_.first(), std::move(told), std::move(heard));
    std::map<int, std::size_t> next;
    for (Piece& p : pieces_) p.theirs += heard[p.rank][p.number == 0 ? next[p.rank]++ : next[p.rank] - 1];
  }

  bool post(int tile, const Memory& memory, Queue&, Patience) override {
    Tile& t = at(tiles_, tile);
    t.memory = memory;
    t.arrived.clear();
    t.returned = 0;
    t.unread = t.parts;
    const auto lock = world_.lock();
    for (std::size_t i = t.first; i < t.last; ++i) {
      Piece& p = pieces_[i];
      p.left = p.count;
      if (p.number > 0) continue;
      p.state = State::awaited;
      receive_empty(p.rank, ready_tag(tile), requests_[i]);
    }
    for (std::size_t i = 0; i < t.readers.size(); ++i)
      receive_empty(t.readers[i], taken_tag(tile), t.taken[i]);
    check_mpi(MPI_Win_sync(*window_), "MPI_Win_sync");
    for (const int reader : t.readers) send_empty(reader, ready_tag(tile));
    if (t.own_from >= 0) {
      const TileMessages& m = at(reshape_.tiles, tile);
      std::byte* const work = at(memory, Space::work);
      const Message &from = at(m.sends, t.own_from), &to = at(m.receives, t.own_to);
      std::memcpy(work + to.offset, work + from.offset, static_cast<std::size_t>(from.bytes));
      t.arrived.push_back(t.own_to);
    }
    move_on();
    return true;
  }

  bool sent(int tile, Patience patience) override {
    return notices_.await(patience, [&] {
      move_on();
      return world_.complete(at(tiles_, tile).taken);
    });
  }

  int next_arrival(int tile, Queue&, Patience patience) override {
    Tile& t = at(tiles_, tile);
    const auto look = [&] {
      if (t.returned == t.arrived.size() && t.unread > 0) move_on();
      return t.returned < t.arrived.size() || t.unread == 0;
    };
    if (!notices_.await(patience, look)) return no_arrival_yet;
    return t.returned < t.arrived.size() ? t.arrived[t.returned++] : no_more_arrivals;
  }

  /// What peers read moves on in any call of MPI that looks for something.
  void progress() override {
    move_on();
    int found = 0;
    const auto lock = world_.lock();
    check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, tags_.first(), world_.comm(), &found, MPI_STATUS_IGNORE),
              "MPI_Iprobe");
  }

  /// Reading cannot be called back: the memory is kept.
  void cancel() noexcept override {
    if (!mpi_alive()) return;
    const auto lock = world_.lock();
    for (std::size_t i = 0; i < pieces_.size(); ++i)
      if (pieces_[i].state == State::awaited) call_back(requests_[i]);
    for (Tile& t : tiles_)
      for (MPI_Request& request : t.taken) call_back(request);
    notices_.tell();
  }

 private:
  /// Of a part that this rank receives: awaited until its owner says that it is ready, then read.
  enum class State : std::uint8_t { awaited, ready, being_read, read };
  /// What is read by one call. The pieces of a part follow each other; the first one is awaited for all.
  struct Piece {
    int tile, rank, position;  ///< position: of the message in the tile
    int number, count;         ///< in its part
    MpiPart mine;
    Index bytes;
    MPI_Aint theirs;  ///< where it begins in its owner's workspace
    int left = 0;     ///< the first: of the pieces of its part, those that have not been read
    State state = State::read;
  };
  struct Tile {
    std::size_t first = 0, last = 0;  ///< of its pieces
    std::size_t parts = 0;
    std::vector<int> readers = {};         ///< of what this rank sends, in ring order
    std::vector<MPI_Request> taken = {};   ///< of the readers
    std::vector<int> arrived = {};         ///< positions
    std::size_t returned = 0, unread = 0;  ///< of `arrived`; of the parts
    int own_from = -1, own_to = -1;  ///< positions of the message that is copied here; -1: there is none
    Memory memory{};
  };

  /// What is read at a time: enough to keep a fast link busy, and no more, as parts from many peers meet
  /// each other on their way. Two pieces at least, so that one is on its way while the other is asked for.
  static constexpr Index most_bytes = Index{2} << 20;
  static constexpr int least_pieces = 2;

  int tag_count() const { return 2 * reshape_.most_tiles + 1; }
  int ready_tag(int tile) const { return tags_.first() + tile; }
  int taken_tag(int tile) const { return tags_.first() + reshape_.most_tiles + tile; }

  void add_tile(const TileMessages& m) {
    Tile t;
    t.first = pieces_.size();
    const auto position_of = [](const std::vector<Message>& messages, int peer) {
      const auto found =
          std::find_if(messages.begin(), messages.end(), [&](const Message& x) { return x.peer == peer; });
      return found == messages.end() ? -1 : static_cast<int>(found - messages.begin());
    };
    for (const int peer : order_) {
      if (const int i = position_of(m.receives, peer); i >= 0) {
        add_part(at(m.receives, i), i);
        ++t.parts;
      }
      if (position_of(m.sends, peer) >= 0) t.readers.push_back(peer);
    }
    t.last = pieces_.size();
    t.own_from = position_of(m.sends, world_.rank());
    t.own_to = position_of(m.receives, world_.rank());
    t.taken.assign(t.readers.size(), MPI_REQUEST_NULL);
    t.arrived.reserve(m.receives.size());
    tiles_.push_back(std::move(t));
  }

  void add_part(const Message& part, int position) {
    const Index each = bytes_at_once(world_, part.peer, part.bytes);
    const auto count = static_cast<int>(divided_up(part.bytes, each));
    for (int i = 0; i < count; ++i) {
      const Index first = i * each, bytes = std::min(each, part.bytes - first);
      const Message piece{part.peer, part.offset + first, bytes};
      pieces_.push_back({static_cast<int>(tiles_.size()), part.peer, position, i, count,
                         MpiPart(piece, reshape_.element_bytes), bytes, first});
    }
  }

  void receive_empty(int rank, int tag, MPI_Request& request) const {
    check_mpi(MPI_Irecv(nullptr, 0, MPI_BYTE, rank, tag, world_.comm(), &request), "MPI_Irecv");
  }
  /// Empty messages need nobody's buffer to be on their way.
  void send_empty(int rank, int tag) const {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Isend(nullptr, 0, MPI_BYTE, rank, tag, world_.comm(), &request), "MPI_Isend");
    check_mpi(MPI_Request_free(&request), "MPI_Request_free");
  }
  static void call_back(MPI_Request& request) {
    if (request == MPI_REQUEST_NULL) return;
    MPI_Cancel(&request);
    MPI_Request_free(&request);
  }

  /// Notes what has become ready or has been read, and reads on, the earlier tiles first.
  void move_on() {
    const auto lock = world_.lock();
    int count = 0;
    check_mpi(MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, complete_.data(),
                           MPI_STATUSES_IGNORE),
              "MPI_Testsome");
    for (int i = 0; i < count; ++i)  // none at all: MPI_UNDEFINED, which is negative
      note(static_cast<std::size_t>(at(complete_, i)));
    for (std::size_t i = 0; i < pieces_.size() && ready_ > 0; ++i) {
      Piece& p = pieces_[i];
      if (p.state != State::ready) continue;
      if (reading_ >= least_pieces && bytes_ + p.bytes > most_bytes) return;
      check_mpi(MPI_Rget(p.mine.start(at(tiles_, p.tile).memory), p.mine.count, p.mine.type, p.rank, p.theirs,
                         p.mine.count, p.mine.type, *window_, &requests_[i]),
                "MPI_Rget");
      p.state = State::being_read;
      --ready_;
      ++reading_;
      bytes_ += p.bytes;
    }
  }

  void note(std::size_t i) {
    Piece& p = pieces_[i];
    if (p.state == State::awaited) {
      for (int k = 0; k < p.count; ++k) at(pieces_, static_cast<int>(i) + k).state = State::ready;
      ready_ += p.count;
      return;
    }
    p.state = State::read;
    --reading_;
    bytes_ -= p.bytes;
    if (--at(pieces_, static_cast<int>(i) - p.number).left > 0) return;
    Tile& t = at(tiles_, p.tile);
    --t.unread;
    t.arrived.push_back(p.position);
    send_empty(p.rank, taken_tag(p.tile));
  }

  MpiWorld& world_;
  std::shared_ptr<const MPI_Win> window_;
  const ReshapeMessages& reshape_;
  std::vector<int> order_;
  TagRange tags_;
  FailureNotices notices_;
  std::vector<Tile> tiles_;
  std::vector<Piece> pieces_;  ///< tile by tile, each in ring order
  /// Of the pieces: the message that the part is ready, or the reading. `complete_`: indices of those that
  /// are.
  std::vector<MPI_Request> requests_;
  std::vector<int> complete_;
  int ready_ = 0, reading_ = 0;  ///< pieces
  Index bytes_ = 0;              ///< of the pieces that are being read
};

/// Tried out, once for these ranks: some MPI libraries have no way to another process's memory.
std::string why_no_windows(CommImpl& comm) {
  static const char key = 0;
  std::shared_ptr<void>& kept = comm.kept(&key);
  if (kept) return *std::static_pointer_cast<std::string>(kept);
  std::string why;
  std::byte word{};
  MPI_Win window = MPI_WIN_NULL;
  try {
    window = comm.mpi()->make_window(&word, sizeof word);
  } catch (const Error& e) {
    why = "among these processes and at this thread level " + e.operation() + " fails (" + e.got() +
          "). Debian's Open MPI needs OMPI_MCA_osc=pt2pt in the environment, or OMPI_MCA_osc=ucx with "
          "MPI_THREAD_MULTIPLE";
  }
  if (comm.least(why.empty() ? 1 : 0) == 1) MpiWorld::free_window(window);
  kept = std::make_shared<std::string>(why);
  return why;
}

/// Collective; throws the same error on all ranks.
std::shared_ptr<const void> window_of(CommImpl& comm, const std::shared_ptr<std::byte>& memory, Index bytes,
                                      bool, const RailSettings&) {
  MpiWorld& world = *comm.mpi();
  const std::shared_ptr<MPI_Win> window = world.keep_window(memory);
  world.free_unused();
  try {
    agree(comm, "plan: exchange ring",
          [&] { *window = world.make_window(memory.get(), static_cast<std::size_t>(bytes)); });
  } catch (...) {
    *window = MPI_WIN_NULL;  // some rank has none, and freeing it takes all
    throw;
  }
  return window;
}

}  // namespace

ExchangeRow mpi_one_sided_ring_row() {
  return {.name = "ring",
          .meaning = "MPI_Rget from one machine after the other in a ring, unpacking on arrival",
          .traits = {.among = Among::processes,
                     .moves_on = MovesOn::between_machines,
                     .asked_for = true,
                     .own_workspace = true,
                     .by_name_only = true},
          .carrier = make_carrier<OneSidedRing>,
          .missing = why_no_windows,
          .expose = window_of};
}

}  // namespace weft
