#include "traffic/tile_cut.hpp"

#include <algorithm>
#include <utility>

namespace weft {

namespace {
/// [from, to) of a box along an axis, counted from its start.
Box slice(Box box, int axis, Index from, Index to) {
  const Index lo = box.lo[axis], hi = box.hi[axis];
  box.lo[axis] = std::min(hi, lo + from);
  box.hi[axis] = std::min(hi, lo + to);
  return box;
}
}  // namespace

std::vector<Index> ends_of_tiles(Index extent, Index tile, Thickness thickness) {
  const auto tiles = divided_up<Index>(extent, tile);
  const Index lacks = thickness == Thickness::thin_first ? tiles * tile - extent : 0;
  const bool alike = thickness == Thickness::thin_first || thickness == Thickness::thin_last;
  std::vector<Index> ends;
  for (Index i = 1; i < tiles; ++i) {
    // Tiles in proportion to 1, 2, 3 ..., and none of them empty.
    const Index grown = extent * i * (i + 1) / (tiles * (tiles + 1));
    ends.push_back(alike ? i * tile - lacks : std::max(grown, ends.empty() ? 1 : ends.back() + 1));
  }
  if (thickness == Thickness::shrinking) {
    std::ranges::reverse(ends);
    for (Index& end : ends) end = extent - end;
  }
  ends.push_back(extent);
  return ends;
}

Index front_of(Index columns, Index percent) {
  return (columns * percent + 99) / 100;
}

std::vector<Box> TileCut::planes(int j, const Box& box) const {
  const Leg& leg = place_.leg(j);
  if (box.empty()) return {};
  if (leg.axis < 0) return {box};
  const std::vector<Index> ends = ends_of_tiles(box.extent(leg.axis), leg.tile, cut(j).thickness);
  std::vector<Box> tiles;
  Index from = 0;
  for (const Index to : ends) tiles.push_back(slice(box, leg.axis, std::exchange(from, to), to));
  return tiles;
}

/// The front, and then the tiles of the rest, empty ones too.
std::vector<Box> TileCut::columns(int j, const Box& box) const {
  const Planes& c = cut(j);
  if (box.empty()) return {};
  if (c.rest == 0) return {box};
  const Index extent = box.extent(c.columns), front = front_of(extent, c.front);
  const Index by = divided_up<Index>(extent - front, c.rest);
  std::vector<Box> tiles{slice(box, c.columns, 0, front)};
  for (int i = 0; i < c.rest; ++i)
    tiles.push_back(slice(box, c.columns, front + i * by, front + (i + 1) * by));
  return tiles;
}

std::vector<TileCut::Part> TileCut::parts(int j, int from, int to, bool at_once) const {
  const Planes& c = cut(j);
  const Box sent = place_.field_before(j).box(from), received = place_.field_after(j).box(to);
  const Box both = intersect(sent, received);
  if (both.empty()) return {};
  std::vector<Part> parts;
  const auto add = [&](int tile, const Box& box) {
    const Box part = intersect(both, box);
    if (!part.empty()) parts.push_back({tile, part});
  };
  const std::vector<Box> cols = columns(j, c.cuts_after ? sent : received);
  const auto add_rest = [&](int first) {
    if (c.rest == 0) return;
    Box all = cols[1];
    all.hi[c.columns] = cols.back().hi[c.columns];
    const bool together = at_once && !c.cuts_after;
    if (together) add(first, all);
    for (int i = 0; i < c.rest && !together; ++i) add(first + i, cols[static_cast<std::size_t>(i) + 1]);
  };
  if (c.cuts_after) add_rest(0);
  int tile = c.cuts_after ? c.rest : 0;
  if (at_once && c.cuts_after) {
    add(tile, cols[0]);
  } else {
    for (const Box& plane : planes(j, c.cuts_after ? received : sent))
      add(tile++, intersect(plane, intersect(both, cols[0])));
  }
  if (!c.cuts_after) add_rest(place_.leg(j).tiles - c.rest);
  return parts;
}

std::vector<Box> TileCut::sending(int j, int rank) const {
  const Box box = place_.field_before(j).box(rank);
  if (!cut(j).cuts_after) return planes(j, box);
  // The mirror of how columns are received.
  std::vector<Box> tiles = columns(j, box);
  if (!tiles.empty()) std::rotate(tiles.begin(), tiles.begin() + 1, tiles.end());
  return tiles;
}

std::vector<Box> TileCut::receiving(int j, int rank) const {
  const Box box = place_.field_after(j).box(rank);
  return cut(j).cuts_after ? planes(j, box) : columns(j, box);
}

std::vector<Box> TileCut::arriving(int j, int rank) const {
  std::vector<Part> all;
  for (const Overlap& o : place_.field_before(j).tiling->overlaps(place_.field_after(j).box(rank))) {
    const std::vector<Part> its = parts(j, o.rank, rank, false);
    all.insert(all.end(), its.begin(), its.end());
  }
  std::stable_sort(all.begin(), all.end(), [](const Part& a, const Part& b) { return a.tile < b.tile; });
  std::vector<Box> boxes;
  for (const Part& p : all) boxes.push_back(p.box);
  return boxes;
}

}  // namespace weft
