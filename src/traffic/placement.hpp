// Where the fields of a schedule are in a rank's workspace. The workspace has two halves. *Staging*, the
// second one, has the source of a reshape; *landing*, the first one, gets its result. With planes, and where
// reshapes land in turn, every second reshape has them the other way round. A buffered exchange
// needs no more memory than that: the source of tile k is not needed once it is packed, so its memory is the
// tile's receive buffer, and the result of tile k is not there before it is unpacked, so its memory is the
// tile's send buffer (ADR 0003). Everything here follows from the schedule and the legs, so that a rank also
// knows the layouts of its peers.
#pragma once

#include <optional>
#include <vector>

#include "base/arithmetic.hpp"
#include "codec/block.hpp"
#include "geometry/layout.hpp"
#include "schedule/schedule.hpp"
#include "traffic/leg.hpp"
#include "traffic/messages.hpp"

namespace weft {

/// A box that lies somewhere with certain strides. A coded part is one of rows (codec/codec.hpp): the strides
/// along the other axes are in bytes, as if that were the size of an element.
struct Place {
  Space space = Space::work;
  Index base = 0;  ///< bytes
  Box box;
  Strides strides;
  int element_bytes = 0;
  Element element = Element::complex;
  Codec codec = {};
  int row = -1;  ///< coded: the axis of the rows
  /// Of a user's array of modes in columns: that of a batch, or -1. Strides along the other axes only say in
  /// which order they are passed; parts of one item begin where the item does.
  int batch_axis = -1;
  bool columns = false;
  Cells cells = {};

  /// A part of the box, in place.
  Operand at(const Box& part) const;
};

/// Whether a part of a place is one piece of memory, in this order.
bool lies_packed(const Place& place, const Box& part, const Order& order);

/// Whether a transform from one place to the other can be done in place without memory aside: they have the
/// same strides in bytes, but for the lines of an r2c axis, which are contiguous on both, and no other axis
/// changes its length.
bool lie_alike(const Place& a, const Place& b, const AxisVector<Transform>& transforms);

/// The memory of `result` as a transform in place finds it: with the elements of `source`, lines of an r2c
/// axis beginning where they do afterwards. Nothing where these are not contiguous, or have no room for their
/// complex elements.
std::optional<Place> seen_before(const Place& result, const Place& source,
                                 const AxisVector<Transform>& transforms);

/// The points of a block of a coded row (codec/block.hpp).
inline Index block_points(Element element) {
  return element == Element::real ? codec::block_reals : codec::block_reals / 2;
}

/// GPUs store so many bytes on a peer in one message of the link.
inline constexpr Index bytes_at_a_time = 128;

/// Elements from one padded row to the next (`Windowed::pads_rows`).
constexpr Index padded_row(Index elements, Index element_bytes) {
  return rounded_up<Index>(elements, bytes_at_a_time / element_bytes);
}

/// Of the cells of `Windowed::in_cells`: their rows, and the points of these.
inline constexpr Index rows_of_cell = 2;
constexpr Index points_of_cell(Index element_bytes) {
  return bytes_at_a_time / rows_of_cell / element_bytes;
}

class Placement {
 public:
  Placement(const Schedule& schedule, const std::vector<Leg>& legs, int real_bytes);

  int reshapes() const { return static_cast<int>(stages_.size()); }
  /// Stage index of the local FFT before reshape j (after the last one for j = reshapes()), or -1.
  int fft_stage(int j) const;
  const Field& field_before(int j) const;  ///< the source field of reshape j
  const Field& field_after(int j) const;   ///< the result field of reshape j
  int stage_of(int j) const { return at(stages_, j); }
  int element_bytes(const Field& field) const;
  const Leg& leg(int j) const { return at(legs_, j); }

  /// Bytes of the largest box that `rank` holds in any stage.
  Index largest_box(int rank) const;
  /// The source of reshape j in the half of `rank` where it does not land.
  Place staging(int j, int rank) const;
  /// The result of reshape j in the half of `rank` where it lands; dense, but for rows that are padded, and
  /// maybe in cells.
  Place landing(int j, int rank) const;
  /// The send or receive buffer of a part of reshape j, from `base` on. It is dense in the memory order of
  /// the receiver, unless the part is coded: if the leg says so and it is shorter for that. A part that does
  /// not leave its rank is coded only where all parts have room for the largest.
  Place packed(int j, int sender, int receiver, const Box& part, Index base) const;
  /// The bytes of it. Nothing else computes what a part takes on the wire.
  Index wire_bytes(int j, int sender, int receiver, const Box& part) const {
    return leg(j).codec ? bytes_of(packed(j, sender, receiver, part, 0))
                        : part.count() * element_bytes(field_before(j));
  }
  /// The rows of a part whose length varies; none of any other.
  codec::VaryingRows varying(const Place& packed) const;
  /// The axis along which a part that `sender` sends is coded in rows, or -1 if there is none: one that no
  /// pipeline cuts among what it packs at a time, or only between blocks.
  int row_axis(int j, int sender, const Box& part) const;
  /// What `rank` holds of a field, dense in the workspace from `base` on.
  Place dense(const Field& field, int rank, Index base) const;
  /// At the start of the workspace, in the memory order of `like`, without its gaps.
  static Place dense_work(const Place& like);
  /// A box in the user's memory; dense if the layout has no strides.
  Place user(const Field& field, Space space, int rank, const Layout& layout) const;
  Index staging_base(int rank) const;
  /// Where the receive buffers of reshape j begin. Stored parts cannot wait until the source of their tile is
  /// packed, as messages do: without planes they have memory behind both halves.
  Index receive_base(int j, int rank) const;

  /// Tiles of reshape j on `rank`; 0 if it has no part in it. They are numbered item by item, if each item
  /// of a batch has tiles of its own.
  int tiles(int j, int rank) const;
  /// How many of them make an item, or all if items have none of their own.
  int tiles_per_item(int j, int rank) const;
  /// The part of `box` that belongs to tile k.
  Box tile(int j, int rank, int k, const Box& box) const;
  /// The part of `box` that belongs to an item; all if items have no tiles of their own.
  Box item(int j, int rank, int number, const Box& box) const;
  /// Where tile k starts in either half, in bytes from the half's start.
  Index tile_offset(int j, int rank, int k) const;
  /// Bytes between there and what follows: the next tile, or the end of the half.
  Index tile_room(int j, int rank, int k) const;

 private:
  bool cut_between_blocks(int j, int sender, int axis, const Box& part) const;
  /// Of a send or receive buffer.
  Index bytes_of(const Place& packed) const;
  /// What `rank` holds of an axis before and after reshape j, alike: one index if there is no such axis.
  Range held(int axis, int j, int rank) const;
  Index unit_bytes(int j, int rank) const;
  Place tiled(const Field& field, int j, int rank, Index base) const;
  /// Strides of a box that lands with padded rows.
  Strides padded_strides(const Field& field, int rank) const;
  /// In cells of the fastest axis and the other one that is transformed before the reshape.
  void put_in_cells(Place& landing, int j, const Order& order) const;
  bool lands_in_staging(int j) const;

  const Schedule& schedule_;
  const std::vector<Leg>& legs_;
  int real_bytes_;
  std::vector<int> stages_;
};

/// Rounded up to what parts of the workspace begin on.
constexpr Index aligned(Index bytes) {
  return rounded_up<Index>(bytes, 64);
}

}  // namespace weft
