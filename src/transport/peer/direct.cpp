// Direct exchange in memory of devices. The streams of a rank copy into the workspace of its peers, raise
// flags there, and wait for flags in the rank's own memory. For every tile and peer a rank has two flags:
// *full* (the peer has stored its part of this rank's tile) and *free* (this rank may store into the peer's
// tile). All waits are thus for memory of the device itself.
//
// Executions alternate between two bits of a flag, so that every second execution is the same and its graph
// can be launched again. No flag is raised for an execution before the wait for it in the last one is over:
// a sender raises *full* after its wait for *free* of the same tile, and the receiver raises *free* only
// after all its waits for *full* of the execution before.
//
// Where ranks do not wait for *free* (docs/adr/0021), a rank may be an execution ahead of another. Executions
// then alternate between two flags as well.
#include <array>
#include <utility>

#include "base/arithmetic.hpp"
#include "transport/peer/peer_memory.hpp"
#include "transport/transport.hpp"

namespace weft {

namespace {

constexpr Index line_bytes = 64;
/// What a flag holds that will not be raised any more, in the place of a turn's bit.
constexpr std::uint32_t failed = 1u << 31;

/// The workspace begins on a multiple of it: copy engines put into that of another process at 302 GB/s,
/// beside FFTs at 200, where it began a few KiB behind one, and at 350 to 390 where it begins on one (H200).
constexpr Index page_bytes = Index{2} << 20;

/// The flags of one peer.
Index line_of(int tiles) {
  return rounded_up(static_cast<Index>(2 * sizeof(std::uint32_t)) * tiles, line_bytes);
}

/// Those of a reshape, and its count.
Index flag_bytes(const ReshapeMessages& reshape, int ranks) {
  return 2 * ranks * line_of(reshape.most_tiles) + line_bytes;
}

class PeerWindow final : public Window {
 public:
  /// `flags`, `workspace`: where they begin in the memory of every rank.
  PeerWindow(const WorkspaceRequest& r, const ReshapeMessages& messages, std::shared_ptr<PeerMemory> memory,
             Index flags, Index workspace)
      : memory_(std::move(memory)),
        messages_(messages),
        flags_(flags),
        workspace_(workspace),
        apart_(r.apart),
        tiles_(messages.most_tiles),
        rank_(r.comm.rank()),
        ranks_(r.comm.size()) {}

  std::byte* of(int peer) const override { return memory_->of(peer) + workspace_; }

  void begin(int turn) override {
    check();
    raised_ = 1u << (apart_ ? turn / 2 : turn);
    which_ = apart_ ? turn % 2 : 0;
  }

  void raise_free(int tile, Queue& queue) override {
    for (const Message& m : messages_.tiles[static_cast<std::size_t>(tile)].receives)
      if (m.peer != rank_) queue.flags.push_back({free_flag(m.peer, rank_, slot(tile)), raised_, false});
  }
  void raise_full(int tile, int peer, Queue& queue) override {
    queue.count = flag(rank_, Index{2} * ranks_, 0);
    queue.flags.push_back({full_flag(peer, rank_, slot(tile)), raised_, false});
  }
  bool is_free(int tile, int peer, Queue& queue, Patience) override {
    queue.flags.push_back({free_flag(rank_, peer, slot(tile)), raised_ | failed, true});
    return true;
  }
  bool is_full(int tile, int peer, Queue& queue, Patience) override {
    queue.flags.push_back({full_flag(rank_, peer, slot(tile)), raised_ | failed, true});
    return true;
  }

  void check() override { memory_->failures().check("direct exchange"); }

  /// Raises all flags that peers and this rank may wait for, for good: streams go on, with results that are
  /// worth nothing, and `check` tells the peers.
  void cancel() noexcept override {
    memory_->failures().tell();
    try {
      for (int r = 0; r < ranks_; ++r) {
        if (r == rank_ || memory_->of(r) == nullptr) continue;
        for (int k = 0; k < 2 * tiles_; ++k)
          memory_->rescue().flags(std::array<DeviceFlag, 4>{{{free_flag(r, rank_, k), failed, false},
                                                             {full_flag(r, rank_, k), failed, false},
                                                             {free_flag(rank_, r, k), failed, false},
                                                             {full_flag(rank_, r, k), failed, false}}});
      }
      memory_->finish();
    } catch (const std::exception&) {
      // The device is lost, and with it whoever waits for it.
    }
  }

 private:
  /// The flag of a tile that is up in this execution.
  int slot(int tile) const { return 2 * tile + which_; }
  std::byte* flag(int of, Index line, int slot) const {
    return memory_->of(of) + flags_ + line * line_of(tiles_) +
           static_cast<Index>(sizeof(std::uint32_t)) * slot;
  }
  std::byte* free_flag(int of, int peer, int slot) const { return flag(of, peer, slot); }
  std::byte* full_flag(int of, int peer, int slot) const { return flag(of, ranks_ + peer, slot); }

  std::shared_ptr<PeerMemory> memory_;
  const ReshapeMessages& messages_;
  Index flags_, workspace_;
  bool apart_;
  std::uint32_t raised_ = 0;  ///< the bit of this execution
  int which_ = 0;             ///< of the two flags
  int tiles_, rank_, ranks_;
};

/// The flags of all reshapes, one after the other, and the workspace behind them.
class PeerWorkspace final : public Workspace {
 public:
  explicit PeerWorkspace(const WorkspaceRequest& r) : request_(r) {
    for (const ReshapeMessages* reshape : r.reshapes) {
      flags_.push_back(zeros_);
      zeros_ += flag_bytes(*reshape, r.comm.size());
    }
    start_ = rounded_up(zeros_, page_bytes);
    memory_ = std::make_shared<PeerMemory>(r.comm, r.device, r.ids, r.islands,
                                           static_cast<std::size_t>(start_ + r.bytes),
                                           static_cast<std::size_t>(zeros_));
  }

  std::byte* of(int rank) const override {
    std::byte* const memory = memory_->of(rank);
    return memory == nullptr ? nullptr : memory + start_;
  }
  std::unique_ptr<Window> window(std::size_t reshape) const override {
    return std::make_unique<PeerWindow>(request_, *request_.reshapes[reshape], memory_, flags_[reshape],
                                        start_);
  }

 private:
  WorkspaceRequest request_;
  std::vector<Index> flags_;  ///< of each reshape
  Index zeros_ = 0, start_ = 0;
  std::shared_ptr<PeerMemory> memory_;
};

}  // namespace

std::shared_ptr<Workspace> share_device_memory(const WorkspaceRequest& request) {
  return std::make_shared<PeerWorkspace>(request);
}

}  // namespace weft
