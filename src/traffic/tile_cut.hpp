// How pipelines planes and two-front cut a reshape into tiles. Of its two sides one is that of the *planes*:
// they go out, or are worked on as they come in, tile by tile. The other is that of the *columns*, which
// two-front divides into a front and the rest: the front travels with the planes, the rest in column tiles of
// its own, after the planes going out and before them coming in. Everything follows from the schedule alone,
// so that a rank also knows the tiles of its peers.
#pragma once

#include <vector>

#include "traffic/placement.hpp"

namespace weft {

/// Where tiles end along an axis, of which there are as many as tiles of thickness `tile` make: the last one
/// at `extent`, and none of them empty. Those that grow or shrink are at most a few thousand.
std::vector<Index> ends_of_tiles(Index extent, Index tile, Thickness thickness);

/// Of so many columns, those of the front.
Index front_of(Index columns, Index percent);

class TileCut {
 public:
  struct Part {
    int tile;
    Box box;
  };

  explicit TileCut(const Placement& place) : place_(place) {}

  /// What `from` sends to `to` in reshape j, by ascending tile, without empty parts. `at_once`: the tiles
  /// that are complete only when the sender has finished are one part, in the first of them.
  std::vector<Part> parts(int j, int from, int to, bool at_once) const;

  /// What a rank holds before and after the reshape, in the order in which it works on it.
  std::vector<Box> sending(int j, int rank) const;
  std::vector<Box> receiving(int j, int rank) const;
  /// Part by part, by ascending tile, as all of it arrives.
  std::vector<Box> arriving(int j, int rank) const;

 private:
  const Planes& cut(int j) const { return *place_.leg(j).planes(); }
  std::vector<Box> planes(int j, const Box& box) const;
  std::vector<Box> columns(int j, const Box& box) const;

  const Placement& place_;
};

}  // namespace weft
