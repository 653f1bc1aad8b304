// Transfers as tagged messages. UCX sends short ones at once (context.cpp), and asks the receiver before
// others. Those of one sender on one rail arrive in order, so that a tag need not say more than who sends,
// and of which tile. Receives are posted with their tile.
#include "transport/ucx/context.hpp"
#include "transport/ucx/transfer.hpp"

namespace weft::ucx {

namespace {

class Messages final : public Protocol {
 public:
  Messages(const CarrierRequest& c, std::shared_ptr<Rails> rails)
      : comm_(c.comm), rails_(std::move(rails)), memory_(memory_type(c.device != nullptr)) {}

  bool carries(const Transfer&) const override { return true; }
  void connect() override { conversation_ = new_conversation(comm_); }
  void receive(Transfer& x, std::byte* work) override {
    rails_->worker(x.lane)->receive(work + x.offset, static_cast<std::size_t>(x.bytes),
                                    tag_of(conversation_, x.peer, x.of.tile), x, memory_);
  }
  void send(Transfer& x, const std::byte* work, Index bytes) override {
    rails_->worker(x.lane)->send(rails_->endpoint(x.lane, x.peer), work + x.offset,
                                 static_cast<std::size_t>(bytes),
                                 tag_of(conversation_, comm_.rank(), x.of.tile), x, memory_);
  }
  void call_back(Transfer& x) override {
    if (!x.of.sends) rails_->worker(x.lane)->call_back(x);
  }

 private:
  CommImpl& comm_;
  std::shared_ptr<Rails> rails_;
  ucs_memory_type_t memory_;
  int conversation_ = 0;
};

}  // namespace

std::unique_ptr<Protocol> make_messages(const CarrierRequest& c, std::shared_ptr<Rails> rails) {
  return std::make_unique<Messages>(c, std::move(rails));
}

}  // namespace weft::ucx
