// What machines gather for each other, one message on each rail (multi-rail-multi-gpu-fft, section III, packs
// what the GPUs of a machine send together).
#include <algorithm>
#include <deque>

#include "transport/node/messages.hpp"
#include "transport/ucx/node.hpp"
#include "transport/ucx/rail_health.hpp"
#include "transport/ucx/rails.hpp"

namespace weft {

namespace {

class RailsNodeWire final : public NodeWire {
 public:
  explicit RailsNodeWire(const CarrierRequest& c)
      : comm_(c.comm), rails_(ucx::Rails::of(c.comm, c.rails)), health_(name, rails_, c.comm.rank()) {
    if (c.reshape.most_tiles > most_tiles)
      throw Error("plan: option tile", std::to_string(c.reshape.most_tiles) + " tiles with exchange " + name,
                  "at most " + std::to_string(most_tiles) + ": make tiles thicker");
  }

  int rails() const override { return std::max(rails_->count(), 1); }

  void connect(const std::vector<Travel>& travels, int /*tag*/) override {
    conversation_ = ucx::new_conversation(comm_);
    for (const Travel& t : travels) {
      Transfer& x = transfers_.emplace_back();
      x.is = t;
      x.next = [](ucx::Operation& operation) { static_cast<Transfer&>(operation).is_under_way = false; };
      health_.add({t.rail, t.peer});
    }
  }

  void start(std::size_t travel) override {
    Transfer& x = transfers_[travel];
    const Travel& t = x.is;
    const auto held = ucx::lock();
    x.is_under_way = true;
    ++under_way_;
    const auto bytes = static_cast<std::size_t>(t.bytes);
    const std::uint64_t tag = ucx::tag_of(conversation_, t.sends ? comm_.rank() : t.peer, t.tile);
    ucx::Worker& worker = *rails_->worker(t.rail);
    t.sends ? worker.send(rails_->endpoint(t.rail, t.peer), t.at, bytes, tag, x)
            : worker.receive(t.at, bytes, tag, x);
  }

  bool complete(std::size_t travel) override {
    const Transfer& x = transfers_[travel];
    const auto held = ucx::lock();
    if (x.is_under_way) return false;
    if (x.status != UCS_OK) health_.fail({x.is.rail, x.is.peer}, ucx::text_of(x.status));
    --under_way_;
    return true;
  }

  /// All rails move on, those included that have nothing of this reshape under way: other reshapes may have.
  void progress() override {
    const auto held = ucx::lock();
    if (under_way_ > 0) rails_->progress();
    health_.look();
  }

  void call_back() noexcept override {
    const auto held = ucx::lock();
    for (Transfer& x : transfers_)
      if (!x.is.sends && x.is_under_way) rails_->worker(x.is.rail)->call_back(x);
  }

 private:
  static constexpr int most_tiles = 65000;
  static constexpr const char* name = "exchange node_ucx";

  struct Transfer : ucx::Operation {
    Travel is{};
    bool is_under_way = false;
  };

  CommImpl& comm_;
  std::shared_ptr<ucx::Rails> rails_;
  ucx::RailHealth health_;
  std::deque<Transfer> transfers_;  ///< they stay where they are
  int under_way_ = 0;               ///< transfers that have not been found complete
  int conversation_ = 0;
};

}  // namespace

std::unique_ptr<Carrier> make_node_messages_on_rails(const CarrierRequest& request) {
  return make_node_messages(request, std::make_unique<RailsNodeWire>(request));
}

}  // namespace weft
