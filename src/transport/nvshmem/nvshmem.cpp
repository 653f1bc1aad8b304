// NVSHMEM between devices: every part is put straight into the workspace of its receiver, which lies in the
// symmetric heap, and a signal there says that it has arrived. All of it is enqueued on one stream, and the
// host waits for nothing. A receiver signals first that its memory for the tile is ready, so that no
// execution overwrites what the one before still reads. Parts that are one piece of the workspace are put
// from where they lie to where they belong; others are packed. Not in graphs: signals are numbered by
// execution.
//
// A stream that waits for a signal cannot be stopped. A rank that fails sets all signals that others may wait
// for to a value that no execution has, after a word that the other ranks of its machine read. Behind its
// waits a stream copies the signals of the tile to the host, so that ranks of other machines that were let go
// by such a value, and not by an arrival, know it, too.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "comm/mpi_world.hpp"
#include "transport/mpi/told_offsets.hpp"
#include "transport/nvshmem/heap.hpp"
#include "transport/nvshmem/library.hpp"
#include "transport/nvshmem/workspace.hpp"
#include "transport/ring_order.hpp"
#include "transport/transport.hpp"
#include "weft/error.hpp"

namespace weft {

namespace {

class NvshmemExchange final : public WholeTiles {
 public:
  explicit NvshmemExchange(const CarrierRequest& c)
      : WholeTiles(c.reshape),
        reshape_(c.reshape),
        workspace_(std::static_pointer_cast<const nvshmem::HeapWorkspace>(c.workspace)),
        number_(c.number),
        signals_(workspace_->signals(c.number)),
        world_(*c.comm.mpi()),
        rank_(c.comm.rank()) {
    world_.check_tags(1);
    for (const TileMessages& m : c.reshape.tiles) add_tile(m, ring_order(c.comm.nodes(), rank_));
    const auto bytes = static_cast<std::size_t>(c.reshape.most_tiles * signals_.tile_bytes());
    seen_ = workspace_->device().allocate_pinned(bytes, "plan: exchange nvshmem");
    if (bytes > 0) std::memset(seen_.get(), 0, bytes);
  }

  /// Receivers tell where each part is to be put.
  void connect() override {
    const TagRange tag = world_.take_tags(1);
    OffsetsByRank told, heard;
    for (const TileMessages& m : reshape_.tiles) {
      for (std::size_t i = 0; i < m.receives.size(); ++i)
        told[m.receives[i].peer].push_back(start_of(m.receives[i], m.to, i));
      for (const Message& s : m.sends) heard[s.peer].push_back(0);
    }
    heard = tell_offsets(world_, tag.first(), std::move(told), std::move(heard));
    std::map<int, std::size_t> next;
    for (std::size_t k = 0; k < tiles_.size(); ++k)
      for (const Message& s : reshape_.tiles[k].sends) {
        const Index offset = heard[s.peer][next[s.peer]++];
        for (Part& p : tiles_[k].sends)
          if (p.rank == s.peer) p.theirs = offset;
      }
  }

  void check() override {
    workspace_->check();
    const auto* const seen = reinterpret_cast<const volatile std::uint64_t*>(seen_.get());
    const std::size_t count = tiles_.size() * 2 * static_cast<std::size_t>(signals_.ranks);
    for (std::size_t i = 0; i < count; ++i)
      if (seen[i] == nvshmem::Signals::failed)
        throw failure_of(static_cast<int>(i) % signals_.ranks, "exchange nvshmem", rank_);
  }

  void cancel() noexcept override {
    try {
      const DeviceScope scope(workspace_->device());
      workspace_->fail(number_, reshape_.most_tiles);
    } catch (const std::exception&) {
      // The device is lost, and with it whoever waits for it.
    }
  }

 private:
  struct Part {
    int rank;
    Index mine, bytes;
    Index theirs = 0;  ///< of what is sent: where it belongs in the workspace of its receiver
  };
  struct Tile {
    std::vector<Part> sends = {}, receives = {};  ///< of other ranks, without empty ones, in ring order
    Part own_from{}, own_to{};
    std::uint64_t execution = 0;
  };

  static Index start_of(const Message& m, const std::vector<StridedPart>& pieces, std::size_t i) {
    return pieces.empty() ? m.offset : pieces[i].at.offset;
  }

  void add_tile(const TileMessages& m, const std::vector<int>& order) {
    const auto parts = [&](const std::vector<Message>& messages, const std::vector<StridedPart>& pieces,
                           Part& own) {
      std::vector<Part> all;
      for (std::size_t i = 0; i < messages.size(); ++i) {
        const Part part{messages[i].peer, start_of(messages[i], pieces, i), messages[i].bytes};
        if (part.rank == rank_)
          own = part;
        else if (part.bytes > 0)
          all.push_back(part);
      }
      std::ranges::sort(all, {}, [&](const Part& p) { return std::ranges::find(order, p.rank); });
      return all;
    };
    Tile& t = tiles_.emplace_back();
    t.sends = parts(m.sends, m.from, t.own_from);
    t.receives = parts(m.receives, m.to, t.own_to);
  }

  void carry(int tile, const Memory& memory, Queue& queue) override {
    check();
    std::byte* const workspace = at(memory, Space::work);
    DeviceStream& stream = *queue.stream;
    Tile& t = at(tiles_, tile);
    const std::uint64_t execution = ++t.execution;
    {
      const nvshmem::Functions& f = nvshmem::functions();
      void* const on = stream.native();
      const auto held = nvshmem::lock();
      for (const Part& p : t.receives)
        f.signal(signals_.ready(tile, rank_), execution, nvshmem::set_signal, workspace_->pe(p.rank), on);
      for (const Part& p : t.sends) {
        f.wait_for_signal(signals_.ready(tile, p.rank), nvshmem::at_least, execution, on);
        f.put_and_signal(workspace + p.theirs, workspace + p.mine, static_cast<std::size_t>(p.bytes),
                         signals_.full(tile, rank_), execution, nvshmem::set_signal, workspace_->pe(p.rank),
                         on);
      }
      if (!t.sends.empty()) f.quiet(on);
      for (const Part& p : t.receives)
        f.wait_for_signal(signals_.full(tile, p.rank), nvshmem::at_least, execution, on);
    }
    if (t.own_to.bytes > 0)
      stream.copy(workspace + t.own_to.mine, workspace + t.own_from.mine,
                  static_cast<std::size_t>(t.own_to.bytes));
    if (!t.sends.empty() || !t.receives.empty())
      stream.copy(seen_.get() + tile * signals_.tile_bytes(), signals_.tile(tile),
                  static_cast<std::size_t>(signals_.tile_bytes()));
  }

  const ReshapeMessages& reshape_;
  std::shared_ptr<const nvshmem::HeapWorkspace> workspace_;
  std::size_t number_;  ///< of the reshape, in the workspace
  nvshmem::Signals signals_;
  MpiWorld& world_;
  int rank_;
  std::vector<Tile> tiles_;
  std::shared_ptr<std::byte> seen_;  ///< pinned: the signals of each tile, behind the waits for them
};

}  // namespace

ExchangeRow nvshmem_row() {
  return {
      .name = "nvshmem",
      .meaning = "NVSHMEM, puts into the receivers' workspaces (GPUs only, one of its own for every rank)",
      // Its tiles are in one order on all ranks.
      .traits = {.among = Among::processes,
                 .moves_on = MovesOn::always,
                 .concurrent = false,
                 .any_place = true,
                 .own_workspace = true,
                 .lays_workspace = true,
                 .one_group = true,
                 .by_name_only = true,
                 .serves_host = false,
                 .by_device = true},
      .carrier = make_carrier<NvshmemExchange>,
      .memory = [](const WorkspaceRequest& request) -> std::shared_ptr<Workspace> {
        return std::make_shared<nvshmem::HeapWorkspace>(request);
      },
      .missing = nvshmem::why_not};
}

}  // namespace weft
