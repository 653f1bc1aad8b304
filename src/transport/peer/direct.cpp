// Direct exchange in memory of devices: the streams of a rank copy into the workspace of its peers, raise
// flags there, and wait for flags in their own memory. For every tile and peer a rank has two flags: *full*,
// the peer's part of a tile of mine is there, and *free*, the peer's tile may be written; so all waits are
// for memory of the device itself. Executions take turns with two bits, so that every other one is the same
// and a graph of it can be launched again. A flag is raised at the next turn only after the wait for it at
// this one: *full* follows *free* of the same tile, and that is signalled behind all waits for *full* of the
// execution before, and these behind the waits for *free* there.
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
  const auto bytes = static_cast<Index>(sizeof(std::uint32_t)) * tiles;
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
        tiles_(c.reshape.most_tiles),
        rank_(c.comm.rank()),
        ranks_(c.comm.size()) {}

  void begin(int turn) override {
    check();
    raised_ = 1u << turn;
  }
  std::byte* workspace_of(int peer) const override { return memory_->of(peer) + workspace_; }

  void signal_free(int tile, DeviceStream& stream) override {
    for (const Message& m : messages_.tiles[static_cast<std::size_t>(tile)].receives)
      if (m.peer != rank_) stream.write_value(free_flag(m.peer, rank_, tile), raised_);
  }
  void signal_full(int tile, int peer, DeviceStream& stream) override {
    stream.write_value(full_flag(peer, rank_, tile), raised_);
  }
  void await_free(int tile, int peer, DeviceStream& stream) override {
    stream.wait_bits(free_flag(rank_, peer, tile), raised_ | failed);
  }
  void await_full(int tile, int peer, DeviceStream& stream) override {
    stream.wait_bits(full_flag(rank_, peer, tile), raised_ | failed);
  }

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
        for (int k = 0; k < tiles_; ++k)
          for (std::byte* at : {free_flag(r, rank_, k), full_flag(r, rank_, k), free_flag(rank_, r, k),
                                full_flag(rank_, r, k)})
            rescue->write_value(at, failed);
      }
      rescue->record(*done);
      device_->wait_for(*done);
    } catch (const std::exception&) {
      // The device is lost, and with it whoever waits for it.
    }
  }

 private:
  std::byte* flag(int of, Index line, int tile) const {
    return memory_->of(of) + flags_ + line * line_of(tiles_) +
           static_cast<Index>(sizeof(std::uint32_t)) * tile;
  }
  std::byte* free_flag(int of, int peer, int tile) const { return flag(of, peer, tile); }
  std::byte* full_flag(int of, int peer, int tile) const { return flag(of, ranks_ + peer, tile); }

  std::shared_ptr<Device> device_;
  std::shared_ptr<PeerMemory> memory_;
  const ReshapeMessages& messages_;
  Index flags_, workspace_;
  std::uint32_t raised_ = 0;  ///< the bit of this execution
  int tiles_, rank_, ranks_;
};

}  // namespace

Index peer_flag_bytes(const ReshapeMessages& reshape, int ranks) {
  return 2 * ranks * line_of(reshape.most_tiles);
}

std::unique_ptr<StreamDirectExchange> make_peer_exchange(const ExchangeContext& context) {
  return std::make_unique<PeerDirect>(context);
}

}  // namespace weft
