// How the tiles of pipelines planes and two-front get from rank to rank. What a sub-tile leaves in the cache
// is stored in its receiver's workspace where the exchange is direct, else packed where it waits for its
// departure; a tile is told of, or posted, once all of it is there. What is sent packed stays packed where it
// arrives, and is read from there sub-tile by sub-tile, unless the exchange can leave it where it belongs.
// The halves of the workspace take turns as the place of arrival, and behind them lies what departs. With two
// lanes a tile departs as a whole: a pass leaves its result behind the halves, and what goes to other ranks
// is taken from there while the next tile is transformed.
#pragma once

#include <optional>
#include <vector>

#include "program/sequence.hpp"
#include "traffic/parcels.hpp"
#include "traffic/tile_cut.hpp"

namespace weft {

class TileTraffic {
 public:
  TileTraffic(ProgramWriter& writer, Sequence& sequence);

  bool arrives_packed(int j) const { return sends_packed(j) && !of(j).arrives_in_place; }

  /// Tells peers that they may put.
  void free(int j);
  /// With two lanes: where a pass leaves what a reshape sends.
  Place departing(int j) const {
    return w_.place.dense(w_.place.field_before(j), w_.rank, halves() * w_.place.staging_base(w_.rank));
  }
  /// Brings a part of what is sent, that lies at `from`, on its way.
  void put(int j, const Place& from, const Box& part);
  /// Tells of all tiles that have become complete, in order.
  void tell_complete(int j);
  /// Waits for all tiles that touch a part of the result.
  void await(int j, const Box& part);
  void await_all(int j) { await_tiles(j, tiles(j)); }
  /// Copies a part of what has arrived packed to its place at `to`.
  void gather(int j, const Box& part, const Place& to);
  /// Waits until everything has left.
  void settle_all();

  const TileCut& cut() const { return cut_; }

 private:
  /// A reshape.
  struct Traffic {
    std::optional<Parcels> parcels;
    std::vector<Index> left;  ///< per tile, points that have not been put yet
    /// Per part that is sent, where it is copied to; empty before its first piece.
    std::vector<std::optional<Place>> targets;
    Place departing;                ///< with two lanes: where all tiles lie
    Ids posts;                      ///< per tile
    bool arrives_in_place = false;  ///< dense parts do, each one piece of memory
    int told = 0, awaited = 0;
  };
  /// A tile that has been posted and may not have left yet.
  struct Leaving {
    int j, tile, post;
    Index first, last;  ///< bytes
  };

  Traffic& of(int j) { return at(traffic_, j); }
  const Traffic& of(int j) const { return at(traffic_, j); }
  const ExchangeTraits& traits(int j) const { return w_.leg(j).traits; }
  int tiles(int j) const { return static_cast<int>(of(j).left.size()); }
  TileMessages& sent(int j, int k) { return at(at(w_.program.reshapes, j).sent.tiles, k); }
  TileMessages& stored(int j, int k) { return at(at(w_.program.reshapes, j).stored.tiles, k); }
  bool sends_packed(int j) const { return traits(j).form != Form::boxes; }
  void open(int j);
  /// Whether all that a tile sends to other ranks goes from where the pass has left it, each part one piece.
  bool departs_in_place(int j, int k) const;
  /// Whether tiles that are complete at the same time go there as one: what is stored, and what stays.
  bool at_once(int j, int peer) const {
    return !w_.request.two_lanes && of(j).parcels->route(peer) != Route::send;
  }
  int halves() const { return w_.place.reshapes() > 1 ? 2 : 1; }
  /// Of messages.
  Index departure_base() const {
    return (halves() + (w_.request.two_lanes ? 1 : 0)) * w_.place.staging_base(w_.rank);
  }

  /// Copies a piece of part number `i` of what is sent.
  void bring(int j, std::size_t i, const Place& from, const Box& piece);
  /// The part of a tile that stays here, or those that do not.
  void bring_tile(int j, int k, bool stays, bool departs_in_place);
  void post(int j, int k);
  void tell(int j, int k);
  void await_tiles(int j, int wanted);
  /// Waits until nothing of what has been posted is still to leave these bytes.
  void settle(Index first, Index last);

  ProgramWriter& w_;
  Sequence& sequence_;
  TileCut cut_;
  std::vector<Traffic> traffic_;
  std::vector<Leaving> leaving_;
};

}  // namespace weft
