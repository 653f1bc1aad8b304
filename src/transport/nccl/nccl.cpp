// NCCL between devices: all parts of a tile are sent and received by one grouped call on a stream, and
// nothing waits here. What comes after a tile on other streams waits for the event behind its `post`, so that
// tiles follow each other without the host. Parts that are one piece of the workspace are sent from where
// they lie and received where they belong; others are packed, as NCCL sends what is contiguous. The workspace
// is registered with NCCL, so that a part is copied once. Not in
// graphs: a communicator that is aborted waits for the end of all graphs with its calls, so that a rank that
// fails could not let go of the others.
#include "transport/nccl/ranks.hpp"
#include "transport/nccl/workspace.hpp"
#include "transport/transport.hpp"
#include "weft/error.hpp"

namespace weft {

namespace {

/// What is called between its making and its `end` is one operation of NCCL.
class Group {
 public:
  Group() { nccl::check(nccl::functions().group_start(), "ncclGroupStart"); }
  ~Group() {
    if (open_) nccl::functions().group_end();
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  void end(nccl::Communicator* communicator) {
    open_ = false;
    nccl::check(nccl::functions().group_end(), "ncclGroupEnd", communicator);
  }

 private:
  bool open_ = true;
};

class NcclExchange final : public WholeTiles {
 public:
  explicit NcclExchange(const CarrierRequest& c)
      : WholeTiles(c.reshape), ranks_(NcclRanks::of(c.comm)), workspace_(c.exposed), rank_(c.comm.rank()) {}

  void check() override { ranks_->check(); }
  void cancel() noexcept override { ranks_->cancel(); }

 private:
  void carry(int tile, const Memory& memory, Queue& queue) override {
    DeviceStream& stream = *queue.stream;
    std::byte* const workspace = at(memory, Space::work);
    const auto start = [&](const Message& m, const std::vector<StridedPart>& pieces, std::size_t i) {
      return workspace + (pieces.empty() ? m.offset : pieces[i].at.offset);
    };
    const nccl::Functions& f = nccl::functions();
    nccl::Communicator* const all = ranks_->get();
    const TileMessages& t = messages(tile);
    ranks_->check();
    std::byte *own_from = nullptr, *own_to = nullptr;
    std::size_t own_bytes = 0;
    Group group;
    for (std::size_t i = 0; i < t.sends.size(); ++i) {
      const Message& m = t.sends[i];
      std::byte* const from = start(m, t.from, i);
      const auto bytes = static_cast<std::size_t>(m.bytes);
      if (m.peer == rank_) {
        own_from = from;
        own_bytes = bytes;
      } else if (bytes > 0) {
        nccl::check(f.send(from, bytes, nccl::byte_type, m.peer, all, stream.native()), "ncclSend", all);
      }
    }
    for (std::size_t i = 0; i < t.receives.size(); ++i) {
      const Message& m = t.receives[i];
      std::byte* const to = start(m, t.to, i);
      const auto bytes = static_cast<std::size_t>(m.bytes);
      if (m.peer == rank_) {
        own_to = to;
      } else if (bytes > 0) {
        nccl::check(f.receive(to, bytes, nccl::byte_type, m.peer, all, stream.native()), "ncclRecv", all);
      }
    }
    group.end(all);
    if (own_from != nullptr && own_to != nullptr) stream.copy(own_to, own_from, own_bytes);
  }

  std::shared_ptr<NcclRanks> ranks_;
  std::shared_ptr<const void> workspace_;  ///< is registered as long as this lives
  int rank_;
};

}  // namespace

ExchangeRow nccl_row() {
  return {.name = "nccl",
          .meaning = "NCCL, grouped sends and receives (GPUs only, one of its own for every rank)",
          // Its calls are in one order on all ranks.
          .traits = {.moves_on = MovesOn::always,
                     .concurrent = false,
                     .any_place = true,
                     .by_name_only = true,
                     .serves_host = false,
                     .by_device = true},
          .carrier = make_carrier<NcclExchange>,
          .missing = [](CommImpl&) { return nccl::missing(); },
          .prepare = NcclRanks::prepare,
          .allocate = nccl::allocate,
          .expose = [](CommImpl& comm, const std::shared_ptr<std::byte>& memory, Index bytes, bool,
                       const RailSettings&) { return nccl::RegisteredWorkspace::make(comm, memory, bytes); },
          .describe =
              [](CommImpl&, const RailSettings&, const std::shared_ptr<const void>& exposed) {
                return std::string(exposed ? "between registered workspaces"
                                           : "through buffers of its own (the workspace is the user's, or "
                                             "cannot be registered)");
              }};
}

}  // namespace weft
