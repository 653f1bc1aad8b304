// How a rank takes part in one reshape, tile by tile: what it sends (sending.cpp), what it receives
// (receiving.cpp), and what both sides share. In which order they do so is the builder's.
#pragma once

#include <array>
#include <map>

#include "program/building.hpp"

namespace weft {

/// Which axes of a local FFT can be done tile by tile, and which need the whole box, or item of a batch,
/// because the tiles cut one of them. The real axis has to be transformed first going forward and last going
/// backward.
struct AxisSplit {
  AxisVector<int> whole, tile;
};

AxisSplit split_axes(const Stage& stage, int cut, bool sends);

class ReshapeBuilder : public Building {
 public:
  using Building::Building;

 protected:
  struct Reshape {
    int j = 0, tiles = 0, tiles_per_item = 0;
    bool last = false;
    Place source, landing;
    AxisVector<int> begin_axes, send_axes;      ///< transformed before, per item and per tile
    AxisVector<int> receive_axes, finish_axes;  ///< transformed after, per tile and per item
    Ids ready, item_ready;  ///< operations that made the whole source, and that of the present item
    Ids landing_free;       ///< operations after which the landing half holds nothing needed
    std::vector<Ids> packed, posted, sent, arrived;  ///< per tile
    std::vector<int> members;                        ///< padded: of the exchange group
    bool keeps = false;                              ///< its own part does not go through the exchange
    bool on_arrival = false;                         ///< parts are unpacked one by one as they arrive
  };

  // The side that sends.

  /// The source of a reshape, whole or, where the first FFT can be done tile by tile, the place for it.
  void open_source(Reshape& r);
  /// Tile by tile; before the first of an item, what is transformed for the whole item.
  void send(Reshape& r, int k);
  /// A tile is posted once it is packed and the tile `window` before it has been received.
  void post(Reshape& r, int k, int window);
  void pad(Reshape& r);

  // The side that receives.

  /// Where the result lands, and what is left to do with it. What is unpacked last of all goes straight to
  /// the user.
  void open_landing(Reshape& r);
  /// Beside a direct exchange, what ranks of other machines send and are sent goes without packing.
  void open_far(const Reshape& r);
  void receive(Reshape& r, int k);
  /// What works tile by tile behind the exchange: unpacking, unless that is done on arrival, and the last FFT
  /// or the last copy. After the last tile of an item, what is transformed for the whole item.
  void transform_received(Reshape& r, int k);
  void finish(Reshape& r);

  // Both.

  Carry carry(const Reshape& r) const { return choice(r.j).carry; }
  Op op_of(const Reshape& r, OpKind kind, int k, int peer = -1) const {
    return Building::op_of(r.j, kind, k, peer);
  }
  TileMessages& messages(const Reshape& r, int k) {
    return p_.reshapes[static_cast<std::size_t>(r.j)].messages.tiles[static_cast<std::size_t>(k)];
  }
  TileMessages& far(const Reshape& r, int k) {
    return p_.reshapes[static_cast<std::size_t>(r.j)].far.tiles[static_cast<std::size_t>(k)];
  }
  Ids& of(std::vector<Ids>& per_tile, int k) { return per_tile[static_cast<std::size_t>(k)]; }
  /// The start of the workspace, in the memory order of `like`, without its gaps.
  static Place dense_work(const Place& like);

 private:
  /// Notes what a tile sends; returns where each part is to be copied, or nothing that has a size for what is
  /// sent from where it lies.
  std::vector<Place> open_sends(Reshape& r, int k, const std::vector<Overlap>& parts);
  /// Brings a piece of what the tile sends to a rank on its way.
  Ids copy_out(Reshape& r, int k, int rank, const Place& target, const Box& box, const Ids& ready);
  /// Direct: the peer's leave to put a tile, awaited once.
  Ids room(Reshape& r, int k, int peer);
  void begin_item(Reshape& r, int item);
  void tell(Reshape& r, int k, const std::vector<Overlap>& parts, const Ids& copies);

  /// What comes through the exchange.
  std::vector<Overlap> incoming(const Reshape& r, int k) const;
  /// Direct: waits for what peers put, and other machines send.
  void await_parts(Reshape& r, int k, const std::vector<Overlap>& parts);
  /// Nothing to unpack: the parts arrive where they belong.
  void complete(Reshape& r, int k);
  /// Unpacks what has arrived of a tile, as far as it lies in `within`.
  Ids unpack(Reshape& r, int k, const Box& within);
  void transform_tile(Reshape& r, int k);
  void finish_item(Reshape& r, int item);

  static void append(Ids& to, const Ids& more) { to.insert(to.end(), more.begin(), more.end()); }
  /// The parts of a tile that pass through the cache together.
  std::vector<Box> sub_boxes(const Reshape& r, const Box& part, const TileSide& side) const;
  /// Transforms a part of a tile, in so many calls or one more, between which the exchange can move on.
  Ids transform_part(int stage, const AxisVector<int>& axes, const Place& from, const Place& to,
                     const Box& part, const Ids& deps, int calls);
  /// Transforms what belongs to an item. Where the exchange of other items is under way meanwhile, it can
  /// move on as often as in all the item's tiles together; parameters change how that is done.
  Ids transform_item(const Reshape& r, int stage, const AxisVector<int>& axes, const Place& from,
                     const Place& to, int item, const Ids& deps, int tests);
  /// Spreads calls into the exchange evenly over operations.
  void test_while(const Ids& operations, int tests);
  /// Marks what no parameter of a pipeline changes.
  void same_in_all_trials(const Ids& operations);
  /// On the wire a part is dense, in the memory order of its receiver.
  Place wire(const Reshape& r, const Box& part, int receiver, Index offset, const Place& like) const;
  /// Whether a tile has messages.
  bool posts(const Reshape& r, int k) {
    return carry(r) != Carry::direct || !far(r, k).sends.empty() || !far(r, k).receives.empty();
  }

  std::map<std::array<int, 3>, int> rooms_;  ///< direct: await_free of (reshape, tile, peer)
  Ids input_readers_;  ///< in place: what has to be read before the first result is written
  Place landed_;       ///< the result of the reshape before
  Ids landed_ids_;     ///< what made it
};

}  // namespace weft
