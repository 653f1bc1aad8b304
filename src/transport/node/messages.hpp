// One message for each pair of machines: what exchanges have in common that gather what the ranks of a
// machine send to another one. They differ in how that travels.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "transport/transport.hpp"

namespace weft {

/// What a machine sends to another one in a tile, on a rail, or what it receives: for the rank that does
/// that.
struct Travel {
  bool sends;
  int peer;        ///< who receives it there, or sends it
  int rail, tile;  ///< no two between the same ranks have the same
  std::byte* at;
  Index bytes;
};

/// How it travels. Calls but `connect` do not wait.
class NodeWire {
 public:
  virtual ~NodeWire() = default;
  /// Networks that carry it at the same time.
  virtual int rails() const { return 1; }
  /// Meets the other ranks, before anything else; what is sent and received is known by its place in the list
  /// afterwards. `tag`: the first of a tag of MPI for each tile. Collective.
  virtual void connect(const std::vector<Travel>& travels, int tag) = 0;
  /// Starts to send or to receive. The same travel is not under way.
  virtual void start(std::size_t travel) = 0;
  /// Whether it is through: what has been sent may be overwritten, what is received is there.
  virtual bool complete(std::size_t travel) = 0;
  /// Throws `weft::Error` if something that is under way cannot go on.
  virtual void progress() {}
  /// The execution has failed: what is received is not written any more.
  virtual void call_back() noexcept = 0;
};

std::unique_ptr<Carrier> make_node_messages(const CarrierRequest& request, std::unique_ptr<NodeWire> wire);

/// The row of such an exchange, but for its carrier.
ExchangeRow node_row(const char* name, const char* meaning);

}  // namespace weft
