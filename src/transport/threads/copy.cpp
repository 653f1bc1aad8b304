// Buffered exchange between the threads of one process: a posted tile is shown to its receivers, who copy
// their parts out of the sender's buffer, or strided parts from where they lie. Parts whose length varies go
// as they would in messages. It serves where workspace belongs to the user, and lets the buffered programs of
// the other media run under thread sanitizers and in debuggers.
#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <shared_mutex>

#include "comm/thread_world.hpp"
#include "kernels/cpu/permute_copy.hpp"
#include "kernels/cpu/varying_rows.hpp"
#include "transport/transport.hpp"
#include "weft/error.hpp"

namespace weft {

namespace {

/// One rank's outgoing messages, seen by all others.
struct Outbox {
  Outbox(std::size_t tiles, std::size_t ranks)
      : posted(tiles),
        taken(tiles * ranks),
        buffer(tiles * ranks, nullptr),
        bytes(tiles * ranks),
        strides(tiles * ranks) {}
  std::vector<std::atomic<std::uint64_t>> posted;  ///< [tile]: the execution posted last
  std::vector<std::atomic<std::uint64_t>> taken;   ///< [tile][receiver]: the execution copied out last
  std::vector<const std::byte*> buffer;            ///< [tile][receiver]
  std::vector<Index> bytes;                        ///< [tile][receiver], of packed parts
  std::vector<Strides> strides;                    ///< [tile][receiver], of strided parts; else empty
  std::shared_mutex mutex;                         ///< shared while copying out, exclusive to close the box
  bool closed = false;
};

class ThreadsCopy final : public Carrier {
 public:
  explicit ThreadsCopy(const CarrierRequest& c)
      : world_(*c.comm.threads()),
        tiles_(c.reshape.tiles),
        element_bytes_(c.reshape.element_bytes),
        rank_(static_cast<std::size_t>(c.comm.rank())),
        ranks_(static_cast<std::size_t>(c.comm.size())),
        executions_(tiles_.size(), 0),
        returned_(tiles_.size()),
        copies_(tiles_.size()),
        memory_(tiles_.size()),
        boxes_(ranks_) {
    boxes_[rank_] = std::make_shared<Outbox>(tiles_.size(), ranks_);
    for (std::size_t k = 0; k < tiles_.size(); ++k) {
      returned_[k].resize(tiles_[k].receives.size());
      for (std::size_t i = 0; i < tiles_[k].from.size(); ++i)
        boxes_[rank_]->strides[slot(static_cast<int>(k), tiles_[k].sends[i].peer)] =
            tiles_[k].from[i].at.strides;
    }
  }
  ~ThreadsCopy() override { cancel(); }

  /// What the sender's strides are is known from here on.
  void connect() override {
    share(world_, static_cast<int>(rank_), boxes_);
    for (std::size_t k = 0; k < tiles_.size(); ++k)
      for (std::size_t i = 0; i < tiles_[k].to.size(); ++i) {
        const StridedPart& part = tiles_[k].to[i];
        const auto sender = static_cast<std::size_t>(tiles_[k].receives[i].peer);
        copies_[k].emplace_back(part.box.extents(),
                                boxes_[sender]->strides[slot(static_cast<int>(k), static_cast<int>(rank_))],
                                part.at.strides, element_bytes_);
      }
  }

  bool post(int tile, const Memory& memory, Queue&, Patience) override {
    const auto k = static_cast<std::size_t>(tile);
    ++executions_[k];
    memory_[k] = memory;
    std::fill(returned_[k].begin(), returned_[k].end(), false);
    Outbox& mine = *boxes_[rank_];
    for (std::size_t i = 0; i < tiles_[k].sends.size(); ++i) {
      const Message& m = tiles_[k].sends[i];
      mine.buffer[slot(tile, m.peer)] =
          tiles_[k].from.empty() ? at(k, Space::work, m.offset) : at(k, tiles_[k].from[i].at);
      const bool varies = m.rows.rows > 0;
      mine.bytes[slot(tile, m.peer)] = varies ? compact(m.rows, at(k, Space::work, m.offset)) : m.bytes;
    }
    mine.posted[k].store(executions_[k], std::memory_order_release);
    return true;
  }

  Index bytes_saved(int tile) const override {
    Index saved = 0;
    for (const Message& m : tiles_[static_cast<std::size_t>(tile)].sends)
      saved += m.bytes - boxes_[rank_]->bytes[slot(tile, m.peer)];
    return saved;
  }

  bool sent(int tile, Patience patience) override {
    // A part is taken in the receiver's `next_arrival`. The receiver may itself wait here first, so what has
    // been posted to this rank is taken meanwhile.
    const auto k = static_cast<std::size_t>(tile);
    for (const Message& m : tiles_[k].sends) {
      const std::atomic<std::uint64_t>& taken = boxes_[rank_]->taken[slot(tile, m.peer)];
      const bool all = world_.wait_if("exchange", patience == Patience::wait, [&] {
        if (taken.load(std::memory_order_acquire) >= executions_[k]) return true;
        progress();
        return false;
      });
      if (!all) return false;
    }
    return true;
  }

  int next_arrival(int tile, Queue&, Patience patience) override {
    const auto k = static_cast<std::size_t>(tile);
    const std::vector<Message>& receives = tiles_[k].receives;
    int found = no_more_arrivals;
    const bool here = world_.wait_if("exchange", patience == Patience::wait, [&] {
      bool all = true;
      for (std::size_t i = 0; i < receives.size(); ++i) {
        if (returned_[k][i]) continue;
        all = false;
        if (!take(tile, i)) continue;
        returned_[k][i] = true;
        found = static_cast<int>(i);
        return true;
      }
      return all;
    });
    return here ? found : no_arrival_yet;
  }

  void progress() override {
    for (std::size_t k = 0; k < tiles_.size(); ++k)
      for (std::size_t i = 0; i < tiles_[k].receives.size(); ++i) take(static_cast<int>(k), i);
  }

  void cancel() noexcept override {
    const std::lock_guard lock(boxes_[rank_]->mutex);
    boxes_[rank_]->closed = true;
  }

 private:
  std::size_t slot(int tile, int receiver) const {
    return static_cast<std::size_t>(tile) * ranks_ + static_cast<std::size_t>(receiver);
  }

  std::byte* at(std::size_t tile, Space space, Index offset) const {
    return memory_[tile][static_cast<std::size_t>(space)] + offset;
  }
  std::byte* at(std::size_t tile, const Operand& o) const { return at(tile, o.space, o.offset); }

  /// Copies a part if its sender has posted it; whether it is here now.
  bool take(int tile, std::size_t i) {
    const auto k = static_cast<std::size_t>(tile);
    const Message& m = tiles_[k].receives[i];
    const std::size_t mine = slot(tile, static_cast<int>(rank_));
    Outbox& theirs = *boxes_[static_cast<std::size_t>(m.peer)];
    std::atomic<std::uint64_t>& taken = theirs.taken[mine];
    if (taken.load(std::memory_order_relaxed) >= executions_[k]) return true;
    if (theirs.posted[k].load(std::memory_order_acquire) < executions_[k]) return false;
    const std::shared_lock lock(theirs.mutex);
    if (theirs.closed) {
      world_.check("exchange");
      throw Error("exchange", "rank " + std::to_string(m.peer) + " has destroyed its plan",
                  "its part of a tile");
    }
    if (tiles_[k].to.empty()) {
      std::byte* const to = at(k, Space::work, m.offset);
      std::memcpy(to, theirs.buffer[mine], static_cast<std::size_t>(theirs.bytes[mine]));
      if (m.rows.rows > 0) spread(m.rows, to, theirs.bytes[mine]);
    } else {
      copies_[k][i].run(theirs.buffer[mine], at(k, tiles_[k].to[i].at));
    }
    taken.store(executions_[k], std::memory_order_release);
    return true;
  }

  ThreadWorld& world_;
  const std::vector<TileMessages>& tiles_;
  int element_bytes_;
  std::size_t rank_, ranks_;
  std::vector<std::uint64_t> executions_;         ///< per tile, counted from 1
  std::vector<std::vector<bool>> returned_;       ///< per tile and receive
  std::vector<std::vector<PermuteCopy>> copies_;  ///< per tile and receive, of strided parts
  std::vector<Memory> memory_;                    ///< per tile
  std::vector<std::shared_ptr<Outbox>> boxes_;
};

}  // namespace

ExchangeRow threads_copy_row() {
  return {.name = "copy",
          .meaning =
              "receivers copy parts out of the sender's buffer, packed or strided (threads of one process)",
          .traits = {.among = Among::threads, .beside_stores = true, .any_length = true},
          .carrier = make_carrier<ThreadsCopy>};
}

}  // namespace weft
