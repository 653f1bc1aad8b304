// Makes the program of one rank for pipelines whose tiles cut both sides of a reshape alike: *windowed*,
// *th*, and *sequential*, which has one tile. What a rank sends is in sending.cpp, what it receives in
// receiving.cpp, the order of both and what they share in windowed.cpp.
#pragma once

#include <optional>

#include "program/program_writer.hpp"

namespace weft {

/// Which axes of a local FFT can be done tile by tile, and which need the whole box, or item of a batch,
/// because the tiles cut one of them. The real axis has to be transformed first going forward and last going
/// backward. Axes whose length changes are transformed together.
struct AxisSplit {
  AxisVector<int> whole, tile;
};

AxisSplit split_axes(const Schedule& schedule, int stage, int cut, bool sends);

class WindowedBuilder {
 public:
  WindowedBuilder(const Schedule& schedule, const std::vector<Leg>& legs, const ProgramRequest& request)
      : w_(schedule, legs, request) {}
  Program build();

 private:
  struct Reshape {
    int j = 0, tiles = 0, tiles_per_item = 0;
    bool last = false;
    Place source, landing;
    AxisVector<int> begin_axes, send_axes;      ///< transformed before, per item and per tile
    AxisVector<int> receive_axes, finish_axes;  ///< transformed after, per tile and per item
    Ids ready, item_ready;  ///< operations that made the whole source, and that of the present item
    Ids landing_free;       ///< operations after which the landing half holds nothing needed
    std::vector<Ids> packed, posted, arrived;  ///< per tile
    bool keeps = false;                        ///< its own part does not go through the exchange
    bool on_arrival = false;                   ///< parts are unpacked one by one as they arrive
    std::optional<Parcels> parcels;
  };

  void build_reshape(int j);
  /// What is sent and received, tile by tile, and where it lies meanwhile.
  void open_parcels(Reshape& r);
  void run_tiles(Reshape& r);

  // The side that sends.

  /// The source of a reshape, whole or, where the first FFT can be done tile by tile, the place for it.
  void open_source(Reshape& r);
  /// Transforms and packs tile `k`. Before the first tile of an item come the axes that are transformed for
  /// the whole item.
  void send(Reshape& r, int k);
  /// A tile is posted once it is packed and the tile `window` before it has been received.
  void post(Reshape& r, int k, int window);

  // The side that receives.

  /// Decides where the result is received and which axes remain to be transformed. The last reshape unpacks
  /// straight into the user's array where no FFT follows.
  void open_landing(Reshape& r);
  void receive(Reshape& r, int k);
  /// Unpacks tile `k`, unless that was done on arrival, and transforms or copies it. After the last tile of
  /// an item come the axes that are transformed for the whole item.
  void transform_received(Reshape& r, int k);
  void finish(Reshape& r);

  // Both.

  const ExchangeTraits& traits(const Reshape& r) const { return w_.leg(r.j).traits; }
  const Windowed& cut(const Reshape& r) const { return w_.leg(r.j).windowed(); }
  /// Whether parts arrive where they belong, without unpacking.
  bool arrives_in_place(const Reshape& r) const { return !packs(w_.leg(r.j)); }
  Op op_of(const Reshape& r, OpKind kind, int k, int peer = -1) const { return w_.op_of(r.j, kind, k, peer); }
  TileMessages& sent(const Reshape& r, int k) { return at(at(w_.program.reshapes, r.j).sent.tiles, k); }
  Ids& of(std::vector<Ids>& per_tile, int k) { return at(per_tile, k); }

  /// Where a part is copied to; nothing for a part that is sent without a copy.
  std::optional<Place> target(const Reshape& r, const Parcel& parcel) const;
  void begin_item(Reshape& r, int item);
  void tell(Reshape& r, int k, const Ids& copies);

  /// Direct exchange: waits for the parts that peers store, and for messages of ranks that cannot store.
  void await_parts(Reshape& r, int k);
  /// Completes a tile whose parts are received without unpacking.
  void complete(Reshape& r, int k);
  /// Unpacks the parts of a tile, as far as they are in `within`.
  Ids unpack(Reshape& r, int k, const Box& within);
  void transform_tile(Reshape& r, int k);
  void finish_item(Reshape& r, int item);

  /// The parts of a tile that pass through the cache together.
  std::vector<Box> sub_boxes(const Reshape& r, const Box& part, const TileSide& side) const;
  /// Transforms a part of a tile in about so many calls, between which the exchange can make progress.
  Ids transform_part(int stage, const AxisVector<int>& axes, const Place& from, const Place& to,
                     const Box& part, const Ids& deps, int calls);
  /// Transforms a whole item. If other items are exchanged meanwhile, it is done in as many calls as the
  /// tiles of the item would be together, so that the exchange can make progress as often.
  Ids transform_item(const Reshape& r, int stage, const AxisVector<int>& axes, const Place& from,
                     const Place& to, int item, const Ids& deps, int tests);
  /// Spreads calls into the exchange evenly over operations.
  void test_while(const Ids& operations, int tests);
  /// Marks operations that no parameter of a pipeline changes; trials of parameters leave them out.
  void same_in_all_trials(const Ids& operations);

  ProgramWriter w_;
  Ids input_readers_;  ///< in place: what has to be read before the first result is written
  Place landed_;       ///< the result of the reshape before
  Ids landed_ids_;     ///< what made it
};

}  // namespace weft
