#include "support/loopback_exchange.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <utility>

#include "comm/shared_memory.hpp"
#include "comm/thread_world.hpp"

namespace weft::test {

namespace {

struct Mailbox {
  std::mutex mutex;
  /// By sender and tile; a sender may be an execution ahead.
  std::map<std::pair<int, int>, std::deque<std::vector<std::byte>>> letters;
};

class MailboxCarrier final : public Carrier {
 public:
  explicit MailboxCarrier(const CarrierRequest& c)
      : world_(*c.comm.threads()),
        tiles_(c.reshape.tiles),
        rank_(c.comm.rank()),
        taken_(tiles_.size()),
        boxes_(static_cast<std::size_t>(c.comm.size())) {
    boxes_[static_cast<std::size_t>(rank_)] = std::make_shared<Mailbox>();
  }

  void connect() override { share(world_, rank_, boxes_); }

  bool post(int tile, const Memory& memory, Queue&, Patience) override {
    const TileMessages& t = tiles_[static_cast<std::size_t>(tile)];
    work_ = memory[static_cast<std::size_t>(Space::work)];
    taken_[static_cast<std::size_t>(tile)].assign(t.receives.size(), false);
    for (const Message& m : t.sends) {
      Mailbox& theirs = *boxes_[static_cast<std::size_t>(m.peer)];
      const std::byte* const part = work_ + m.offset;
      const std::lock_guard lock(theirs.mutex);
      theirs.letters[{rank_, tile}].emplace_back(part, part + m.bytes);
    }
    return true;
  }

  bool sent(int, Patience) override { return true; }

  int next_arrival(int tile, Queue&, Patience patience) override {
    std::vector<bool>& taken = taken_[static_cast<std::size_t>(tile)];
    std::size_t i = 0;
    const bool here = world_.wait_if("mailbox", patience == Patience::wait, [&] {
      for (i = 0; i < taken.size(); ++i)
        if (!taken[i] && take(tile, i)) return true;
      return std::find(taken.begin(), taken.end(), false) == taken.end();
    });
    if (!here) return no_arrival_yet;
    if (i == taken.size()) return no_more_arrivals;
    taken[i] = true;
    return static_cast<int>(i);
  }

 private:
  bool take(int tile, std::size_t i) {
    const Message& m = tiles_[static_cast<std::size_t>(tile)].receives[i];
    Mailbox& mine = *boxes_[static_cast<std::size_t>(rank_)];
    const std::lock_guard lock(mine.mutex);
    std::deque<std::vector<std::byte>>& letters = mine.letters[{m.peer, tile}];
    if (letters.empty()) return false;
    std::memcpy(work_ + m.offset, letters.front().data(), letters.front().size());
    letters.pop_front();
    return true;
  }

  ThreadWorld& world_;
  const std::vector<TileMessages>& tiles_;
  int rank_;
  std::byte* work_ = nullptr;
  std::vector<std::vector<bool>> taken_;  ///< per tile and receive
  std::vector<std::shared_ptr<Mailbox>> boxes_;
};

/// What one rank gives: a workspace, and per reshape a counter of its own tiles and one of each sender's.
struct Shelf {
  Shelf(Index bytes, std::size_t flags)
      : memory(allocate_zeros(static_cast<std::size_t>(bytes), "shelf")), counters(flags) {}
  std::shared_ptr<std::byte> memory;
  std::vector<std::atomic<std::uint64_t>> counters;
};
using Shelves = std::vector<std::shared_ptr<Shelf>>;

class ShelfWindow final : public Window {
 public:
  ShelfWindow(const WorkspaceRequest& r, Shelves shelves, std::size_t reshape)
      : world_(*r.comm.threads()),
        shelves_(std::move(shelves)),
        first_(reshape * (shelves_.size() + 1)),
        tiles_(static_cast<std::uint64_t>(r.reshapes[reshape]->most_tiles)),
        rank_(r.comm.rank()) {}

  std::byte* of(int peer) const override { return shelves_[static_cast<std::size_t>(peer)]->memory.get(); }
  void begin(int) override { ++execution_; }
  void raise_free(int tile, Queue&) override { counter(rank_, rank_, true).store(number(tile)); }
  void raise_full(int tile, int peer, Queue&) override { counter(peer, rank_, false).store(number(tile)); }
  bool is_free(int tile, int peer, Queue&, Patience patience) override {
    return reached(counter(peer, peer, true), tile, patience);
  }
  bool is_full(int tile, int peer, Queue&, Patience patience) override {
    return reached(counter(rank_, peer, false), tile, patience);
  }
  /// Threads see of each other's failures by the team.
  void cancel() noexcept override {}

 private:
  std::uint64_t number(int tile) const { return execution_ * tiles_ + static_cast<std::uint64_t>(tile) + 1; }
  std::atomic<std::uint64_t>& counter(int of, int from, bool free) const {
    const std::size_t which = free ? shelves_.size() : static_cast<std::size_t>(from);
    return shelves_[static_cast<std::size_t>(of)]->counters[first_ + which];
  }
  bool reached(const std::atomic<std::uint64_t>& counter, int tile, Patience patience) const {
    return world_.wait_if("shelf", patience == Patience::wait,
                          [&] { return counter.load() >= number(tile); });
  }

  ThreadWorld& world_;
  Shelves shelves_;
  std::size_t first_;
  std::uint64_t tiles_, execution_ = 0;
  int rank_;
};

class ShelfWorkspace final : public Workspace {
 public:
  explicit ShelfWorkspace(const WorkspaceRequest& r)
      : request_(r), shelves_(static_cast<std::size_t>(r.comm.size())) {
    shelves_[static_cast<std::size_t>(r.comm.rank())] =
        std::make_shared<Shelf>(r.bytes, r.reshapes.size() * (shelves_.size() + 1));
    share(*r.comm.threads(), r.comm.rank(), shelves_);
  }
  std::byte* of(int rank) const override { return shelves_[static_cast<std::size_t>(rank)]->memory.get(); }
  std::unique_ptr<Window> window(std::size_t reshape) const override {
    return std::make_unique<ShelfWindow>(request_, shelves_, reshape);
  }

 private:
  WorkspaceRequest request_;
  Shelves shelves_;
};

}  // namespace

ExchangeRow mailbox_row() {
  return {.name = "mailbox",
          .meaning = "packed parts by way of a mailbox",
          .traits = {.among = Among::threads, .by_name_only = true},
          .carrier = make_carrier<MailboxCarrier>};
}

ExchangeRow shelf_row() {
  return {.name = "shelf",
          .meaning = "ranks store into each other's shelf",
          .traits = {.form = Form::boxes, .stores = true, .among = Among::threads, .by_name_only = true},
          .memory = [](const WorkspaceRequest& request) -> std::shared_ptr<Workspace> {
            return std::make_shared<ShelfWorkspace>(request);
          }};
}

}  // namespace weft::test
