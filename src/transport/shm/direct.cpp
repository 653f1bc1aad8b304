// Direct exchange between ranks that share memory, be they processes of one machine or threads of one
// process: they store into each other's workspace. Two kinds of counters keep order, *free* and *full*; they
// lie in the memory of the rank whose workspace they guard, each in a cache line of its own. A counter holds
// the tile that was signalled last, numbered through all executions, so that it only grows and is never
// reset.
#include <atomic>
#include <cstdint>

#include "base/backoff.hpp"
#include "transport/transport.hpp"
#include "weft/error.hpp"

namespace weft {

namespace {

using Word = std::uint64_t;
constexpr std::size_t line_bytes = 64;

/// What guards the workspace of one rank, at the start of the memory that it shares.
class Flags {
 public:
  explicit Flags(std::byte* at) : at_(at) {}
  static std::size_t bytes(int ranks) { return line_bytes * (2 + static_cast<std::size_t>(ranks)); }

  std::atomic_ref<Word> free() const { return line(0); }
  std::atomic_ref<Word> failed() const { return line(1); }
  std::atomic_ref<Word> full(int from) const { return line(2 + static_cast<std::size_t>(from)); }

 private:
  std::atomic_ref<Word> line(std::size_t i) const {
    return std::atomic_ref<Word>(*reinterpret_cast<Word*>(at_ + i * line_bytes));
  }
  std::byte* at_;
};

class SharedDirect final : public DirectExchange {
 public:
  explicit SharedDirect(const ExchangeContext& c)
      : comm_(c.comm),
        memory_(c.shared),
        flags_(c.flags_offset),
        workspace_(c.workspace_offset),
        tiles_(static_cast<Word>(c.reshape.most_tiles)),
        rank_(c.comm.rank()) {}

  void begin() override { ++execution_; }
  std::byte* workspace_of(int peer) const override { return memory_->of(peer) + workspace_; }
  void signal_free(int tile) override { raise(flags(rank_).free(), tile); }
  void signal_full(int tile, int peer) override { raise(flags(peer).full(rank_), tile); }
  bool is_free(int tile, int peer, Patience patience) override {
    return reached(flags(peer).free(), tile, peer, patience);
  }
  bool is_full(int tile, int peer, Patience patience) override {
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
      if (looks % between_checks == 0) check(counter, wanted, peer);
      if (patience == Patience::look) return false;
      backoff.pause();
    }
    return true;
  }

  /// A rank that fails after it has signalled harms nobody.
  void check(std::atomic_ref<Word> counter, Word wanted, int peer) const {
    const bool failed = flags(peer).failed().load(std::memory_order_acquire) != 0;
    if (counter.load(std::memory_order_acquire) >= wanted) return;
    comm_.check_alive("direct exchange");
    if (failed)
      throw Error("direct exchange", "rank " + std::to_string(peer) + " has failed in the middle",
                  "the reason in the message of that rank", rank_);
  }

  CommImpl& comm_;
  std::shared_ptr<SharedMemory> memory_;
  Index flags_, workspace_;
  Word tiles_, execution_ = 0;
  int rank_;
};

}  // namespace

Index direct_flag_bytes(int ranks) {
  return static_cast<Index>(Flags::bytes(2 * ranks));
}

ExchangeRow direct_row() {
  return {.name = "direct",
          .meaning = "ranks store into each other's workspace (threads of a process, ranks of a machine)",
          .traits = {.form = Form::boxes, .stores = true, .in_graphs = true},
          .overlaps = [](CommImpl&) { return false; },
          .applicable = [](CommImpl& comm) { return comm.size() == 1 || any_share_memory(comm); },
          .make_buffered = nullptr,
          .make_direct = make_exchange<DirectExchange, SharedDirect>,
          .make_stream_direct = make_peer_exchange,
          .takes_devices = [](CommImpl&) { return true; }};
}

}  // namespace weft
