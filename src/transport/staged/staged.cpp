#include "transport/staged/staged.hpp"

namespace weft {

namespace {

class Staged final : public StreamBufferedExchange {
 public:
  Staged(const ExchangeRow& host, const ExchangeContext& c)
      : device_(c.device),
        pinned_(c.workspace),
        messages_(c.reshape),
        host_(host.make_buffered(c)),
        tiles_(c.reshape.tiles.size()) {
    for (Tile& t : tiles_) t.copied = device_->make_event(false);
  }

  void connect() override { host_->connect(); }

  bool post(int tile, std::byte* workspace, DeviceStream& stream, Patience patience) override {
    Tile& t = tiles_[static_cast<std::size_t>(tile)];
    if (!t.copying) {
      t.workspace = workspace;
      // Behind these on the stream is also what an earlier execution had left to copy from pinned memory.
      for (const Message& m : messages(tile).sends)
        stream.copy(pinned_.get() + m.offset, workspace + m.offset, static_cast<std::size_t>(m.bytes));
      stream.record(*t.copied);
      t.copying = true;
    }
    if (patience == Patience::wait) {
      device_->wait_for(*t.copied);
    } else if (!device_->passed(*t.copied)) {
      return false;
    }
    t.copying = false;
    // The program packs and receives in the workspace alone.
    Memory memory{};
    memory[static_cast<std::size_t>(Space::work)] = pinned_.get();
    host_->post(tile, memory);
    return true;
  }

  bool sent(int tile, Patience patience) override { return host_->sent(tile, patience); }

  int next_arrival(int tile, DeviceStream& stream, Patience patience) override {
    const int i = host_->next_arrival(tile, patience);
    if (i < 0) return i;
    const Message& m = messages(tile).receives[static_cast<std::size_t>(i)];
    std::byte* const workspace = tiles_[static_cast<std::size_t>(tile)].workspace;
    stream.copy(workspace + m.offset, pinned_.get() + m.offset, static_cast<std::size_t>(m.bytes));
    return i;
  }

  void progress() override { host_->progress(); }
  void cancel() noexcept override { host_->cancel(); }

 private:
  struct Tile {
    std::unique_ptr<DeviceEvent> copied;
    std::byte* workspace = nullptr;
    bool copying = false;
  };

  const TileMessages& messages(int tile) const { return messages_.tiles[static_cast<std::size_t>(tile)]; }

  std::shared_ptr<Device> device_;
  std::shared_ptr<std::byte> pinned_;
  const ReshapeMessages& messages_;
  std::unique_ptr<BufferedExchange> host_;
  std::vector<Tile> tiles_;
};

}  // namespace

std::unique_ptr<StreamBufferedExchange> make_staged(const ExchangeRow& host, const ExchangeContext& context) {
  return std::make_unique<Staged>(host, context);
}

}  // namespace weft
