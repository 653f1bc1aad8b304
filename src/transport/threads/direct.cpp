// Direct exchange between the threads of one process: ranks store into each other's workspace, which every
// plan holds a share of, so that it outlives a rank that fails. Flags live with the rank whose memory they
// guard.
#include <atomic>
#include <cstdint>

#include "comm/thread_world.hpp"
#include "transport/transport.hpp"

namespace weft {

namespace {

using Flag = std::atomic<std::uint64_t>;

struct Segment {
  Segment(std::shared_ptr<std::byte> memory, std::size_t tiles, std::size_t ranks)
      : workspace(std::move(memory)), free(tiles), full(tiles * ranks) {}
  std::shared_ptr<std::byte> workspace;
  std::vector<Flag> free;  ///< [tile]: the execution for which peers may put
  std::vector<Flag> full;  ///< [tile][rank]: the execution whose part has been put
};

class ThreadsDirect final : public DirectExchange {
 public:
  explicit ThreadsDirect(const ExchangeContext& c)
      : world_(*c.comm.threads()),
        rank_(static_cast<std::size_t>(c.comm.rank())),
        ranks_(static_cast<std::size_t>(c.comm.size())),
        segments_(ranks_) {
    segments_[rank_] = std::make_shared<Segment>(c.workspace, c.reshape.tiles.size(), ranks_);
  }

  void connect() override { share(world_, static_cast<int>(rank_), segments_); }

  void begin() override { ++execution_; }
  std::byte* workspace_of(int peer) const override { return at(peer).workspace.get(); }
  void signal_free(int tile) override {
    mine().free[static_cast<std::size_t>(tile)].store(execution_, std::memory_order_release);
  }
  void signal_full(int tile, int peer) override {
    at(peer).full[static_cast<std::size_t>(tile) * ranks_ + rank_].store(execution_,
                                                                         std::memory_order_release);
  }
  bool is_free(int tile, int peer, Patience patience) override {
    return reached(at(peer).free[static_cast<std::size_t>(tile)], patience);
  }
  bool is_full(int tile, int peer, Patience patience) override {
    return reached(mine().full[static_cast<std::size_t>(tile) * ranks_ + static_cast<std::size_t>(peer)],
                   patience);
  }

 private:
  Segment& at(int peer) const { return *segments_[static_cast<std::size_t>(peer)]; }
  Segment& mine() const { return *segments_[rank_]; }
  bool reached(const Flag& flag, Patience patience) const {
    const auto now = [&] { return flag.load(std::memory_order_acquire) >= execution_; };
    return world_.wait_if("direct exchange", patience == Patience::wait, now);
  }

  ThreadWorld& world_;
  std::size_t rank_, ranks_;
  std::uint64_t execution_ = 0;
  std::vector<std::shared_ptr<Segment>> segments_;
};

}  // namespace

ExchangeRow threads_direct_row() {
  return {.name = "direct",
          .meaning = "ranks store into each other's workspace (threads of one process)",
          .carry = Carry::direct,
          .concurrent = true,
          .overlaps = [](CommImpl&) { return false; },
          .applicable = [](CommImpl& comm) { return comm.threads() != nullptr; },
          .make_buffered = nullptr,
          .make_direct = make_exchange<DirectExchange, ThreadsDirect>};
}

}  // namespace weft
