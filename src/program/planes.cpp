// Makes the program of one rank for pipelines *planes* and *two-front*: every stage passes over its data
// once, in sub-tiles that stay in the cache from the moment they are read to the moment they are stored: in
// the workspace of their receiver, where they wait for their departure, or in the user's array. With two
// lanes the parts are whole tiles, and one travels while the next is transformed.
#include <algorithm>

#include "program/passes.hpp"
#include "program/pipeline_rules.hpp"
#include "program/tile_traffic.hpp"

namespace weft {

namespace {

class PlanesBuilder {
 public:
  PlanesBuilder(const Schedule& schedule, const std::vector<Leg>& legs, const ProgramRequest& request)
      : w_(schedule, legs, request),
        reshapes_(w_.place.reshapes()),
        sequence_(w_),
        passes_(w_, sequence_),
        traffic_(w_, sequence_) {}

  Program build() {
    for (int j = 0; j <= reshapes_; ++j) segments_.push_back(segment(j));
    for (int j = 0; j <= reshapes_; ++j) {
      Pass& s = at(segments_, j);
      s.gathers_in_result = gathers_in_result(s);
      if (s.gathers_in_result) s.axes_on_arrival = axes_on_arrival(j, s);
      if (!s.axes_on_arrival.empty())
        s.gather = [this, j](const Box& part, const Place& to) { transform_on_arrival(j, part, to); };
    }
    if (leaves_last_part())
      traffic_.leave_at(reshapes_ - 1, traffic_.departing(reshapes_ - 1));
    else if (segments_.back().gathers_in_result && brings_own_part_early())
      traffic_.keep_at(reshapes_ - 1,
                       *seen_before(w_.output, segments_.back().source, schedule().transforms));
    find_room(segments_.back());
    for (const Pass& s : segments_)
      if (!only_unpacks(s)) passes_.make_room(s);
    if (keeps_own_part()) keep_own_part();
    if (leaves_own_part()) traffic_.leave_at(0, w_.input);
    const bool half_is_free = reshapes_ > 1 && !traffic_.sends_from_half(0);
    if (reshapes_ > 0) traffic_.free(0);
    if (half_is_free) traffic_.free(1);
    for (int j = 0; j <= reshapes_; ++j) {
      run(j);
      // The half that this segment has read, or what was sent from there, is the next but one's.
      if ((j == 0 && half_is_free) || j + 1 >= reshapes_) continue;
      if (at(segments_, j).axes.empty() && w_.leg(j + 1).traits.stores) sequence_.catch_up();
      traffic_.free(j + 1);
    }
    traffic_.settle_all();
    if (w_.leg(0).window == 0)
      for (Op& op : w_.program.ops) op.tests = 0;
    return passes_.close();
  }

 private:
  /// Whether what has arrived packed goes straight to the user's array.
  bool only_unpacks(const Pass& s) const {
    return s.gather && s.axes.empty() && s.result.space == Space::output;
  }
  /// Whether an FFT works on what has arrived packed where its result belongs.
  bool gathers_in_result(const Pass& s) const {
    if (!w_.request.two_lanes || !s.gather || s.axes.empty()) return false;
    // Between the user's rows of real numbers may be something else.
    if (is_c2r(s) && s.result.space == Space::output) return false;
    return works_in_place(schedule(), s.stage) && seen_before(s.result, s.source, schedule().transforms);
  }
  static bool is_c2r(const Pass& s) {
    return s.source.element == Element::complex && s.result.element == Element::real;
  }
  /// Memory for the last pass where it gathers parts, if there is some that has been used before.
  void find_room(Pass& s) {
    if (!w_.request.two_lanes || !s.gather || s.axes.empty() || s.gathers_in_result) return;
    Index bytes = 0;
    for (const Box& part : s.parts) bytes = std::max(bytes, passes_.room(part, s.source));
    s.gathered_at = traffic_.free_for_last_pass(bytes);
  }
  /// Whether what stays on this rank in the last reshape may be brought to the user's array before that, by
  /// the FFT before it where that can. In place, the input has to have been read, and sent, by then.
  bool brings_own_part_early() const {
    return !w_.request.in_place || (reshapes_ > 1 && !sends_from_the_user());
  }
  /// Whether parts are sent from the user's array, where peers or engines read them.
  bool sends_from_the_user() const { return segments_[0].axes.empty() && is_read_when_sent(0); }
  bool is_read_when_sent(int j) const { return !w_.request.two_lanes || w_.leg(j).traits.stores; }
  /// The axes along which FFTs read what has arrived, and bring it to where the result belongs, in the place
  /// of copies (ADR 0072): those along which all parts have all points. Parts are exact and complex, nothing
  /// else is done in the stage, and memory keeps its order; else, and without kernels for the length, an FFT
  /// of a part is many calls.
  AxisVector<int> axes_on_arrival(int j, const Pass& s) const {
    const Stage& stage = at(w_.schedule.stages, w_.place.fft_stage(j));
    const auto is_complex = [&](int a) { return w_.schedule.transforms[a] == Transform::c2c; };
    if (!std::ranges::all_of(stage.axes, is_complex) || resizes(w_.schedule, s.stage) ||
        !w_.schedule.line.empty() || w_.leg(j - 1).codec ||
        order_of(s.source.strides) != order_of(s.result.strides))
      return {};
    for (const Box& part : s.parts)
      if (traffic_.parts_that_meet(j - 1, part) > most_parts_read) return {};
    AxisVector<int> found;
    for (const int a : s.axes) {
      const Index n = w_.schedule.lengths[a];
      if (n > 1 && has_small_factors(n) && traffic_.is_whole_in_parts(j - 1, a)) found.push_back(a);
    }
    return found;
  }
  /// Whether all that has stayed on this rank is transformed before any other part is awaited. In the last
  /// segment its place is the user's array; in others the place of the result is still taken. What the host
  /// carries would arrive later, as it is received behind all FFTs before it.
  bool transforms_own_part_first(int j) const {
    return is_last(j) && !at(segments_, j).axes_on_arrival.empty() && w_.leg(j - 1).traits.by_device;
  }
  /// Whether each tile is awaited where it is gathered. What the host carries is best awaited before: it
  /// moves on while the host waits. FFTs that read what arrives can pack it only if all of it has been
  /// awaited before (`diversions`).
  bool gathers_as_it_comes(int j) const {
    const Pass& s = at(segments_, j);
    const bool packs_on_arrival = !is_last(j) && !s.axes.empty() && s.axes_on_arrival.size() == s.axes.size();
    return s.gather && w_.leg(j - 1).traits.by_device && !packs_on_arrival;
  }
  void transform_on_arrival(int j, const Box& part, const Place& to) {
    const AxisVector<int>& axes = at(segments_, j).axes_on_arrival;
    if (!transforms_own_part_first(j)) traffic_.transform_own_part(j - 1, part, axes, to);
    traffic_.transform_parts_of_others(j - 1, part, axes, to);
  }
  /// Whether the last reshape brings what stays on this rank straight to the user's array. Its own input is
  /// not there, and its last segment only copies.
  bool keeps_own_part() const {
    if (reshapes_ == 0) return false;
    const Leg& leg = w_.leg(reshapes_ - 1);
    return segments_.back().axes.empty() && !w_.request.in_place && leg.traits.form != Form::padded &&
           !leg.codec;
  }
  void keep_own_part() {
    const int j = reshapes_ - 1;
    const Box own = w_.place.field_before(j).box(w_.rank);
    traffic_.keep_at(j, w_.output);
    std::vector<Box> parts;
    for (const Box& part : segments_.back().parts)
      for (const Box& other : outside(part, own)) parts.push_back(other);
    segments_.back().parts = std::move(parts);
  }
  /// Whether what stays on this rank in the first reshape is read from the user's array, which parts leave
  /// before any FFT, instead of being copied to where the parts of others arrive.
  bool leaves_own_part() const {
    if (reshapes_ < 2 || w_.request.in_place || !segments_[0].axes.empty()) return false;
    // FFTs that read what arrives do so in the order of their result. On the host the parts of the next
    // segment are cut for the order of what arrives.
    const Pass& next = segments_[1];
    const bool any_order = w_.request.two_lanes && next.axes_on_arrival.empty();
    return traffic_.arrives_packed(0) && w_.leg(0).traits.form != Form::padded && !w_.leg(0).codec &&
           (any_order || order_of(w_.input.strides) == order_of(next.source.strides));
  }
  /// Whether what stays on this rank in the last reshape is read where FFTs have left it, as messages are:
  /// the last FFT does that, or a copy that is made anyway.
  bool leaves_last_part() const {
    const Pass& s = segments_.back();
    return reshapes_ > 0 && w_.request.two_lanes && s.gather && !s.axes.empty() &&
           traffic_.sends_what_is_left(reshapes_ - 1) && (!s.gathers_in_result || !s.axes_on_arrival.empty());
  }
  const Schedule& schedule() const { return w_.schedule; }
  bool is_last(int j) const { return j == reshapes_; }
  const Planes& cut(int j) const { return *w_.leg(j).planes(); }

  /// The parts of what lies between two reshapes that pass through the cache together are those of the tiles
  /// on either side.
  Pass segment(int j) {
    Pass s;
    s.stage = w_.place.fft_stage(j);
    s.axes = axes_of(w_.schedule, s.stage);
    s.source = j == 0 ? w_.input : w_.place.landing(j - 1, w_.rank);
    if (j > 0 && traffic_.arrives_packed(j - 1))
      s.gather = [this, j](const Box& part, const Place& to) { traffic_.gather(j - 1, part, to); };
    s.result = is_last(j) ? w_.output : traffic_.departing(j);
    if (s.source.box.empty()) return s;
    const Order order = order_of(s.source.strides);
    const int bytes = std::max(s.source.element_bytes, s.result.element_bytes);
    const std::vector<Box> whole{s.source.box};
    // Rows that are coded are encoded whole. No FFT keeps them so here.
    const bool rows = !is_last(j) && w_.leg(j).codec && s.axes.empty();
    const int row = rows ? w_.place.row_axis(j, w_.rank, s.source.box) : -1;
    AxisVector<int> uncut = s.axes;
    if (rows) uncut.push_back(row);
    // Rows across the planes are whole in the parts of the rest, which leave with the last plane.
    const bool across = rows && row == w_.leg(j).axis && !cut(j).cuts_after && cut(j).rest > 0;
    const CutAtMultiples multiples = cut_at_multiples(j, s, bytes);
    for (const Box& out : is_last(j) || across ? whole : traffic_.cut().sending(j, w_.rank))
      for (const Box& in : j == 0 || rows ? whole : received(j, s)) {
        const Box tile = intersect(in, same_cut(out, s.source.box, s.axes));
        const std::vector<Box> parts = sub_tiles(tile, order, uncut, bytes, subtile(j), multiples);
        s.parts.insert(s.parts.end(), parts.begin(), parts.end());
      }
    return s;
  }

  /// The axis with more than one point that is the fastest in memory; any where there is none.
  static int fastest_of(const Order& order, const Box& box) {
    for (int i = order.size() - 1; i > 0; --i)
      if (box.extent(order[i]) > 1) return order[i];
    return order[0];
  }

  /// Rows that a codec narrows are cut at whole blocks. What is stored in another order than it is read in
  /// should not be stored in runs of a few bytes: parts are cut at whole runs, as far as these fit the cache
  /// (a line of 2^26 points on two ranks had 0.96 of FFTW's speed in runs of 32 bytes, 1.2 in 128, 2.6 in
  /// 256).
  CutAtMultiples cut_at_multiples(int j, const Pass& s, int bytes) const {
    if (!is_last(j) && w_.leg(j).codec)
      return {w_.place.field_before(j).order(w_.rank).back(), block_points(s.result.element)};
    const int stored = fastest_of(
        is_last(j) ? order_of(s.result.strides) : w_.place.field_after(j).order(w_.rank), s.result.box);
    Index layer = bytes;
    for (int a : s.axes) layer *= s.source.box.extent(a);
    const int fastest = fastest_of(order_of(s.source.strides), s.source.box);
    if (fastest != stored && !s.axes.contains(fastest))
      layer *= std::min<Index>(4 * line_bytes / bytes, s.source.box.extent(fastest));
    return {stored, std::clamp<Index>(w_.request.cache_bytes / layer, 1, 4 * line_bytes / bytes)};
  }

  /// What a segment reads, in its order. With two lanes, one that only copies it to the user's array does so
  /// as it arrives.
  std::vector<Box> received(int j, const Pass& s) const {
    const bool only_copies = w_.request.two_lanes && is_last(j) && s.axes.empty();
    return only_copies ? traffic_.cut().arriving(j - 1, w_.rank) : traffic_.cut().receiving(j - 1, w_.rank);
  }

  /// That of the reshape whose planes a segment makes or takes.
  Index subtile(int j) const {
    const bool before = is_last(j) || (j > 0 && cut(j).cuts_after);
    return cut(before ? j - 1 : j).subtile;
  }

  /// Whether results of a segment take the place of what was sent before: in the workspace, unless it was
  /// sent from the user's array, or, in place, there. What is sent from send buffers is not overwritten. With
  /// two lanes each part of a result waits for what was there (`TileTraffic::departing`).
  bool overwrites_what_is_sent(int j) const {
    if (is_last(j)) return j > 0 && w_.request.in_place && sends_from_the_user();
    return !w_.request.two_lanes && j > (segments_[0].axes.empty() ? 1 : 0);
  }

  void run(int j) {
    Pass& s = at(segments_, j);
    if (overwrites_what_is_sent(j)) sequence_.catch_up();
    if (!is_last(j)) traffic_.tell_complete(j);
    if (transforms_own_part_first(j))
      traffic_.transform_own_part(j - 1, s.source.box, s.axes_on_arrival, s.result);
    for (const Box& part : s.parts) {
      if (j > 0 && !gathers_as_it_comes(j)) traffic_.await(j - 1, part);
      if (s.gathered_at) traffic_.take(j, s.gathered_at->first, s.gathered_at->last);
      const Box result = s.result_of(part);
      if (!is_last(j)) {
        if (w_.request.two_lanes) s.result = traffic_.departing(j, result);
        traffic_.put(j, passes_.transform(s, part, false), result);
        traffic_.tell_complete(j);
      } else if (only_unpacks(s)) {
        s.gather(part, w_.output);
      } else {
        // A copy alone, as among bricks, counts to the reshape before it.
        const Op copy{.kind = OpKind::copy, .stage = s.stage};
        passes_.finish(s.stage < 0 ? w_.op_of(j - 1, OpKind::copy, 0) : copy,
                       passes_.transform(s, part, true), w_.output, result);
      }
    }
    if (j > 0) traffic_.await_all(j - 1);
  }

  ProgramWriter w_;
  int reshapes_;
  Sequence sequence_;
  Passes passes_;
  TileTraffic traffic_;
  std::vector<Pass> segments_;
};

}  // namespace

Program build_planes(const Schedule& schedule, const std::vector<Leg>& legs, const ProgramRequest& request) {
  return PlanesBuilder(schedule, legs, request).build();
}

}  // namespace weft
