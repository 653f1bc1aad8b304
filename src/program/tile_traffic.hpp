// How the tiles of pipelines planes and two-front get from rank to rank. On the host each sub-tile is brought
// on its way while it is in the cache: stored in its receiver's workspace where the exchange is direct, where
// the result belongs or, coded, in a receive buffer; else packed into the send buffer. Once a tile is
// complete, its receivers are signalled, or it is posted. The receiver reads packed parts from the receive
// buffer, sub-tile by sub-tile; an exchange that can receive into strided places leaves them in the result's
// layout. The two halves of the workspace take turns as receive buffer, and the send buffer is behind them.
// With two lanes (devices) whole tiles are sent: a pass leaves its result behind the halves, and parts for
// other ranks are taken from there while the next tile is transformed.
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

  bool arrives_packed(int j) const { return packs(w_.leg(j)) && !of(j).arrives_in_place; }

  /// Signals the senders of reshape `j` that they may store into this rank's workspace.
  void free(int j);
  /// With two lanes: where a pass leaves what a reshape sends.
  Place departing(int j) const {
    return w_.place.dense(w_.place.field_before(j), w_.rank, halves() * w_.place.staging_base(w_.rank));
  }
  /// What stays on this rank in reshape `j` goes to its place there, not to where parts of others arrive.
  void keep_at(int j, const Place& to) { of(j).kept_at = to; }
  /// Stores or packs a part of what reshape `j` sends, which is at `from`.
  void put(int j, const Place& from, const Box& part);
  /// Posts, or signals the receivers of, all tiles that have become complete, in order.
  void tell_complete(int j);
  /// Waits for all tiles that touch a part of the result.
  void await(int j, const Box& part);
  void await_all(int j) { await_tiles(j, tiles(j)); }
  /// Unpacks a part of what reshape `j` has received to its place at `to`.
  void gather(int j, const Box& part, const Place& to);
  /// Waits until all send buffers may be overwritten.
  void settle_all();

  const TileCut& cut() const { return cut_; }

 private:
  /// A reshape.
  struct Traffic {
    std::optional<Parcels> parcels;
    std::vector<Index> left;  ///< per tile, points that have not been put yet
    /// Per part that is sent, where it is copied to; empty before its first piece.
    std::vector<std::optional<Place>> targets;
    std::optional<Place> kept_at;   ///< empty: where the parts of others arrive
    Place departing;                ///< with two lanes: where all tiles lie
    Ids posts;                      ///< per tile
    bool arrives_in_place = false;  ///< dense parts do, each one piece of memory
    int told = 0, awaited = 0;
  };
  /// A tile that has been posted and whose send buffer may still be in use.
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
  /// Whether parts may lie anywhere in the workspace, each as one piece of memory.
  bool any_place(int j) const {
    return traits(j).any_place && traits(j).form == Form::dense && !w_.leg(j).codec;
  }
  void open(int j);
  /// Whether all parts of a tile for other ranks are sent from where the pass has left them, each part being
  /// one piece of memory.
  bool departs_in_place(int j, int k) const;
  int halves() const { return w_.place.reshapes() > 1 ? 2 : 1; }
  /// Where the send buffers begin.
  Index departure_base() const {
    return (halves() + (w_.request.two_lanes ? 1 : 0)) * w_.place.staging_base(w_.rank);
  }

  /// Copies a piece of part number `i` of what is sent.
  void bring(int j, std::size_t i, const Place& from, const Box& piece);
  /// Copies the part of a tile that stays on this rank, or those for other ranks.
  void bring_tile(int j, int k, bool stays, bool departs_in_place);
  void post(int j, int k);
  void tell(int j, int k);
  void await_tiles(int j, int wanted);
  /// Waits until no posted tile is sent from these bytes any more.
  void settle(Index first, Index last);

  ProgramWriter& w_;
  Sequence& sequence_;
  TileCut cut_;
  std::vector<Traffic> traffic_;
  std::vector<Leaving> leaving_;
};

}  // namespace weft
