// Direct exchange in memory of devices: the streams of a rank copy into the workspace of its peers, raise
// flags there, and wait for flags in their own memory. For every tile and peer a rank has two flags: *full*,
// the peer's part of a tile of mine is there, and *free*, the peer's tile may be written; so all waits are
// for memory of the device itself. Executions take turns with two bits, so that every other one is the same
// and a graph of it can be launched again. A flag is raised at the next turn only after the wait for it at
// this one: *full* follows *free* of the same tile, and that is signalled behind all waits for *full* of the
// execution before, and these behind the waits for *free* there.
//
// Where nobody waits for room a rank may be an execution ahead of another: then executions also take turns
// with two flags each, so that none is raised for the next one before the wait for it.
#include <array>

#include "transport/peer/peer_memory.hpp"
#include "transport/transport.hpp"
#include "weft/error.hpp"

namespace weft {

namespace {

constexpr Index line_bytes = 64;
/// What a flag holds that will not be raised any more, in the place of a turn's bit.
constexpr std::uint32_t failed = 1u << 31;

/// The flags of one peer.
Index line_of(int tiles) {
  const auto bytes = static_cast<Index>(2 * sizeof(std::uint32_t)) * tiles;
  return (bytes + line_bytes - 1) / line_bytes * line_bytes;
}

class PeerDirect final : public StreamDirectExchange {
 public:
  explicit PeerDirect(const ExchangeContext& c)
      : device_(c.device),
        memory_(c.peers),
        messages_(c.reshape),
        flags_(c.flags_offset),
        workspace_(c.workspace_offset),
        apart_(c.apart),
        tiles_(c.reshape.most_tiles),
        rank_(c.comm.rank()),
        ranks_(c.comm.size()) {}

  void begin(int turn) override {
    check();
    raised_ = 1u << (apart_ ? turn / 2 : turn);
    which_ = apart_ ? turn % 2 : 0;
  }
  std::byte* workspace_of(int peer) const override { return memory_->of(peer) + workspace_; }

  void signal_free(int tile, std::vector<DeviceFlag>& flags) const override {
    for (const Message& m : messages_.tiles[static_cast<std::size_t>(tile)].receives)
      if (m.peer != rank_) flags.push_back({free_flag(m.peer, rank_, slot(tile)), raised_, false});
  }
  void signal_full(int tile, int peer, std::vector<DeviceFlag>& flags) const override {
    flags.push_back({full_flag(peer, rank_, slot(tile)), raised_, false});
  }
  void await_free(int tile, int peer, std::vector<DeviceFlag>& flags) const override {
    flags.push_back({free_flag(rank_, peer, slot(tile)), raised_ | failed, true});
  }
  void await_full(int tile, int peer, std::vector<DeviceFlag>& flags) const override {
    flags.push_back({full_flag(rank_, peer, slot(tile)), raised_ | failed, true});
  }

  std::byte* count() const override { return flag(rank_, Index{2} * ranks_, 0); }

  void check() const override {
    for (int r = 0; r < ranks_; ++r)
      if (memory_->has_failed(r))
        throw Error("direct exchange", "rank " + std::to_string(r) + " has failed in the middle",
                    "the reason in the message of that rank, and a new plan", rank_);
  }

  /// Raises all flags that peers and this rank may wait for, for good: streams go on, with results that are
  /// worth nothing, and `check` tells the peers.
  void cancel() noexcept override {
    memory_->tell_failure();
    try {
      const std::unique_ptr<DeviceStream> rescue = device_->make_stream();
      const std::unique_ptr<DeviceEvent> done = device_->make_event(false);
      for (int r = 0; r < ranks_; ++r) {
        if (r == rank_ || memory_->of(r) == nullptr) continue;
        for (int k = 0; k < 2 * tiles_; ++k)
          rescue->flags(std::array<DeviceFlag, 4>{{{free_flag(r, rank_, k), failed, false},
                                                   {full_flag(r, rank_, k), failed, false},
                                                   {free_flag(rank_, r, k), failed, false},
                                                   {full_flag(rank_, r, k), failed, false}}});
      }
      rescue->record(*done);
      device_->wait_for(*done);
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

  std::shared_ptr<Device> device_;
  std::shared_ptr<PeerMemory> memory_;
  const ReshapeMessages& messages_;
  Index flags_, workspace_;
  bool apart_;
  std::uint32_t raised_ = 0;  ///< the bit of this execution
  int which_ = 0;             ///< of the two flags
  int tiles_, rank_, ranks_;
};

}  // namespace

Index peer_flag_bytes(const ReshapeMessages& reshape, int ranks) {
  return 2 * ranks * line_of(reshape.most_tiles) + line_bytes;
}

std::unique_ptr<StreamDirectExchange> make_peer_exchange(const ExchangeContext& context) {
  return std::make_unique<PeerDirect>(context);
}

}  // namespace weft
