// FFTs along two axes in one launch: plain data of the step, and the order of its tiles.
//
// The lines along one axis of each plane are stored transposed in a ring of planes, most of which remains
// in the cache, and the lines along the other axis of the plane are read from there. Where the latter store
// on peers, links are busy while the former of later planes are computed.
//
// Blocks of threads take tiles in a fixed order, and wait until others are done with the tiles that theirs
// needs. All of these come before theirs, so that the first tile that is not done waits for none: however few
// blocks run at a time, all tiles will be done.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/anywhere.hpp"
#include "kernels/lines/step.hpp"

namespace weft {

/// The last loops of both steps are the same ones over the planes; the others, one of the first step and one
/// or two of the second, are within a plane. Lines of the first one have adjacent points where they are read;
/// in the ring it is lines that are adjacent, and then points of the lines of the second step. Its modes are
/// stored beside each other for adjacent lines. The first step may be one of real numbers.
struct PlaneLines {
  LineStep first, second;  ///< strides of planes in the ring are 0
  Index planes = 1;
  Index lead = 1;   ///< by how many planes the first step is ahead
  Index slots = 1;  ///< planes in the ring

  Index plane_bytes() const { return first.modes() * second.n * 2 * first.real_bytes; }
  Index ring_bytes() const { return slots * plane_bytes(); }
  /// 32-bit counters in memory of the device, zero before and after a launch.
  Index counters() const { return 2 + 2 * planes; }
};

namespace lines {

/// The order of the tiles of `PlaneLines`. `lead` is two planes at least, and `slots` more than that; or they
/// are all planes.
template <class Divisor>
class TileOrder {
 public:
  struct Tile {
    bool second;
    std::uint32_t plane, number;  ///< the number within the plane
  };

  /// `first`, `second`: tiles of a plane.
  TileOrder(const PlaneLines& step, std::uint32_t first, std::uint32_t second)
      : first_(first),
        second_(second),
        both_(first + second),
        tiles_{static_cast<std::uint32_t>(step.planes) * first,
               static_cast<std::uint32_t>(step.planes) * second},
        lead_(static_cast<std::uint32_t>(std::min(step.lead, step.planes)) * first) {}

  std::uint32_t count() const { return tiles_[0] + tiles_[1]; }
  WEFT_ANYWHERE std::uint32_t tiles_of_plane(bool second) const {
    return (second ? second_ : first_).divisor();
  }

  WEFT_ANYWHERE Tile operator()(std::uint32_t position) const {
    const std::uint32_t before = firsts_before(position);
    if (firsts_before(position + 1) > before) return tile(false, before, first_);
    return tile(true, position - before, second_);
  }

 private:
  /// Behind the lead, both steps have tiles in proportion.
  WEFT_ANYWHERE std::uint32_t firsts_before(std::uint32_t position) const {
    if (position <= lead_) return position;
    const std::uint32_t behind = position - lead_, rounds = both_.divide(behind);
    const std::uint32_t rest = behind - rounds * both_.divisor();
    const std::uint32_t firsts = lead_ + rounds * first_.divisor() + both_.divide(rest * first_.divisor());
    return firsts < tiles_[0] ? firsts : tiles_[0];
  }
  static WEFT_ANYWHERE Tile tile(bool second, std::uint32_t number, const Divisor& of_a_plane) {
    const std::uint32_t plane = of_a_plane.divide(number);
    return {second, plane, number - plane * of_a_plane.divisor()};
  }

  Divisor first_, second_, both_;
  std::uint32_t tiles_[2], lead_;
};

}  // namespace lines

}  // namespace weft
