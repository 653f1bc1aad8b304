// What machines gather for each other, in messages of MPI.
#include <algorithm>

#include "comm/mpi_world.hpp"
#include "transport/mpi/types.hpp"
#include "transport/node/messages.hpp"

namespace weft {

namespace {

class MpiNodeWire final : public NodeWire {
 public:
  explicit MpiNodeWire(const CarrierRequest& c)
      : world_(*c.comm.mpi()), element_bytes_(c.reshape.element_bytes) {}

  /// A longer message would wait for an answer of its receiver (`bytes_at_once`).
  void connect(const std::vector<Travel>& travels, int tag) override {
    for (const Travel& t : travels) {
      Cut cut{t, tag + t.tile};
      const Index each = bytes_at_once(world_, t.peer, t.bytes);
      for (Index first = 0; first < t.bytes; first += each)
        cut.pieces.emplace_back(Message{t.peer, first, std::min(each, t.bytes - first)}, element_bytes_);
      cut.requests.assign(cut.pieces.size(), MPI_REQUEST_NULL);
      cuts_.push_back(std::move(cut));
    }
  }

  void start(std::size_t travel) override {
    Cut& cut = cuts_[travel];
    const auto lock = world_.lock();
    for (std::size_t i = 0; i < cut.pieces.size(); ++i) {
      const MpiPart& p = cut.pieces[i];
      std::byte* const at = cut.is.at + p.offset;
      cut.is.sends
          ? check_mpi(MPI_Isend(at, p.count, p.type, cut.is.peer, cut.tag, world_.comm(), &cut.requests[i]),
                      "MPI_Isend")
          : check_mpi(MPI_Irecv(at, p.count, p.type, cut.is.peer, cut.tag, world_.comm(), &cut.requests[i]),
                      "MPI_Irecv");
    }
  }

  bool complete(std::size_t travel) override { return world_.complete(cuts_[travel].requests); }

  void call_back() noexcept override {
    const auto lock = world_.lock();
    for (Cut& cut : cuts_) {
      if (cut.is.sends) continue;
      for (MPI_Request& request : cut.requests)
        if (request != MPI_REQUEST_NULL) {
          MPI_Cancel(&request);
          MPI_Request_free(&request);
        }
    }
  }

 private:
  struct Cut {
    Travel is;
    int tag;
    std::vector<MpiPart> pieces = {};  ///< each of a size that MPI sends at once
    std::vector<MPI_Request> requests = {};
  };

  MpiWorld& world_;
  int element_bytes_;
  std::vector<Cut> cuts_;
};

}  // namespace

ExchangeRow mpi_node_row() {
  ExchangeRow row =
      node_row("node", "direct within a machine, between machines one message for all ranks of both");
  row.carrier = [](const CarrierRequest& request) {
    return make_node_messages(request, std::make_unique<MpiNodeWire>(request));
  };
  return row;
}

}  // namespace weft
