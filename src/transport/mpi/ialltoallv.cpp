// One MPI_Ialltoallv per tile, among the ranks that exchange data with each other: the exchange of the
// overlap paper, whose tiles move on while ranks compute and test (overlap-autotuned-3d-fft, section 3).
#include "transport/mpi/failure_notices.hpp"
#include "transport/mpi/group_exchange.hpp"

namespace weft {

namespace {

class MpiIalltoallv final : public CountedGroup {
 public:
  explicit MpiIalltoallv(const CarrierRequest& c)
      : CountedGroup(c),
        world_(*c.comm.mpi()),
        notices_(world_, others()),
        requests_(c.reshape.tiles.size(), MPI_REQUEST_NULL) {}

  void connect() override {
    CountedGroup::connect();
    tag_ = world_.take_tags(1);
    notices_.use(tag_.first());
  }

  bool post(int tile, const Memory& memory, Queue&, Patience) override {
    std::byte* work = memory[static_cast<std::size_t>(Space::work)];
    const Tile& t = tile_at(tile);
    const auto lock = world().lock();
    check_mpi(MPI_Ialltoallv(work + t.send.start, t.send.counts.data(), t.send.displacements.data(), type(),
                             work + t.receive.start, t.receive.counts.data(), t.receive.displacements.data(),
                             type(), group(), &requests_[static_cast<std::size_t>(tile)]),
              "MPI_Ialltoallv");
    return restart(tile);
  }

  bool sent(int tile, Patience patience) override {
    return notices_.await(patience, [&] {
      return world().complete({&requests_[static_cast<std::size_t>(tile)], 1});
    });
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
    if (mpi_alive()) notices_.tell();
  }

 private:
  std::vector<int> others() const {
    std::vector<int> ranks = members();
    ranks.erase(ranks.begin() + place());
    return ranks;
  }

  MpiWorld& world_;
  TagRange tag_;
  FailureNotices notices_;
  std::vector<MPI_Request> requests_;  ///< per tile
};

}  // namespace

ExchangeRow mpi_ialltoallv_row() {
  return {.name = "ialltoallv",
          .meaning = "MPI_Ialltoallv within each exchange group",
          .traits = {.concurrent = false},
          .applicable = [](CommImpl& comm) { return comm.mpi() != nullptr; },
          .overlaps = [](CommImpl& comm) { return several_nodes(comm); },
          .carrier = make_carrier<MpiIalltoallv>,
          .takes_devices = mpi_takes_devices};
}

}  // namespace weft
