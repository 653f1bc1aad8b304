// How the tiles of pipelines planes and two-front get from rank to rank. On the host each sub-tile is brought
// on its way while it is in the cache: stored in its receiver's workspace where the exchange is direct, where
// the result belongs or, coded, in a receive buffer; else packed into the send buffer. Once a tile is
// complete, its receivers are signalled, or it is posted. The receiver reads packed parts from the receive
// buffer, sub-tile by sub-tile; an exchange that can receive into strided places leaves them in the result's
// layout. The two halves of the workspace take turns as receive buffer, and the send buffer is behind them.
// With two lanes (devices) whole tiles are sent: a pass leaves its result behind the halves, and parts for
// other ranks are taken from there. Where they are packed first, there is room for what a pass leaves at a
// time instead of for all of it, and the half that a pass has read holds what it packs last (ADR 0071).
#pragma once

#include <cstdint>
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

  /// Whether what reshape `j` sends waits in the half where the next reshape lands.
  bool sends_from_half(int j) const { return of(j).sends_from_half; }
  /// With two lanes: whether messages of reshape `j` are sent from where a pass has left all of it.
  bool sends_what_is_left(int j) const { return of(j).lying == Lying::in_all; }
  /// Signals the senders of reshape `j` that they may store into this rank's workspace.
  void free(int j);
  /// What reshape `j` sends, behind the halves, dense or with rows as a c2r in place leaves them. With two
  /// lanes a pass leaves it there if there is room.
  Place departing(int j) const;
  /// With two lanes: where a pass leaves a part of it. What was left there before has been taken by then.
  Place departing(int j, const Box& part);
  /// What stays on this rank in reshape `j` goes to its place there, not to where parts of others arrive.
  void keep_at(int j, const Place& to) { of(j).kept_at = to; }
  /// What stays on this rank in reshape `j` is not brought anywhere: it is read where it lies before it.
  void leave_at(int j, const Place& from) { of(j).left_at = from; }
  /// Stores or packs a part of what reshape `j` sends, which is at `from`.
  void put(int j, const Place& from, const Box& part);
  /// Posts, or signals the receivers of, all tiles that have become complete, in order.
  void tell_complete(int j);
  /// Waits for all tiles that touch a part of the result.
  void await(int j, const Box& part);
  void await_all(int j) { await_tiles(j, tiles(j)); }
  /// Unpacks a part of what reshape `j` brings to its place at `to`, tile by tile as they arrive.
  void gather(int j, const Box& part, const Place& to);
  /// Whether all parts that reshape `j` brings have all points along an axis.
  bool is_whole_in_parts(int j, int axis) const;
  /// How many of these parts have points of a box.
  int parts_that_meet(int j, const Box& box) const;
  /// Transform a box of what reshape `j` brings along axes that are whole in its parts, from where it is to
  /// its place at `to`: what has stayed on this rank, and what comes from others, tile by tile.
  void transform_own_part(int j, const Box& box, const AxisVector<int>& axes, const Place& to) {
    transform(j, box, axes, to, true);
  }
  void transform_parts_of_others(int j, const Box& box, const AxisVector<int>& axes, const Place& to) {
    transform(j, box, axes, to, false);
  }
  /// With two lanes: memory of so many bytes in which the last pass may put in order what it reads. Nothing
  /// if there is none.
  std::optional<ByteRange> free_for_last_pass(Index bytes) const;
  /// Before something computed for reshape `j` is stored there: waits until nothing is sent from these bytes
  /// any more, or read by puts of other reshapes.
  void take(int j, Index first, Index last) {
    settle(first, last);
    follow_puts(j, first, last);
  }
  /// Waits until all send buffers may be overwritten.
  void settle_all();

  const TileCut& cut() const { return cut_; }

 private:
  /// Whether tiles are sent from where the pass has left them: all of it in one layout, or one step behind
  /// the other, each dense.
  enum class Lying : std::uint8_t { no, in_all, in_steps };
  /// A reshape.
  struct Traffic {
    std::optional<Parcels> parcels;
    std::vector<Index> left;  ///< per tile, points that have not been put yet
    /// Per part that is sent, where it is copied to; empty before its first piece.
    std::vector<std::optional<Place>> targets;
    std::optional<Place> kept_at;   ///< empty: where the parts of others arrive
    std::optional<Place> left_at;   ///< where what stays on this rank lies before the reshape, and is read
    Ids posts;                      ///< per tile
    bool arrives_in_place = false;  ///< dense parts do, each one piece of memory
    int told = 0, awaited = 0;
    // With two lanes:
    Place departing;         ///< where a pass has left the tiles that are complete
    std::vector<Box> steps;  ///< what a pass leaves, in its order
    Lying lying = Lying::no;
    int slots = 0;              ///< so many steps have room behind the halves; 0: all of them
    Index slot_bytes = 0;       ///< of a step
    std::vector<Ids> moved;     ///< per step that has begun, what had been moved before
    std::vector<bool> at_once;  ///< per tile: its parts of a step are taken before the next step
    std::vector<Ids> packed;    ///< per such tile, the newest operation that has packed some of it
    std::vector<bool> in_half;  ///< per tile: its send buffers are in the half where it does not land
    bool sends_from_half = false;
  };
  /// With two lanes: what has been put into a peer's workspace may still be read there.
  struct Putting {
    int j;
    Ids moved;
    Index first, last;  ///< bytes
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
  /// Those of all reshapes are opened before what is sent has its places.
  void open_receives(int j);
  void open_sends(int j);
  int halves() const { return w_.place.reshapes() > 1 ? 2 : 1; }
  Index half_bytes() const { return w_.place.staging_base(w_.rank); }
  /// Where what stays on this rank begins where reshape `j` lands; the end of that half if nothing stays.
  Index first_of_own(int j) const;
  /// With two lanes: whether what reshape `j` sends is what a pass has left, not an array or half itself.
  bool is_left(int j) const;
  /// What a pass leaves one after the other of what reshape `j` sends.
  std::vector<Box> steps(int j) const;
  /// A part of what a pass leaves of what reshape `j` sends, by itself: dense, but where a c2r makes it in
  /// place, rows of real numbers have room for complex ones.
  Place departing(int j, const Box& part, Index base) const;
  Index departing_bytes(int j, const Box& part) const;
  Shape departing_extents(int j, const Box& part) const;
  /// Where a step is left that is dense by itself: in a slot, or behind the steps before it.
  Place step_of(int j, int step) const;
  /// Whether every part that is sent is one piece of memory then.
  Lying lying(int j) const;
  /// Per tile: the step after which it is told.
  std::vector<int> steps_of_tiles(int j) const;
  /// Of what a pass makes of what reshape `j - 1` brings.
  Box last_part(int j) const;
  /// Per tile, of its send buffers.
  std::vector<Index> bytes_sent(int j) const;
  /// Divides what is behind the halves among what a pass leaves and the send buffers.
  void make_room(int j);

  /// Where a part is read that has arrived packed, or has stayed.
  Place arrived(int j, const Parcel& part) const {
    const Traffic& t = of(j);
    return part.route == Route::stay && t.left_at ? *t.left_at : t.parcels->receive_buffer(part);
  }
  /// Copies a piece of part number `i` of what is sent.
  void bring(int j, std::size_t i, const Place& from, const Box& piece);
  /// Copies the part of a tile that stays on this rank, or those for other ranks.
  void bring_tile(int j, int k, bool stays);
  void post(int j, int k);
  void tell(int j, int k);
  void await_tiles(int j, int wanted);
  void transform(int j, const Box& box, const AxisVector<int>& axes, const Place& to, bool own);
  /// Waits until no posted tile is sent from these bytes any more, or from the half where reshape `j` lands.
  /// `for_device`: a device is to carry something there next. It begins when what it has carried before is
  /// over, so that only tiles that the host carries are waited for.
  void settle(Index first, Index last, bool for_device = false);
  void settle_half(int j, bool for_device = false);
  /// What is computed from now on, for reshape `j`, follows all puts of other reshapes that read these bytes.
  /// Puts of reshape `j` itself read other parts of what passes leave.
  void follow_puts(int j, Index first, Index last);

  ProgramWriter& w_;
  Sequence& sequence_;
  TileCut cut_;
  std::vector<Traffic> traffic_;
  std::vector<Leaving> leaving_;
  std::vector<Putting> putting_;  ///< in the order in which they are put
};

}  // namespace weft
