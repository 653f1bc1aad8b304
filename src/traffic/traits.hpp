// What planning has to know of an exchange: values, no functions of it.
#pragma once

#include <cstdint>

namespace weft {

/// How a part gets from the rank that has it to the rank that wants it.
enum class Route : std::uint8_t {
  stay,   ///< both are the same rank
  store,  ///< the sender stores it into the receiver's workspace
  send,   ///< it travels in a message
};

/// How the parts of a tile lie that are sent.
enum class Form : std::uint8_t {
  dense,   ///< each contiguous in a buffer, one behind the other
  padded,  ///< the same, each with room for the largest part of its exchange group
  boxes,   ///< strided boxes of the array, which nobody packs or unpacks
};

/// Between which ranks an exchange works.
enum class Among : std::uint8_t { any, threads, processes };

/// When posted tiles move on while these ranks compute, so that pipelining pays.
enum class MovesOn : std::uint8_t { never, between_machines, always };

struct ExchangeTraits {
  Form form = Form::dense;  ///< of what is sent; boxes for exchanges with `stores`
  /// Ranks that reach each other's memory store there; other pairs need an exchange beside it.
  bool stores = false;
  Among among = Among::any;
  MovesOn moves_on = MovesOn::never;
  bool concurrent = true;      ///< a plan may be under way while another plan of the same ranks is
  bool beside_stores = false;  ///< can serve the pairs that an exchange with `stores` leaves out
  /// Of exchanges that store: they carry by themselves what goes between machines, one message for all ranks
  /// of two machines.
  bool gathers = false;
  bool any_place = false;   ///< dense: parts may lie anywhere in the workspace, each in one piece
  bool any_length = false;  ///< dense: of parts whose length varies it sends no more than there is
  bool blocks = false;      ///< a tile is there when its post returns: the rank waits for it in there
  /// Of exchanges that block: a rank sends to one member of its exchange group while it receives from
  /// another, and goes on to the next two when both is done. In round r they are r places behind it and
  /// before it.
  bool in_rounds = false;
  /// One call sends all parts of a tile, in an order and in pieces that only the library knows.
  bool collective = false;
  bool queues = false;         ///< what is posted waits for its turn, which only calls of its carrier give it
  bool asked_for = false;      ///< a part travels once its receiver has asked for it
  bool own_workspace = false;  ///< needs the plan's own workspace, which the user does not give
  /// The plan's workspace is in memory of its own, as for all that store: a plan has one such exchange.
  bool lays_workspace = false;
  /// In a process it serves one group of ranks, those of the first plan that uses it: never tried unless the
  /// user names it.
  bool one_group = false;
  bool by_name_only = false;  ///< only used if the user names it; "auto" does not choose it
  bool on_rails = false;  ///< over several networks (rail_settings.hpp); of no use among ranks of one machine
  bool serves_host = true;  ///< arrays on the host
  bool by_device = false;   ///< memory of devices: streams carry the tiles, without the host
  /// Memory of devices: what it enqueues may be captured in a graph and launched again.
  bool in_graphs = false;
  friend bool operator==(const ExchangeTraits&, const ExchangeTraits&) = default;
};

/// Whether the plan's workspace is made by the row of the exchange.
inline bool lays_workspace(const ExchangeTraits& traits) {
  return traits.stores || traits.lays_workspace;
}

/// Whether ranks have to call it alike, whatever has become of them: in a call that blocks, or one of a row
/// of collective calls on a communicator.
inline bool stands_in_step(const ExchangeTraits& traits) {
  return traits.blocks || traits.collective;
}

/// Whether nothing is packed for the exchange.
inline bool packs_nothing(const ExchangeTraits& traits) {
  return traits.stores || traits.form == Form::boxes;
}

/// Whether parts of arrays in memory of devices can go through pinned memory.
inline bool stages(const ExchangeTraits& traits) {
  return traits.serves_host && !traits.stores && traits.form != Form::boxes;
}

}  // namespace weft
