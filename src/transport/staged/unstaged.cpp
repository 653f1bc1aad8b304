#include "transport/staged/unstaged.hpp"

namespace weft {

namespace {

class Unstaged final : public StreamBufferedExchange {
 public:
  Unstaged(const ExchangeRow& host, ExchangeContext c) : device_(c.device), tiles_(c.reshape.tiles.size()) {
    c.device_memory = true;
    host_ = host.make_buffered(c);
    for (Tile& t : tiles_) t.packed = device_->make_event(false);
  }

  void connect() override { host_->connect(); }

  /// What the tile sends has been packed, and what lay where it receives has been read, once the stream has
  /// come here.
  bool post(int tile, const Memory& memory, DeviceStream& stream, Patience patience) override {
    Tile& t = tiles_[static_cast<std::size_t>(tile)];
    if (!t.waiting) stream.record(*t.packed);
    t.waiting = true;
    if (patience == Patience::wait) {
      device_->wait_for(*t.packed);
    } else if (!device_->passed(*t.packed)) {
      return false;
    }
    t.waiting = false;
    host_->post(tile, memory);
    return true;
  }

  bool sent(int tile, Patience patience) override { return host_->sent(tile, patience); }
  /// A part that has arrived is there for whatever is enqueued from now on.
  int next_arrival(int tile, DeviceStream&, Patience patience) override {
    return host_->next_arrival(tile, patience);
  }
  void progress() override { host_->progress(); }
  void cancel() noexcept override { host_->cancel(); }

 private:
  struct Tile {
    std::unique_ptr<DeviceEvent> packed;
    bool waiting = false;
  };

  std::shared_ptr<Device> device_;
  std::unique_ptr<BufferedExchange> host_;
  std::vector<Tile> tiles_;
};

}  // namespace

std::unique_ptr<StreamBufferedExchange> make_unstaged(const ExchangeRow& host,
                                                      const ExchangeContext& context) {
  return std::make_unique<Unstaged>(host, context);
}

}  // namespace weft
