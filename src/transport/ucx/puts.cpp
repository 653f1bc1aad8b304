// Transfers as puts into the workspaces of their receivers, which were registered while planning. Two short
// messages keep order: *ready*, from the receiver when it posts the tile, so that nothing is written before
// the place is free; and behind the put a notice that says how many bytes are there. UCX promises no order
// between a put and a message: the notice is sent once the endpoint has been flushed (docs/adr/0050). Both
// are the same for all transfers of a part on a rail, so that it does not matter which of them meets which.
// Each step is started by the one before it, whoever lets the worker move on, as UCX does with messages.
#include <map>
#include <utility>

#include "base/test_hook.hpp"
#include "comm/mpi_world.hpp"
#include "transport/mpi/told_offsets.hpp"
#include "transport/ucx/context.hpp"
#include "transport/ucx/registration.hpp"
#include "transport/ucx/transfer.hpp"

namespace weft::ucx {

namespace {

class Puts final : public Protocol {
 public:
  Puts(const CarrierRequest& c, std::shared_ptr<Rails> rails)
      : comm_(c.comm),
        reshape_(c.reshape),
        rails_(std::move(rails)),
        workspace_(std::static_pointer_cast<const RegisteredWorkspace>(c.exposed)),
        memory_(memory_type(c.device != nullptr)) {
    for (const TileMessages& m : reshape_.tiles) places_.emplace_back(m.sends.size());
  }

  bool carries(const Transfer& x) const override { return workspace_->puts(x.lane, x.bytes); }

  /// Ranks tell those that send to them where each part begins.
  void connect() override {
    ready_ = new_conversation(comm_);
    notices_ = new_conversation(comm_);
    MpiWorld& world = *comm_.mpi();
    const TagRange tag = world.take_tags(1);
    OffsetsByRank told, heard;  // tile by tile
    for (const TileMessages& m : reshape_.tiles) {
      for (const Message& r : m.receives) told[r.peer].push_back(r.offset);
      for (const Message& s : m.sends) heard[s.peer].push_back(0);
    }
    heard = tell_offsets(world, tag.first(), std::move(told), std::move(heard));
    std::map<int, std::size_t> next;
    for (std::size_t t = 0; t < places_.size(); ++t)
      for (std::size_t i = 0; i < places_[t].size(); ++i) {
        const int peer = reshape_.tiles[t].sends[i].peer;
        places_[t][i] = heard[peer][next[peer]++];
      }
  }

  void receive(Transfer& x, std::byte*) override {
    prepare(x);
    x.awaited = 2;
    Worker& worker = *rails_->worker(x.lane);
    worker.receive(&x.length, sizeof x.length, tag_of(notices_, x.peer, x.of.tile), x.there);
    worker.send(endpoint(x), nullptr, 0, tag_of(ready_, comm_.rank(), x.of.tile), x.ready);
  }

  void announce(Transfer& x) override {
    prepare(x);
    x.awaited = 2;  // the other one is its turn to be sent
    rails_->worker(x.lane)->receive(nullptr, 0, tag_of(ready_, x.peer, x.of.tile), x.ready);
  }

  void send(Transfer& x, const std::byte* work, Index bytes) override {
    x.from = work + x.offset;
    x.length = bytes;
    if (--x.awaited == 0) put(x);
  }

  /// What is under way goes no further: its Comm may be gone by then.
  void call_back(Transfer& x) override {
    x.awaited = 0;
    rails_->worker(x.lane)->call_back(x.of.sends ? x.ready : x.there);
  }

 private:
  Endpoint& endpoint(const Transfer& x) const { return rails_->endpoint(x.lane, x.peer); }

  static void prepare(Transfer& x) {
    for (Step* step : {&x.ready, &x.written, &x.there}) {
      step->next = go_on;
      step->of = &x;
    }
  }
  static void go_on(Operation& operation) {
    const auto& step = static_cast<const Step&>(operation);
    static_cast<Puts&>(*step.of->protocol).note(step);
  }

  /// A transfer that has failed in one step is over, whatever becomes of the others.
  void note(const Step& step) {
    Transfer& x = *step.of;
    if (x.awaited == 0) return;
    if (step.status != UCS_OK) {
      x.awaited = 0;
      finish(x, step.status);
    } else if (--x.awaited == 0) {
      if (!x.of.sends) {
        x.arrived = static_cast<std::size_t>(x.length);
        finish(x, UCS_OK);
      } else if (&step == &x.ready) {
        put(x);
      } else {
        tell(x);
      }
    }
  }

  /// Flushing follows at once, so that it does not wait for later puts.
  void put(Transfer& x) {
    if (x.length == 0) return tell(x);
    test_point("ucx put", comm_.rank());
    x.awaited = 2;
    const Index within = x.offset - at(at(reshape_.tiles, x.of.tile).sends, x.of.position).offset;
    const Index place = at(at(places_, x.of.tile), x.of.position) + within;
    const Registration::Remote& remote = workspace_->of(x.lane, x.peer);
    Worker& worker = *rails_->worker(x.lane);
    worker.put(endpoint(x), x.from, static_cast<std::size_t>(x.length),
               remote.address + static_cast<std::uint64_t>(place), remote.key, x.written, memory_);
    worker.flush(endpoint(x), x.there);
  }

  void tell(Transfer& x) {
    rails_->worker(x.lane)->send(endpoint(x), &x.length, sizeof x.length,
                                 tag_of(notices_, comm_.rank(), x.of.tile), x);
  }

  CommImpl& comm_;
  const ReshapeMessages& reshape_;
  std::shared_ptr<Rails> rails_;
  std::shared_ptr<const RegisteredWorkspace> workspace_;
  ucs_memory_type_t memory_;
  int ready_ = 0, notices_ = 0;             ///< conversations
  std::vector<std::vector<Index>> places_;  ///< by tile and position, of what is sent: in the receiver's
                                            ///< workspace, where it begins
};

}  // namespace

std::unique_ptr<Protocol> make_puts(const CarrierRequest& c, std::shared_ptr<Rails> rails) {
  return std::make_unique<Puts>(c, std::move(rails));
}

}  // namespace weft::ucx
