#include "transport/staged/staged.hpp"

#include <utility>

#include "base/arithmetic.hpp"
#include "device/stream_copy.hpp"

namespace weft {

namespace {

/// The same messages, packed: strided parts one behind the other, those of all tiles apart.
ReshapeMessages packed(const ReshapeMessages& messages) {
  ReshapeMessages all = messages;
  Index next = 0;
  const auto place = [&](std::vector<Message>& parts, std::vector<StridedPart>& boxes) {
    if (boxes.empty()) return;
    for (Message& m : parts) {
      m.offset = next;
      next += rounded_up<Index>(m.bytes, 64);
    }
    boxes.clear();
  };
  for (TileMessages& t : all.tiles) {
    place(t.sends, t.from);
    place(t.receives, t.to);
  }
  return all;
}

class Staged final : public Carrier {
 public:
  Staged(const ExchangeRow& host, const CarrierRequest& c, std::shared_ptr<std::byte> pinned)
      : device_(c.device),
        pinned_(std::move(pinned)),
        messages_(pinned_ ? packed(c.reshape) : c.reshape),
        tiles_(c.reshape.tiles.size()),
        host_(host.carrier({c.comm, messages_, c.groups, pinned_ ? nullptr : c.device, c.exposed, c.rails})) {
    for (std::size_t k = 0; k < tiles_.size(); ++k) {
      const TileMessages &given = c.reshape.tiles[k], &mine = messages_.tiles[k];
      tiles_[k].ready = device_->make_event(false);
      if (!pinned_) continue;
      for (std::size_t i = 0; i < mine.sends.size(); ++i)
        tiles_[k].sends.push_back(part(mine.sends[i], given.from, i, true));
      for (std::size_t i = 0; i < mine.receives.size(); ++i)
        tiles_[k].receives.push_back(part(mine.receives[i], given.to, i, false));
    }
  }

  void connect() override { host_->connect(); }

  bool post(int tile, const Memory& memory, Queue& queue, Patience patience) override {
    Tile& t = tiles_[static_cast<std::size_t>(tile)];
    if (!t.waiting) {
      t.memory = memory;
      // Behind these on the stream is also what an earlier execution had left to copy from pinned memory.
      for (const Part& p : t.sends) p.copy.enqueue(*queue.stream, pinned_.get() + p.offset, p.at(memory));
      queue.stream->record(*t.ready);
      t.waiting = true;
    }
    if (patience == Patience::wait) {
      device_->wait_for(*t.ready);
    } else if (!device_->passed(*t.ready)) {
      return false;
    }
    // Packed parts are in the workspace alone.
    Memory of_parts = memory;
    if (pinned_) of_parts[static_cast<std::size_t>(Space::work)] = pinned_.get();
    t.waiting = !host_->post(tile, of_parts, queue, patience);
    return !t.waiting;
  }

  bool sent(int tile, Patience patience) override { return host_->sent(tile, patience); }

  int next_arrival(int tile, Queue& queue, Patience patience) override {
    const int i = host_->next_arrival(tile, queue, patience);
    if (i < 0 || !pinned_) return i;
    const Tile& t = tiles_[static_cast<std::size_t>(tile)];
    const Part& p = t.receives[static_cast<std::size_t>(i)];
    p.copy.enqueue(*queue.stream, p.at(t.memory), pinned_.get() + p.offset);
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
    std::vector<Part> sends, receives;   ///< none without pinned memory
    std::unique_ptr<DeviceEvent> ready;  ///< what the tile sends is where it is taken from
    Memory memory{};
    bool waiting = false;  ///< for that
  };

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
  std::shared_ptr<std::byte> pinned_;  ///< null: the medium takes memory of devices
  ReshapeMessages messages_;
  std::vector<Tile> tiles_;
  std::unique_ptr<Carrier> host_;
};

}  // namespace

std::unique_ptr<Carrier> make_staged(const ExchangeRow& host, const CarrierRequest& request,
                                     std::shared_ptr<std::byte> pinned) {
  return std::make_unique<Staged>(host, request, std::move(pinned));
}

Index staged_bytes(const ReshapeMessages& messages) {
  Index bytes = 0;
  for (const TileMessages& t : messages.tiles)
    for (const std::vector<Message>* parts : {&t.sends, &t.receives})
      for (const Message& m : *parts) bytes += rounded_up<Index>(m.bytes, 64);
  return bytes;
}

}  // namespace weft
