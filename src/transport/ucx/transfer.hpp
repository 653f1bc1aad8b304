// A transfer of exchange ucx, and the interface of what carries it on its lane: a tagged message
// (messages.cpp), or a put into the registered workspace of its receiver (puts.cpp). The ring chooses when a
// transfer begins and where it travels, and hears that it is complete; how it travels is said here alone.
#pragma once

#include <memory>
#include <utility>

#include "transport/transport.hpp"
#include "transport/ucx/rails.hpp"

namespace weft::ucx {

class Protocol;
struct Transfer;

/// An operation of UCX that is done for a transfer.
struct Step : Operation {
  Transfer* of = nullptr;
};

/// As an operation it is complete when the transfer is: what it sends may be overwritten, and what it
/// receives is there.
struct Transfer : Operation {
  /// Of which part it is.
  struct Part {
    bool sends;
    int tile, position, step;  ///< position: among the parts of the tile; step: of the ring
  };
  Part of{};
  int peer = 0, number = 0;     ///< number: in its part
  Index offset = 0, bytes = 0;  ///< in the workspace; as many at most
  Index begin = -1;             ///< in a part whose length varies, where it begins; -1: in others
  int lane = 0;
  double began = 0;  ///< when it was sent, if that is measured
  Protocol* protocol = nullptr;

  // Of puts:
  Step ready, written, there;
  int awaited = 0;  ///< steps without which it does not go on
  const std::byte* from = nullptr;
  Index length = 0;  ///< bytes that travel
};

/// One way in which transfers travel. Calls are made while the lock is held; except for `connect`, they do
/// not wait.
class Protocol {
 public:
  virtual ~Protocol() = default;
  /// Whether a transfer can travel so on its lane; the same on the rank that sends it and the one that
  /// receives it.
  virtual bool carries(const Transfer& x) const = 0;
  /// Meets the other ranks, before anything else. Collective.
  virtual void connect() {}
  /// The tile of the transfer has been posted, in this workspace. What it receives may be written from now
  /// on; what it sends waits for `send`.
  virtual void receive(Transfer& x, std::byte* work) = 0;
  virtual void announce(Transfer& /*x*/) {}
  /// Sends the first so many bytes of its room.
  virtual void send(Transfer& x, const std::byte* work, Index bytes) = 0;
  /// The execution has failed: calls back what waits for messages of the peer, and starts nothing more.
  virtual void call_back(Transfer& x) = 0;
};

std::unique_ptr<Protocol> make_messages(const CarrierRequest& c, std::shared_ptr<Rails> rails);
/// `c.exposed` is not null.
std::unique_ptr<Protocol> make_puts(const CarrierRequest& c, std::shared_ptr<Rails> rails);

}  // namespace weft::ucx
