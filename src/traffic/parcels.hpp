// The parts of tiles that a rank sends and receives in one reshape, each with its route, and the messages
// that follow from them. The builders of all pipelines make their operations from these.
#pragma once

#include <span>
#include <vector>

#include "traffic/placement.hpp"

namespace weft {

/// The part of a tile that goes from one rank to another: to `peer` if this rank sends it, else from `peer`.
struct Parcel {
  int peer = -1, tile = 0;
  Box box;
  Route route = Route::send;
  Index bytes = 0;  ///< on the wire
  Index offset =
      0;  ///< packed: of its send or receive buffer in the workspace, of the receiver if it is stored
};

class Parcels {
 public:
  struct Settings {
    int reshape = 0, rank = 0;
    /// The machine of every rank; empty: all on one.
    const std::vector<int>& nodes;
    Route own = Route::stay;  ///< how a rank's own part goes
    /// Dense parts that a tile sends, or receives, begin where its messages say; false: behind those of the
    /// tile before.
    bool sends_apart = true, receives_apart = true;
    /// Planes: tiles that are complete at the same time are one part, if it is stored or stays.
    bool at_once = false;
    /// Dense parts that are received lie behind all that stays on this rank, whatever tile that belongs to.
    bool own_first = false;
  };

  /// `sent` and `stored`, whose tiles exist already with their starts, get the messages.
  Parcels(const Placement& place, const Settings& settings, ReshapeMessages& sent, ReshapeMessages& stored);

  Route route(int peer) const;
  /// Finds the parts that are sent, and those that are received: with planes all of them, else without one
  /// that stays, which goes straight to where the result belongs.
  void find();

  /// Padded: gives every member of the exchange group room for the largest part of a tile.
  void pad();
  /// Makes the messages of what has been added. `landing`: where the result belongs; `in_place`: parts arrive
  /// there, without unpacking.
  void open_receives(const Place& landing, bool in_place);
  /// `source`: the place from which boxes are sent; null: parts are sent from their send buffers.
  void open_sends(const Place* source);
  /// Dense: the parts of a tile, each one piece of memory at `source`, are sent from there without a copy.
  void send_from(const Place& source, int tile);
  /// Sorts what is sent so that the ranks after this one come first: not all ranks then write to the same
  /// peer at the same time. `each_tile`: by tile, then by peer; otherwise by peer, then by tile.
  void in_ring_order(bool each_tile);

  const std::vector<Parcel>& sends() const { return sends_; }
  const std::vector<Parcel>& receives() const { return receives_; }
  /// Those of one tile, where they lie by tile.
  std::span<const Parcel> sends(int tile) const { return of_tile(sends_, tile); }
  std::span<const Parcel> receives(int tile) const { return of_tile(receives_, tile); }
  /// The send buffer of a part that is sent, or, if it is stored, its place in the receiver's workspace; and
  /// the receive buffer of one that is received.
  Place send_buffer(const Parcel& parcel) const {
    return place_->packed(settings_.reshape, settings_.rank, parcel.peer, parcel.box, parcel.offset);
  }
  Place receive_buffer(const Parcel& parcel) const {
    return place_->packed(settings_.reshape, parcel.peer, settings_.rank, parcel.box, parcel.offset);
  }

  /// Whether tile `k` has messages. The ranks of a collective exchange post the same tiles, empty ones too.
  bool posts(int k) const;

 private:
  Index wire_bytes(int sender, int receiver, const Box& box) const {
    return place_->wire_bytes(settings_.reshape, sender, receiver, box);
  }
  void add_send(int peer, int tile, const Box& box) {
    sends_.push_back({peer, tile, box, route(peer), wire_bytes(settings_.rank, peer, box)});
  }
  void add_receive(int peer, int tile, const Box& box) {
    receives_.push_back({peer, tile, box, route(peer), wire_bytes(peer, settings_.rank, box)});
  }
  void find_sends();
  void find_receives();
  bool at_once(int peer) const { return settings_.at_once && route(peer) != Route::send; }
  void lay_out(std::vector<Parcel>& parcels, Index TileMessages::*start);
  void aim();
  static std::span<const Parcel> of_tile(const std::vector<Parcel>& all, int tile);
  const Leg& leg() const { return place_->leg(settings_.reshape); }
  Order order_of(int receiver) const { return place_->field_after(settings_.reshape).order(receiver); }

  const Placement* place_;
  Settings settings_;
  ReshapeMessages *sent_, *stored_;
  std::vector<int> members_;  ///< padded: of the exchange group
  std::vector<Parcel> sends_, receives_;
};

}  // namespace weft
