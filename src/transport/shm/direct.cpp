// Direct exchange between ranks that share memory, be they processes of one machine or threads of one
// process: they store into each other's workspace. Two kinds of counters keep order, *free* and *full*; they
// lie in the memory of the rank whose workspace they guard, each in a cache line of its own. A counter holds
// the tile that was signalled last, numbered through all executions, so that it only grows and is never
// reset.
#include <atomic>
#include <cstdint>

#include "base/backoff.hpp"
#include "comm/shared_memory.hpp"
#include "transport/transport.hpp"
#include "weft/error.hpp"

namespace weft {

namespace {

using Word = std::uint64_t;
constexpr std::size_t line_bytes = 64;

/// What guards the workspace of one rank in one reshape.
class Flags {
 public:
  explicit Flags(std::byte* at) : at_(at) {}
  static Index bytes(int ranks) { return static_cast<Index>(line_bytes) * (2 + ranks); }

  std::atomic_ref<Word> free() const { return line(0); }
  std::atomic_ref<Word> failed() const { return line(1); }
  std::atomic_ref<Word> full(int from) const { return line(2 + static_cast<std::size_t>(from)); }

 private:
  std::atomic_ref<Word> line(std::size_t i) const {
    return std::atomic_ref<Word>(*reinterpret_cast<Word*>(at_ + i * line_bytes));
  }
  std::byte* at_;
};

class SharedWindow final : public Window {
 public:
  SharedWindow(CommImpl& comm, std::shared_ptr<SharedMemory> memory, Index flags, Index workspace,
               int most_tiles)
      : comm_(comm),
        memory_(std::move(memory)),
        flags_(flags),
        workspace_(workspace),
        tiles_(static_cast<Word>(most_tiles)),
        rank_(comm.rank()) {}

  std::byte* of(int peer) const override { return memory_->of(peer) + workspace_; }
  void begin(int) override { ++execution_; }
  void raise_free(int tile, Queue&) override { raise(flags(rank_).free(), tile); }
  void raise_full(int tile, int peer, Queue&) override { raise(flags(peer).full(rank_), tile); }
  bool is_free(int tile, int peer, Queue&, Patience patience) override {
    return reached(flags(peer).free(), tile, peer, patience);
  }
  bool is_full(int tile, int peer, Queue&, Patience patience) override {
    return reached(flags(rank_).full(peer), tile, peer, patience);
  }
  void cancel() noexcept override { flags(rank_).failed().store(1, std::memory_order_release); }

 private:
  Flags flags(int rank) const { return Flags(memory_->of(rank) + flags_); }
  Word number(int tile) const { return execution_ * tiles_ + static_cast<Word>(tile) + 1; }
  void raise(std::atomic_ref<Word> counter, int tile) const {
    counter.store(number(tile), std::memory_order_release);
  }

  bool reached(std::atomic_ref<Word> counter, int tile, int peer, Patience patience) const {
    constexpr int between_checks = 64;
    const Word wanted = number(tile);
    Backoff backoff;
    for (int looks = 0; counter.load(std::memory_order_acquire) < wanted; ++looks) {
      if (looks % between_checks == 0) check_peer(counter, wanted, peer);
      if (patience == Patience::look) return false;
      backoff.pause();
    }
    return true;
  }

  /// A rank that fails after it has signalled harms nobody.
  void check_peer(std::atomic_ref<Word> counter, Word wanted, int peer) const {
    const bool failed = flags(peer).failed().load(std::memory_order_acquire) != 0;
    if (counter.load(std::memory_order_acquire) >= wanted) return;
    comm_.check_alive("direct exchange");
    if (failed)
      throw Aftermath("direct exchange", "rank " + std::to_string(peer) + " has failed in the middle",
                      "the reason in the message of that rank", rank_);
  }

  CommImpl& comm_;
  std::shared_ptr<SharedMemory> memory_;
  Index flags_, workspace_;
  Word tiles_, execution_ = 0;
  int rank_;
};

/// The flags of all reshapes, one after the other, and the workspace behind them.
class SharedWorkspace final : public Workspace {
 public:
  explicit SharedWorkspace(const WorkspaceRequest& r)
      : comm_(r.comm), start_(static_cast<Index>(r.reshapes.size()) * Flags::bytes(r.comm.size())) {
    for (const ReshapeMessages* reshape : r.reshapes) most_tiles_.push_back(reshape->most_tiles);
    memory_ = r.comm.share(static_cast<std::size_t>(start_ + r.bytes));
  }

  std::byte* of(int rank) const override {
    std::byte* const memory = memory_->of(rank);
    return memory == nullptr ? nullptr : memory + start_;
  }
  std::unique_ptr<Window> window(std::size_t reshape) const override {
    return std::make_unique<SharedWindow>(comm_, memory_,
                                          static_cast<Index>(reshape) * Flags::bytes(comm_.size()), start_,
                                          most_tiles_[reshape]);
  }

 private:
  CommImpl& comm_;
  Index start_;
  std::vector<int> most_tiles_;
  std::shared_ptr<SharedMemory> memory_;
};

std::shared_ptr<Workspace> workspace_that_ranks_reach(const WorkspaceRequest& request) {
  if (request.device) return share_device_memory(request);
  return std::make_shared<SharedWorkspace>(request);
}

}  // namespace

ExchangeRow direct_row() {
  return {.name = "direct",
          .meaning = "ranks store into each other's workspace (threads of a process, ranks of a machine)",
          .traits = {.form = Form::boxes, .stores = true, .in_graphs = true},
          .memory = workspace_that_ranks_reach,
          .takes_devices = [](CommImpl&) { return true; }};
}

}  // namespace weft
