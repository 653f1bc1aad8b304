#include "transport/staged/staged.hpp"

#include <utility>

#include "device/stream_copy.hpp"

namespace weft {

namespace {

/// Where parts begin that are packed here.
Index after(Index bytes) {
  return (bytes + 63) / 64 * 64;
}

/// The same messages, packed: strided parts one behind the other, those of all tiles apart.
ReshapeMessages packed(const ReshapeMessages& messages) {
  ReshapeMessages all = messages;
  Index next = 0;
  const auto place = [&](std::vector<Message>& parts, std::vector<StridedPart>& boxes) {
    if (boxes.empty()) return;
    for (Message& m : parts) {
      m.offset = next;
      next += after(m.bytes);
    }
    boxes.clear();
  };
  for (TileMessages& t : all.tiles) {
    place(t.sends, t.from);
    place(t.receives, t.to);
  }
  return all;
}

class Staged final : public StreamBufferedExchange {
 public:
  Staged(const ExchangeRow& host, const ExchangeContext& c)
      : device_(c.device),
        pinned_(c.workspace),
        messages_(packed(c.reshape)),
        tiles_(c.reshape.tiles.size()) {
    ExchangeContext on_host = context_of(c, messages_);
    host_ = host.make_buffered(on_host);
    for (std::size_t k = 0; k < tiles_.size(); ++k) {
      const TileMessages &given = c.reshape.tiles[k], &mine = messages_.tiles[k];
      tiles_[k].copied = device_->make_event(false);
      for (std::size_t i = 0; i < mine.sends.size(); ++i)
        tiles_[k].sends.push_back(part(mine.sends[i], given.from, i, true));
      for (std::size_t i = 0; i < mine.receives.size(); ++i)
        tiles_[k].receives.push_back(part(mine.receives[i], given.to, i, false));
    }
  }

  void connect() override { host_->connect(); }

  bool post(int tile, const Memory& memory, DeviceStream& stream, Patience patience) override {
    Tile& t = tiles_[static_cast<std::size_t>(tile)];
    if (!t.copying) {
      t.memory = memory;
      // Behind these on the stream is also what an earlier execution had left to copy from pinned memory.
      for (const Part& p : t.sends) p.copy.enqueue(stream, pinned_.get() + p.offset, p.at(memory));
      stream.record(*t.copied);
      t.copying = true;
    }
    if (patience == Patience::wait) {
      device_->wait_for(*t.copied);
    } else if (!device_->passed(*t.copied)) {
      return false;
    }
    t.copying = false;
    // Packed parts are in the workspace alone.
    Memory on_host{};
    on_host[static_cast<std::size_t>(Space::work)] = pinned_.get();
    host_->post(tile, on_host);
    return true;
  }

  bool sent(int tile, Patience patience) override { return host_->sent(tile, patience); }

  int next_arrival(int tile, DeviceStream& stream, Patience patience) override {
    const int i = host_->next_arrival(tile, patience);
    if (i < 0) return i;
    const Tile& t = tiles_[static_cast<std::size_t>(tile)];
    const Part& p = t.receives[static_cast<std::size_t>(i)];
    p.copy.enqueue(stream, p.at(t.memory), pinned_.get() + p.offset);
    return i;
  }

  void progress() override { host_->progress(); }
  void cancel() noexcept override { host_->cancel(); }

 private:
  /// A part of a tile, on the device and in pinned memory.
  struct Part {
    Space space;
    Index device_offset, offset;
    StreamCopy copy;

    std::byte* at(const Memory& memory) const {
      return memory[static_cast<std::size_t>(space)] + device_offset;
    }
  };
  struct Tile {
    std::vector<Part> sends, receives;
    std::unique_ptr<DeviceEvent> copied;
    Memory memory{};
    bool copying = false;
  };

  static ExchangeContext context_of(const ExchangeContext& c, const ReshapeMessages& messages) {
    return {c.comm,         messages,           c.groups, c.workspace, c.shared,
            c.flags_offset, c.workspace_offset, c.device, c.peers};
  }

  /// `boxes`: where parts lie that are not packed.
  Part part(const Message& m, const std::vector<StridedPart>& boxes, std::size_t i, bool sends) const {
    const int bytes = messages_.element_bytes;
    const auto copy_of = [&](const Shape& extents, const Strides& strides, const Order& order) {
      return StreamCopy((sends ? packing : unpacking)(extents, strides, order, bytes), rows_to_host);
    };
    if (boxes.empty()) return {Space::work, m.offset, m.offset, copy_of({m.bytes / bytes}, {1}, {0})};
    const StridedPart& box = boxes[i];
    return {box.at.space, box.at.offset, m.offset, copy_of(box.box.extents(), box.at.strides, box.order)};
  }

  std::shared_ptr<Device> device_;
  std::shared_ptr<std::byte> pinned_;
  ReshapeMessages messages_;
  std::unique_ptr<BufferedExchange> host_;
  std::vector<Tile> tiles_;
};

}  // namespace

std::unique_ptr<StreamBufferedExchange> make_staged(const ExchangeRow& host, const ExchangeContext& context) {
  return std::make_unique<Staged>(host, context);
}

Index staged_bytes(const ReshapeMessages& messages) {
  Index bytes = 0;
  for (const TileMessages& t : messages.tiles)
    for (const std::vector<Message>* parts : {&t.sends, &t.receives})
      for (const Message& m : *parts) bytes += after(m.bytes);
  return bytes;
}

}  // namespace weft
