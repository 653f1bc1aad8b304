// Makes programs without reshapes, of a rank that has the whole array or independent parts of it: one call of
// the local FFT library; or, of an array that is too large for the cache, passes over the data in sub-tiles:
// two, one of them along the slowest axis alone, or one where the items of a batch fit the cache.
#include <algorithm>

#include "program/passes.hpp"
#include "program/pipeline_rules.hpp"

namespace weft {

namespace {

class LocalBuilder {
 public:
  LocalBuilder(const Schedule& schedule, const std::vector<Leg>& legs, const ProgramRequest& request)
      : w_(schedule, legs, request), sequence_(w_), passes_(w_, sequence_) {}

  Program build() {
    if (w_.schedule.stages.size() > 1) return through_workspace();
    if (!w_.schedule.line.empty()) return line();
    if (pays()) return two_passes();
    return one_pass_pays() ? run({whole()}) : one_call();
  }

 private:
  Program one_call() {
    const Stage& s = w_.schedule.stages.front();
    const bool same = lie_alike(w_.input, w_.output, w_.schedule.transforms);
    const Place spare = Placement::dense_work(w_.input);
    if (!w_.request.in_place || (same && !s.axes.empty())) {
      w_.transform_whole(0, s.axes, w_.input, w_.output, spare, {});
    } else if (!same) {
      const Place aside = Placement::dense_work(w_.output);
      const Ids done = w_.transform_whole(0, s.axes, w_.input, aside, aside, {});
      w_.emit_copy({.kind = OpKind::copy, .stage = 0}, aside, w_.output, w_.output.box, done);
    }
    return w_.close();
  }

  /// The axes before an operator's, those with it, and back; or those of a real line, and its halves: passes
  /// through the workspace.
  Program through_workspace() {
    std::vector<Pass> passes;
    const auto stages = static_cast<int>(w_.schedule.stages.size());
    for (int i = 0; i < stages; ++i) {
      Pass pass;
      pass.stage = i;
      pass.axes = axes_of(w_.schedule, i);
      pass.source = i == 0 ? w_.input : passes.back().result;
      pass.result = i + 1 == stages ? w_.output : w_.place.dense(at(w_.schedule.fields, i + 1), w_.rank, 0);
      // The operator's stage is done in place, if it leaves as many arrays as it finds.
      if (i > 0 && i + 1 < stages && converts(pass.source, pass.result))
        pass.result.base = aligned(pass.source.box.count() * pass.source.element_bytes);
      passes.push_back(cut(pass));
    }
    return run(passes);
  }

  /// The two axes of a line in two calls, as the first one's results are multiplied between them. What
  /// becomes real does so in a third.
  Program line() {
    const int first = twiddled_axis(w_.schedule);
    AxisVector<int> before, after, last;
    for (int a : w_.schedule.stages.front().axes) {
      if (c2r() && w_.schedule.transforms[a] != Transform::c2c)
        last.push_back(a);
      else
        (a != first && w_.schedule.line.contains(a) ? after : before).push_back(a);
    }
    const bool direct =
        !c2r() && (!w_.request.in_place || lie_alike(w_.input, w_.output, w_.schedule.transforms));
    AxisVector<int> complex = before;
    for (int a : after) complex.push_back(a);
    const Place result = direct  ? w_.output
                         : c2r() ? between(w_.input, complex)
                                 : Placement::dense_work(w_.output);
    Ids done = w_.transform_whole(0, before, w_.input, result, result, {});
    if (!after.empty()) done = w_.transform_whole(0, after, result, result, result, done);
    if (c2r()) {
      w_.transform_whole(0, last, result, w_.output, result, done);
    } else if (!direct) {
      w_.emit_copy({.kind = OpKind::copy, .stage = 0}, result, w_.output, w_.output.box, done);
    }
    return w_.close();
  }

  /// All axes but the slowest, then that one; where the result is real, or zeros are added, that one first.
  /// What has another length or other elements than the result meanwhile is in the workspace.
  Program two_passes() {
    const int slowest = slowest_axis();
    const bool columns_first = c2r() || (resized() && w_.schedule.direction == Direction::backward);
    Pass rows, columns;
    rows.stage = columns.stage = 0;
    for (int a : w_.schedule.stages[0].axes) (a == slowest ? columns : rows).axes.push_back(a);
    Pass &first = columns_first ? columns : rows, &second = columns_first ? rows : columns;
    first.source = w_.input;
    first.result = second.source = c2r()       ? between(w_.input, first.axes)
                                   : resized() ? between(w_.output, first.axes)
                                               : w_.output;
    second.result = w_.output;
    return run({cut(first), cut(second)});
  }

  bool resized() const { return resizes(w_.schedule, 0); }

  /// What is there once `done` axes are transformed, with the elements and the order of `like`.
  Place between(const Place& like, const AxisVector<int>& done) const {
    Place p = like;
    for (int a = 0; a < p.box.ndim(); ++a) {
      const Box& box = done.contains(a) ? w_.output.box : w_.input.box;
      p.box.lo[a] = box.lo[a];
      p.box.hi[a] = box.hi[a];
    }
    p.space = Space::work;
    p.base = 0;
    p.strides = dense_strides(p.box.extents(), order_of(like.strides));
    return p;
  }

  /// All axes at once, in parts of which each thread has as much as a part of one thread.
  Pass whole() const {
    Pass pass;
    pass.stage = 0;
    pass.axes = w_.schedule.stages[0].axes;
    pass.source = w_.input;
    pass.result = w_.output;
    return cut(pass, w_.request.threads);
  }

  /// In parts that fit the cache; on devices as a whole.
  Pass cut(Pass s, Index times = 1) const {
    if (w_.request.two_lanes) {
      s.parts = {s.source.box};
      return s;
    }
    s.parts = sub_tiles(s.source.box, order_of(s.source.strides), s.axes,
                        std::max(s.source.element_bytes, s.result.element_bytes), times * w_.request.subtile);
    return s;
  }

  Program run(const std::vector<Pass>& passes) {
    for (const Pass& s : passes) passes_.make_room(s);
    for (const Pass& s : passes)
      for (const Box& part : s.parts)
        passes_.finish({.kind = OpKind::copy, .stage = s.stage}, passes_.transform(s, part, true), s.result,
                       s.result_of(part));
    return passes_.close();
  }

  /// Whether one pass pays: its parts are copied aside, and lines lie apart, or would meet in few cache sets.
  /// One call took three times as long for a stack of planes (64 x 512 x 512 along the last two axes) and ten
  /// for columns (4096 x 4096 along the first).
  bool one_pass_pays() const {
    const Stage& s = w_.schedule.stages[0];
    if (w_.input.box.empty() || s.axes.empty() || w_.request.two_lanes) return false;
    if (w_.request.in_place && !lie_alike(w_.input, w_.output, w_.schedule.transforms)) return false;
    if (resized()) return false;  // the call itself works in parts
    const Pass pass = whole();
    const bool apart = !lies_together(pass.source, s.axes) || Passes::meets(pass, pass.parts.front());
    return apart && pass.parts.size() > 1 && passes_.copies_aside(pass, pass.parts.front());
  }

  /// Whether the axes are the fastest ones in memory, so that what is transformed together lies together.
  static bool lies_together(const Place& place, const AxisVector<int>& axes) {
    const Order order = order_of(place.strides);
    int found = 0;
    for (int i = order.size() - 1; i >= 0 && found < axes.size(); --i) {
      if (axes.contains(order[i]))
        ++found;
      else if (place.box.extent(order[i]) > 1)
        return false;
    }
    return true;
  }

  /// Whether that pays: the array is too large for the cache, and what the second pass reads can lie where
  /// the first one leaves it.
  bool pays() const {
    const Stage& s = w_.schedule.stages[0];
    if (w_.input.box.empty() || s.axes.size() < 2 || !s.between.empty() || w_.request.two_lanes) return false;
    Index points = w_.output.element_bytes;
    for (int a : s.axes) points *= std::max(w_.input.box.extent(a), w_.output.box.extent(a));
    if (s.real_axis >= 0 && s.real_axis == slowest_axis()) return false;
    // By default as measured with a cache of 2 MiB: a cube of 4 MiB loses, one of 32 gains little, one of 256
    // a third.
    // Calls that change lengths work on as much as they are given in memory aside.
    return passes_.caches(points) > (resized() ? 1 : w_.request.two_passes_from) &&
           (!w_.request.in_place || resized() ||
            (!c2r() && lie_alike(w_.input, w_.output, w_.schedule.transforms)));
  }

  bool c2r() const {
    const Stage& s = w_.schedule.stages[0];
    return s.real_axis >= 0 && s.direction == Direction::backward;
  }

  int slowest_axis() const {
    for (int a : order_of(w_.output.strides))
      if (w_.schedule.stages[0].axes.contains(a)) return a;
    return -1;
  }

  ProgramWriter w_;
  Sequence sequence_;
  Passes passes_;
};

}  // namespace

Program build_local(const Schedule& schedule, const std::vector<Leg>& legs, const ProgramRequest& request) {
  return LocalBuilder(schedule, legs, request).build();
}

}  // namespace weft
