// One MPI_Ialltoallv per tile, among the ranks that exchange data with each other: the exchange of the
// overlap paper, whose tiles move on while ranks compute and test (overlap-autotuned-3d-fft, section 3).
#include <algorithm>
#include <array>

#include "transport/mpi/group_exchange.hpp"

namespace weft {

namespace {

class MpiIalltoallv final : public CountedGroup {
 public:
  explicit MpiIalltoallv(const ExchangeContext& c)
      : CountedGroup(c),
        requests_(c.reshape.tiles.size(), MPI_REQUEST_NULL),
        only_self_(members().size(), 0) {
    only_self_[static_cast<std::size_t>(place())] = 1;
    for (std::size_t k = 0; k < requests_.size(); ++k) {
      const auto nothing = [](const Side& s) {
        return std::all_of(s.counts.begin(), s.counts.end(), [](int n) { return n == 0; });
      };
      const Tile& t = tile_at(static_cast<int>(k));
      idle_.push_back(nothing(t.send) && nothing(t.receive));
    }
    zeros_.assign(members().size(), 0);
  }

  void post(int tile, const Memory& memory) override {
    std::byte* work = memory[static_cast<std::size_t>(Space::work)];
    const Tile& t = tile_at(tile);
    const auto lock = world().lock();
    if (idle_[static_cast<std::size_t>(tile)]) {
      check_mpi(MPI_Ialltoallv(unused_[0].data(), only_self_.data(), zeros_.data(), type(), unused_[1].data(),
                               only_self_.data(), zeros_.data(), type(), group(),
                               &requests_[static_cast<std::size_t>(tile)]),
                "MPI_Ialltoallv");
      restart(tile);
      return;
    }
    check_mpi(MPI_Ialltoallv(work + t.send.start, t.send.counts.data(), t.send.displacements.data(), type(),
                             work + t.receive.start, t.receive.counts.data(), t.receive.displacements.data(),
                             type(), group(), &requests_[static_cast<std::size_t>(tile)]),
              "MPI_Ialltoallv");
    restart(tile);
  }

  bool sent(int tile, Patience patience) override {
    return world().complete({&requests_[static_cast<std::size_t>(tile)], 1}, patience == Patience::wait);
  }

  int next_arrival(int tile, Patience patience) override {
    return sent(tile, patience) ? GroupExchange::next_arrival(tile, patience) : no_arrival_yet;
  }

  void progress() override {
    for (MPI_Request& request : requests_)
      if (request != MPI_REQUEST_NULL) {
        world().complete({&request, 1}, false);
        return;
      }
  }

 private:
  std::vector<MPI_Request> requests_;  ///< per tile
  // A rank that neither sends nor receives anything in a tile gives itself an element: Open MPI (4.1) does
  // not count a call without any, and takes the next one for it.
  std::vector<bool> idle_;  ///< per tile
  std::vector<int> only_self_, zeros_;
  std::array<std::array<std::byte, 16>, 2> unused_{};
};

}  // namespace

ExchangeRow mpi_ialltoallv_row() {
  return {.name = "ialltoallv",
          .meaning = "MPI_Ialltoallv within each exchange group",
          .carry = Carry::packed,
          .concurrent = false,
          .overlaps = [](CommImpl& comm) { return several_nodes(comm); },
          .applicable = [](CommImpl& comm) { return comm.mpi() != nullptr; },
          .make_buffered = make_exchange<BufferedExchange, MpiIalltoallv>,
          .make_direct = nullptr};
}

}  // namespace weft
