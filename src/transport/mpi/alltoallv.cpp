// One MPI_Alltoallv or MPI_Ialltoallv per tile, among the ranks that exchange data with each other and nobody
// else. The second is the exchange of the overlap paper, whose tiles move on while ranks compute and test
// (overlap-autotuned-3d-fft, section 3).
#include "transport/mpi/failure_notices.hpp"
#include "transport/mpi/group_exchange.hpp"

namespace weft {

namespace {

class MpiAlltoallv : public GroupExchange {
 public:
  /// Throws `weft::Error` for counts and displacements that do not fit MPI's int.
  explicit MpiAlltoallv(const CarrierRequest& c, MpiWorld::Calls calls = MpiWorld::Calls::that_wait)
      : GroupExchange(c, calls), type_(mpi_datatype(c.reshape.element_bytes)) {
    for (const TileMessages& t : c.reshape.tiles)
      tiles_.push_back({side_of(t.sends, t.send_start, c.reshape.element_bytes),
                        side_of(t.receives, t.receive_start, c.reshape.element_bytes)});
  }

 protected:
  /// Per member, in elements; displacements count from `start`, which keeps them small.
  struct Side {
    Index start;
    std::vector<int> counts, displacements;
  };
  struct Tile {
    Side send, receive;
  };

  void carry(int tile, const Memory& memory, Queue& /*queue*/) override {
    const auto& [send, receive] = at(tiles_, tile);
    std::byte* const work = at(memory, Space::work);
    // A rank that sends and receives nothing may have no memory.
    const auto from = [&](const Side& side) { return work == nullptr ? nullptr : work + side.start; };
    const auto lock = world().lock();
    check_mpi(MPI_Alltoallv(from(send), send.counts.data(), send.displacements.data(), type_, from(receive),
                            receive.counts.data(), receive.displacements.data(), type_, group()),
              "MPI_Alltoallv");
  }

  MPI_Datatype type_;
  std::vector<Tile> tiles_;

 private:
  Side side_of(const std::vector<Message>& messages, Index start, int element_bytes) const {
    Side s{start, std::vector<int>(members().size()), std::vector<int>(members().size())};
    for (const Message& m : messages) {
      s.counts[place_of(m.peer)] = mpi_count(m.bytes, element_bytes);
      s.displacements[place_of(m.peer)] = mpi_count(m.offset - start, element_bytes);
    }
    return s;
  }
};

class MpiIalltoallv final : public MpiAlltoallv {
 public:
  explicit MpiIalltoallv(const CarrierRequest& c)
      : MpiAlltoallv(c, MpiWorld::Calls::that_do_not),
        notices_(world(), others()),
        requests_(c.reshape.tiles.size(), MPI_REQUEST_NULL) {}

  void connect() override {
    GroupExchange::connect();
    tag_ = world().take_tags(1);
    notices_.use(tag_.first());
  }

  bool sent(int tile, Patience patience) override {
    return notices_.await(patience, [&] { return world().complete({&at(requests_, tile), 1}); });
  }

  int next_arrival(int tile, Queue& queue, Patience patience) override {
    return sent(tile, patience) ? GroupExchange::next_arrival(tile, queue, patience) : no_arrival_yet;
  }

  void progress() override {
    for (MPI_Request& request : requests_)
      if (request != MPI_REQUEST_NULL) {
        world().complete({&request, 1});
        return;
      }
  }

  void cancel() noexcept override {
    if (group_) group_->out_of_step = true;
    if (mpi_alive()) notices_.tell();
  }

 private:
  void carry(int tile, const Memory& memory, Queue& /*queue*/) override {
    if (group_->out_of_step)
      throw Error(
          "exchange ialltoallv",
          "ranks that have not made the same calls, as an execution of theirs has failed in the middle",
          "a new plan", world().rank());
    const auto& [send, receive] = at(tiles_, tile);
    std::byte* const work = at(memory, Space::work);
    const auto lock = world().lock();
    check_mpi(MPI_Ialltoallv(work + send.start, send.counts.data(), send.displacements.data(), type_,
                             work + receive.start, receive.counts.data(), receive.displacements.data(), type_,
                             group(), &at(requests_, tile)),
              "MPI_Ialltoallv");
  }

  std::vector<int> others() const {
    std::vector<int> ranks = members();
    std::erase(ranks, world().rank());
    return ranks;
  }

  TagRange tag_;
  FailureNotices notices_;
  std::vector<MPI_Request> requests_;  ///< per tile
};

}  // namespace

ExchangeRow mpi_alltoallv_row() {
  return {.name = "alltoallv",
          .meaning = "MPI_Alltoallv within each exchange group",
          .traits = {.among = Among::processes, .concurrent = false, .blocks = true, .collective = true},
          .carrier = make_carrier<MpiAlltoallv>,
          .takes_devices = mpi_takes_devices};
}

ExchangeRow mpi_ialltoallv_row() {
  return {.name = "ialltoallv",
          .meaning = "MPI_Ialltoallv within each exchange group",
          .traits = {.among = Among::processes,
                     .moves_on = MovesOn::between_machines,
                     .concurrent = false,
                     .collective = true},
          .carrier = make_carrier<MpiIalltoallv>,
          .takes_devices = mpi_takes_devices};
}

}  // namespace weft
