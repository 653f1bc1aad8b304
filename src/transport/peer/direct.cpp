// Direct exchange in memory of devices: the streams of a rank copy into the workspace of its peers, raise
// flags there, and wait for flags in their own memory. A flag holds the tile that was signalled last,
// numbered through all executions; numbers wrap around, and are compared by their difference. Every rank has
// two flags for each peer: *full*, the peer's part of a tile of mine is there, and *free*, the peer's tile
// may be written; so all waits are for memory of the device itself.
#include "transport/peer/peer_memory.hpp"
#include "transport/transport.hpp"
#include "weft/error.hpp"

namespace weft {

namespace {

constexpr Index line_bytes = 64;

class PeerDirect final : public StreamDirectExchange {
 public:
  explicit PeerDirect(const ExchangeContext& c)
      : device_(c.device),
        memory_(c.peers),
        messages_(c.reshape),
        flags_(c.flags_offset),
        workspace_(c.workspace_offset),
        tiles_(static_cast<std::uint32_t>(c.reshape.most_tiles)),
        rank_(c.comm.rank()),
        ranks_(c.comm.size()) {}

  void begin() override {
    check();
    first_ += tiles_;
  }
  std::byte* workspace_of(int peer) const override { return memory_->of(peer) + workspace_; }

  void signal_free(int tile, DeviceStream& stream) override {
    for (const Message& m : messages_.tiles[static_cast<std::size_t>(tile)].receives)
      if (m.peer != rank_) stream.write_value(free_flag(m.peer, rank_), number(tile));
  }
  void signal_full(int tile, int peer, DeviceStream& stream) override {
    stream.write_value(full_flag(peer, rank_), number(tile));
  }
  void await_free(int tile, int peer, DeviceStream& stream) override {
    stream.wait_value(free_flag(rank_, peer), number(tile));
  }
  void await_full(int tile, int peer, DeviceStream& stream) override {
    stream.wait_value(full_flag(rank_, peer), number(tile));
  }

  void check() const override {
    for (int r = 0; r < ranks_; ++r)
      if (memory_->has_failed(r))
        throw Error("direct exchange", "rank " + std::to_string(r) + " has failed in the middle",
                    "the reason in the message of that rank, and a new plan", rank_);
  }

  /// Raises all flags that peers and this rank may wait for so far that they serve for long: streams go on,
  /// with results that are worth nothing, and `check` tells the peers.
  void cancel() noexcept override {
    memory_->tell_failure();
    constexpr std::uint32_t far = 1u << 30;
    try {
      const std::unique_ptr<DeviceStream> rescue = device_->make_stream();
      const std::unique_ptr<DeviceEvent> done = device_->make_event(false);
      for (int r = 0; r < ranks_; ++r) {
        if (r == rank_ || memory_->of(r) == nullptr) continue;
        for (std::byte* at :
             {free_flag(r, rank_), full_flag(r, rank_), free_flag(rank_, r), full_flag(rank_, r)})
          rescue->write_value(at, first_ + far);
      }
      rescue->record(*done);
      device_->wait_for(*done);
    } catch (const std::exception&) {
      // The device is lost, and with it whoever waits for it.
    }
  }

 private:
  std::uint32_t number(int tile) const { return first_ + static_cast<std::uint32_t>(tile) + 1; }
  std::byte* flag(int of, Index i) const { return memory_->of(of) + flags_ + i * line_bytes; }
  std::byte* free_flag(int of, int peer) const { return flag(of, peer); }
  std::byte* full_flag(int of, int peer) const { return flag(of, ranks_ + peer); }

  std::shared_ptr<Device> device_;
  std::shared_ptr<PeerMemory> memory_;
  const ReshapeMessages& messages_;
  Index flags_, workspace_;
  std::uint32_t tiles_, first_ = 0;
  int rank_, ranks_;
};

}  // namespace

std::unique_ptr<StreamDirectExchange> make_peer_exchange(const ExchangeContext& context) {
  return std::make_unique<PeerDirect>(context);
}

}  // namespace weft
