#include "program/planes.hpp"

#include <algorithm>

#include "program/sub_tiles.hpp"
#include "program/tile_traffic.hpp"

namespace weft {

namespace {

class Planes : TileTraffic {
 public:
  using TileTraffic::TileTraffic;

  Program build() {
    for (int j = 0; j <= place_.reshapes(); ++j) segments_.push_back(segment(j));
    for (const Pass& s : segments_)
      if (!only_unpacks(s)) make_room(s);
    for (int j = 0; j < place_.reshapes(); ++j) open(j);
    make_room_for_copies();
    for (int j = 0; j < std::min(2, place_.reshapes()); ++j) free(j);
    for (int j = 0; j <= place_.reshapes(); ++j) {
      run(j);
      // The half that this segment has read, or what was sent from there, is the next but one's.
      if (j == 0 || j + 1 >= place_.reshapes()) continue;
      if (segments_[static_cast<std::size_t>(j)].axes.empty()) catch_up();
      free(j + 1);
    }
    settle_all();
    if (choice(0).window == 0)
      for (Op& op : p_.ops) op.tests = 0;
    return close();
  }

 private:
  /// Whether what has arrived packed goes straight to the user's array.
  bool only_unpacks(const Pass& s) const {
    return s.arrival >= 0 && s.axes.empty() && s.result.space == Space::output;
  }
  bool is_last(int j) const { return j == place_.reshapes(); }

  /// The parts of what lies between two reshapes that pass through the cache together are those of the tiles
  /// on either side.
  Pass segment(int j) const {
    Pass s;
    s.stage = place_.fft_stage(j);
    if (s.stage >= 0) s.axes = schedule_.stages[static_cast<std::size_t>(s.stage)].axes;
    s.source = j == 0 ? input_ : landing(j - 1, rank_);
    if (j > 0 && arrives_packed(j - 1)) s.arrival = j - 1;
    s.result = is_last(j) ? output_ : departing(j);
    s.result_box = s.result.box;
    if (s.source.box.empty()) return s;
    const Order order = order_of(s.source.strides);
    const int bytes = std::max(s.source.element_bytes, s.result.element_bytes);
    const std::vector<Box> whole{s.source.box};
    for (const Box& out : is_last(j) ? whole : cut_.sending(j, rank_))
      for (const Box& in : j == 0 ? whole : received(j, s)) {
        const Box tile = intersect(in, same_cut(out, s.source.box, s.axes));
        const std::vector<Box> parts = sub_tiles(tile, order, s.axes, bytes, subtile(j));
        s.parts.insert(s.parts.end(), parts.begin(), parts.end());
      }
    return s;
  }

  /// What a segment reads, in its order. A stream that only copies it to the user's array does so as it
  /// arrives.
  std::vector<Box> received(int j, const Pass& s) const {
    const bool only_copies = request_.streams && is_last(j) && s.axes.empty();
    return only_copies ? cut_.arriving(j - 1, rank_) : cut_.receiving(j - 1, rank_);
  }

  /// That of the reshape whose planes a segment makes or takes.
  Index subtile(int j) const {
    const bool before = is_last(j) || (j > 0 && choice(j).cuts_after);
    return choice(before ? j - 1 : j).subtile;
  }

  /// There are thousands, which a vector that grows would move again and again.
  void make_room_for_copies() {
    std::size_t copies = 0;
    for (int j = 0; j <= place_.reshapes(); ++j) {
      const Pass& s = segments_[static_cast<std::size_t>(j)];
      copies += 2 * s.parts.size();
      if (is_last(j)) continue;
      for (const Box& part : s.parts) copies += pieces(j, same_cut(part, s.result_box, s.axes));
    }
    p_.copies.reserve(copies);
    p_.ops.reserve(2 * copies);
  }

  void run(int j) {
    const Pass& s = segments_[static_cast<std::size_t>(j)];
    // Results take the place of what was sent before: in the workspace, or, in place, in the user's array.
    if (is_last(j) ? request_.in_place && segments_[0].axes.empty() : j > 0) catch_up();
    if (!is_last(j)) tell_complete(j);
    for (const Box& part : s.parts) {
      if (j > 0) await(j - 1, part);
      const Box result = same_cut(part, s.result_box, s.axes);
      if (!is_last(j)) {
        put(j, transform(s, part, false), result);
        tell_complete(j);
      } else if (only_unpacks(s)) {
        gather(s.arrival, part, output_);
      } else {
        // A copy alone, as among bricks, counts to the reshape before it.
        const Op copy{.kind = OpKind::copy, .stage = s.stage};
        finish(s.stage < 0 ? op_of(j - 1, OpKind::copy, 0) : copy, transform(s, part, true), result);
      }
    }
    if (j > 0) await_all(j - 1);
  }

  std::vector<Pass> segments_;
};

}  // namespace

Program build_planes(const Schedule& schedule, const std::vector<ReshapeChoice>& choices,
                     const ProgramRequest& request) {
  return Planes(schedule, choices, request).build();
}

}  // namespace weft
