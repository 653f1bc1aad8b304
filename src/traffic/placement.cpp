#include "traffic/placement.hpp"

#include <algorithm>

#include "geometry/layout.hpp"
#include "weft/error.hpp"

namespace weft {

Span span_of(const Operand& operand, const Shape& extents, int element_bytes) {
  Index elements = span_of(extents, operand.strides);
  if (const Cells& c = operand.cells; c && elements > 0)
    for (const int a : {c.fastest, c.across}) {
      const Index last = extents[a] - 1, stride = operand.strides[a];
      elements += c.elements_to(a, last, stride) - last * stride;
    }
  return {operand.space, operand.offset, operand.offset + elements * element_bytes};
}

Operand Place::at(const Box& part) const {
  Operand o{space, base, strides, cells};
  for (int a = 0; a < box.ndim(); ++a)
    if (!columns || a == batch_axis)
      o.offset += cells.elements_to(a, part.lo[a] - box.lo[a], strides[a]) * element_bytes;
  return o;
}

bool lies_packed(const Place& place, const Box& part, const Order& order) {
  const Strides dense = dense_strides(part.extents(), order);
  for (int a = 0; a < dense.size(); ++a)
    if (part.extent(a) > 1 && place.strides[a] != dense[a]) return false;
  return !place.cells;
}

bool lie_alike(const Place& a, const Place& b, const AxisVector<Transform>& transforms) {
  bool alike = a.base == b.base && a.columns == b.columns && a.cells == b.cells;
  for (int axis = 0; axis < a.strides.size(); ++axis) {
    const bool line = a.element_bytes != b.element_bytes && transforms[axis] == Transform::r2c;
    if (!line && a.box.extent(axis) != b.box.extent(axis)) return false;
    if (line) {
      alike = alike && a.strides[axis] == 1 && b.strides[axis] == 1;
    } else if (a.box.extent(axis) > 1) {
      alike = alike && a.strides[axis] * a.element_bytes == b.strides[axis] * b.element_bytes;
    }
  }
  return alike;
}

std::optional<Place> seen_before(const Place& result, const Place& source,
                                 const AxisVector<Transform>& transforms) {
  if (result.element == source.element) return result;
  const Place& complex = result.element == Element::complex ? result : source;
  Place seen = result;
  seen.element = source.element;
  seen.element_bytes = source.element_bytes;
  Index line_bytes = 0;
  for (int a = 0; a < result.strides.size(); ++a) {
    if (transforms[a] != Transform::r2c) continue;
    if (result.strides[a] != 1) return std::nullopt;
    seen.box.lo[a] = source.box.lo[a];
    seen.box.hi[a] = source.box.hi[a];
    line_bytes = complex.element_bytes * complex.box.extent(a);
  }
  for (int a = 0; a < result.strides.size(); ++a) {
    if (transforms[a] == Transform::r2c || result.box.extent(a) == 1) continue;
    const Index bytes = result.strides[a] * result.element_bytes;
    if (bytes % seen.element_bytes != 0 || bytes < line_bytes) return std::nullopt;
    seen.strides[a] = bytes / seen.element_bytes;
  }
  return seen;
}

namespace {
Index row_reals(const Place& coded) {
  return coded.box.extent(coded.row) * (coded.element == Element::real ? 1 : 2);
}
}  // namespace

Placement::Placement(const Schedule& schedule, const std::vector<Leg>& legs, int real_bytes)
    : schedule_(schedule), legs_(legs), real_bytes_(real_bytes), stages_(reshape_stages(schedule)) {}

int Placement::fft_stage(int j) const {
  const int stage = j < reshapes() ? stage_of(j) - 1 : static_cast<int>(schedule_.stages.size()) - 1;
  if (stage < 0 || at(schedule_.stages, stage).kind != Stage::Kind::fft) return -1;
  return stage;
}

const Field& Placement::field_before(int j) const {
  return at(schedule_.fields, stage_of(j));
}
const Field& Placement::field_after(int j) const {
  return at(schedule_.fields, stage_of(j) + 1);
}

int Placement::element_bytes(const Field& field) const {
  return field.element == Element::real ? real_bytes_ : 2 * real_bytes_;
}

Index Placement::largest_box(int rank) const {
  Index most = 0;
  for (const Field& f : schedule_.fields) most = std::max(most, f.box(rank).count() * element_bytes(f));
  return most;
}

Index Placement::staging_base(int rank) const {
  if (reshapes() == 0) return 0;
  Index most = largest_box(rank);
  for (int j = 0; j < reshapes(); ++j) {
    const Field& lands = field_after(j);
    if (leg(j).pads_rows())
      most = std::max(most,
                      span_of(lands.box(rank).extents(), padded_strides(lands, rank)) * element_bytes(lands));
  }
  return aligned(most);
}

Index Placement::receive_base(int j, int rank) const {
  if (leg(j).planes() != nullptr) return landing(j, rank).base;
  return (leg(j).traits.stores ? 2 : 1) * staging_base(rank);
}

Range Placement::held(int axis, int j, int rank) const {
  for (const Field* f : {&field_before(j), &field_after(j)}) {
    const Box b = f->box(rank);
    if (!b.empty()) return axis < 0 ? Range{0, 1} : Range{b.lo[axis], b.hi[axis]};
  }
  return {0, 0};
}

int Placement::tiles_per_item(int j, int rank) const {
  const Leg& c = leg(j);
  const Range r = held(c.axis, j, rank);
  const Index thickness = c.axis < 0 ? 1 : c.tile;
  return static_cast<int>((r.hi - r.lo + thickness - 1) / thickness);
}

int Placement::tiles(int j, int rank) const {
  const Range items = held(leg(j).item_axis(), j, rank);
  return static_cast<int>(items.hi - items.lo) * tiles_per_item(j, rank);
}

Box Placement::item(int j, int rank, int number, const Box& box) const {
  const int axis = leg(j).item_axis();
  if (axis < 0 || box.empty()) return box;
  Box part = box;
  part.lo[axis] = held(axis, j, rank).lo + number;
  part.hi[axis] = part.lo[axis] + 1;
  return part;
}

Box Placement::tile(int j, int rank, int k, const Box& box) const {
  const Leg& c = leg(j);
  if (c.axis < 0 || box.empty()) return box;
  const int each = tiles_per_item(j, rank), within = c.item_axis() < 0 ? k : k % each;
  const Range r = held(c.axis, j, rank);
  Box part = item(j, rank, k / each, box);
  part.lo[c.axis] = std::min(r.hi, r.lo + within * c.tile);
  part.hi[c.axis] = std::min(r.hi, r.lo + (within + 1) * c.tile);
  return part;
}

/// Bytes that one index of the cut axis takes in either half: the larger of what source and result hold of
/// it, of an item if each has tiles of its own.
Index Placement::unit_bytes(int j, int rank) const {
  const Leg& c = leg(j);
  Index most = 0;
  for (const Field* f : {&field_before(j), &field_after(j)}) {
    const Box b = item(j, rank, 0, f->box(rank));
    if (!b.empty()) most = std::max(most, b.count() / b.extent(c.axis) * element_bytes(*f));
  }
  return most;
}

Index Placement::tile_offset(int j, int rank, int k) const {
  const Leg& c = leg(j);
  if (c.axis < 0) return 0;
  const Range r = held(c.axis, j, rank);
  const int each = tiles_per_item(j, rank);
  return (k / each * (r.hi - r.lo) + k % each * c.tile) * unit_bytes(j, rank);
}

Index Placement::tile_room(int j, int rank, int k) const {
  const Index end = k + 1 < tiles(j, rank) ? tile_offset(j, rank, k + 1) : staging_base(rank);
  return end - tile_offset(j, rank, k);
}

Place Placement::tiled(const Field& field, int j, int rank, Index base) const {
  const Leg& c = leg(j);
  Place p = dense(field, rank, base);
  if (c.axis < 0) return p;
  Order order = axis_first(field.order(rank), c.axis);
  if (c.item_axis() >= 0) order = axis_first(order, c.item_axis());
  p.strides = dense_strides(p.box.extents(), order);
  p.strides[c.axis] = unit_bytes(j, rank) / p.element_bytes;
  if (c.item_axis() >= 0) p.strides[c.item_axis()] = p.box.extent(c.axis) * p.strides[c.axis];
  return p;
}

/// Planes cut the fastest axis of what they transform for the cache alone, at multiples of a block, counted
/// from the start of the sender's box. Tiles, and those of the reshape before, cut others anywhere.
bool Placement::cut_between_blocks(int j, int sender, int axis, const Box& part) const {
  const auto cuts = [&](const Leg& leg) {
    return leg.axis == axis || leg.planes() == nullptr || leg.planes()->columns == axis;
  };
  const Box box = field_before(j).box(sender);
  return !cuts(leg(j)) && (j == 0 || !cuts(leg(j - 1))) && part.lo[axis] == box.lo[axis] &&
         part.hi[axis] == box.hi[axis];
}

int Placement::row_axis(int j, int sender, const Box& part) const {
  constexpr Index long_enough = 64;
  const Order order = field_before(j).order(sender);
  const AxisVector<int> transformed = axes_of(schedule_, fft_stage(j));
  const Leg& leg = this->leg(j);
  const int fastest = order[order.size() - 1];
  const auto whole = [&](int a) {
    if (leg.planes() != nullptr)
      return transformed.contains(a) ||
             (a == fastest && (transformed.empty() || cut_between_blocks(j, sender, a, part)));
    const TileSide& side = leg.windowed().before;
    return a != leg.axis && a != leg.item_axis() && (side.cross_by == 0 || a != side.cross);
  };
  int best = -1;
  for (int i = order.size() - 1; i >= 0; --i) {
    const int a = order[i];
    if (!whole(a) || (best >= 0 && part.extent(a) <= part.extent(best))) continue;
    best = a;
    if (part.extent(a) >= long_enough) break;
  }
  return best;
}

Place Placement::packed(int j, int sender, int receiver, const Box& part, Index base) const {
  const Field& field = field_before(j);
  Place p{
      Space::work,          base,         part, dense_strides(part.extents(), field_after(j).order(receiver)),
      element_bytes(field), field.element};
  const Leg& leg = this->leg(j);
  if (!leg.codec || part.empty() || (sender == receiver && leg.traits.form != Form::padded)) return p;
  Place coded = p;
  coded.codec = leg.codec;
  coded.element_bytes = 1;
  coded.row = row_axis(j, sender, part);
  if (coded.row < 0) return p;
  Index next = row_bytes(leg.codec, part.extent(coded.row) * (p.element_bytes / real_bytes_), real_bytes_);
  const Order order = field.order(sender);
  for (int i = order.size() - 1; i >= 0; --i) {
    const int a = order[i];
    coded.strides[a] = a == coded.row ? 0 : next;
    if (a != coded.row) next *= part.extent(a);
  }
  return bytes_of(coded) < bytes_of(p) ? coded : p;
}

Index Placement::bytes_of(const Place& p) const {
  if (!p.codec) return p.box.count() * p.element_bytes;
  return p.box.count() / p.box.extent(p.row) * row_bytes(p.codec, row_reals(p), real_bytes_);
}

codec::VaryingRows Placement::varying(const Place& p) const {
  if (!p.codec || !p.codec.row->varies) return {};
  const Index reals = row_reals(p);
  return {p.box.count() / p.box.extent(p.row), row_bytes(p.codec, reals, real_bytes_), reals,
          p.codec.row->wire_bits(p.codec.bits, real_bytes_)};
}

Strides Placement::padded_strides(const Field& field, int rank) const {
  const Order order = field.order(rank);
  Shape extents = field.box(rank).extents();
  Index& row = extents[order[order.size() - 1]];
  row = padded_row(row, element_bytes(field));
  return dense_strides(extents, order);
}

Place Placement::dense(const Field& field, int rank, Index base) const {
  const Box box = field.box(rank);
  return {Space::work,          base,         box, dense_strides(box.extents(), field.order(rank)),
          element_bytes(field), field.element};
}

Place Placement::dense_work(const Place& like) {
  Place p = like;
  p.space = Space::work;
  p.base = 0;
  p.strides = dense_strides(like.box.extents(), order_of(like.strides));
  return p;
}

Place Placement::staging(int j, int rank) const {
  return tiled(field_before(j), j, rank, lands_in_staging(j) ? 0 : staging_base(rank));
}

Place Placement::landing(int j, int rank) const {
  if (const Planes* planes = leg(j).planes()) {
    Place p = dense(field_after(j), rank, lands_in_staging(j) ? staging_base(rank) : 0);
    if (planes->keeps_order && leg(j).traits.stores)
      p.strides = dense_strides(p.box.extents(), field_before(j).order(rank));
    return p;
  }
  Place p = tiled(field_after(j), j, rank, lands_in_staging(j) ? staging_base(rank) : 0);
  if (leg(j).pads_rows()) p.strides = padded_strides(field_after(j), rank);
  if (leg(j).in_cells()) put_in_cells(p, j, field_after(j).order(rank));
  return p;
}

void Placement::put_in_cells(Place& p, int j, const Order& order) const {
  Cells& c = p.cells;
  c.fastest = order[order.size() - 1];
  for (const int a : at(schedule_.stages, fft_stage(j)).axes)
    if (a != c.fastest && p.box.extent(a) > 1) c.across = a;
  c.points = points_of_cell(p.element_bytes);
  c.rows = rows_of_cell;
  if (c.across < 0 || p.box.extent(c.fastest) % c.points != 0 || p.box.extent(c.across) % c.rows != 0 ||
      !leg(j).traits.stores || leg(j).codec)
    throw Error("plan", "a box that does not consist of cells", "whole cells that are stored as they are");
  p.strides[c.fastest] = 1;
  p.strides[c.across] = c.points;
  Index next = c.points * c.rows;
  for (int i = order.size() - 1; i >= 0; --i) {
    const int a = order[i];
    if (a == c.fastest || a == c.across) continue;
    p.strides[a] = next;
    next *= p.box.extent(a);
  }
  c.next_points = next;
  c.next_rows = next * (p.box.extent(c.fastest) / c.points);
}

bool Placement::lands_in_staging(int j) const {
  return j % 2 == 1 && (leg(j).planes() != nullptr || leg(j).in_turn());
}

Place Placement::user(const Field& field, Space space, int rank, const Layout& layout) const {
  const int bytes = element_bytes(field);
  const Box box = field.box(rank);
  const Strides strides =
      layout.strides.empty() ? dense_strides(box.extents(), field.order(rank)) : layout.strides;
  Place p{space, layout.offset * bytes, box, strides, bytes, field.element};
  if (!field.columns) return p;
  const int batch = schedule_.batch_axis;
  p.strides = dense_strides(box.extents(), field.order(rank));
  if (batch >= 0)
    p.strides[batch] = layout.strides.empty() ? schedule_.columns->modes_of(rank) : layout.strides.back();
  p.batch_axis = batch;
  p.columns = true;
  return p;
}

}  // namespace weft
