#include "program/local.hpp"

#include <algorithm>

#include "program/passes.hpp"
#include "program/sub_tiles.hpp"

namespace weft {

namespace {

class LocalBuilder {
 public:
  LocalBuilder(const Schedule& schedule, const ProgramRequest& request)
      : b_(schedule, none, request), sequence_(b_), passes_(b_, sequence_) {}

  Program build() { return pays() ? two_passes() : one_call(); }

 private:
  Program one_call() {
    const Stage& s = b_.schedule.stages.front();
    const bool same = lie_alike(b_.input, b_.output, b_.schedule.transforms);
    const Place spare = Placement::dense_work(b_.input);
    if (!b_.request.in_place || (same && !s.axes.empty())) {
      b_.writer.transform_whole(0, s.axes, b_.input, b_.output, spare, {});
    } else if (!same) {
      const Place aside = Placement::dense_work(b_.output);
      const Ids done = b_.writer.transform_whole(0, s.axes, b_.input, aside, aside, {});
      b_.writer.emit_copy({.kind = OpKind::copy, .stage = 0}, aside, b_.output.at(b_.output.box),
                          b_.output.box, -1, done);
    }
    b_.program.workspace_bytes = aligned(workspace_end(b_.program));
    return std::move(b_.program);
  }

  /// All axes but the slowest, then that one.
  Program two_passes() {
    const int slowest = slowest_axis();
    Pass first;
    first.stage = 0;
    for (int a : b_.schedule.stages[0].axes)
      if (a != slowest) first.axes.push_back(a);
    first.source = b_.input;
    first.result = b_.output;
    Pass second = first;
    second.axes = {slowest};
    second.source = b_.output;
    for (Pass* s : {&first, &second}) {
      s->result_box = b_.output.box;
      s->parts = sub_tiles(s->source.box, order_of(s->source.strides), s->axes,
                           std::max(s->source.element_bytes, s->result.element_bytes), b_.request.subtile);
    }
    for (const Pass* s : {&first, &second}) passes_.make_room(*s);
    b_.program.copies.reserve(2 * (first.parts.size() + second.parts.size()));
    b_.program.ops.reserve(3 * (first.parts.size() + second.parts.size()));
    for (const Pass& s : {first, second})
      for (const Box& part : s.parts)
        passes_.finish({.kind = OpKind::copy, .stage = s.stage}, passes_.transform(s, part, true),
                       same_cut(part, s.result_box, s.axes));
    return passes_.close();
  }

  /// Whether that pays: the array is too large for the cache, and what the second pass reads can lie where
  /// the first one leaves it.
  bool pays() const {
    const Stage& s = b_.schedule.stages[0];
    if (b_.input.box.empty() || s.axes.size() < 2) return false;
    Index points = b_.output.element_bytes;
    for (int a : s.axes) points *= b_.output.box.extent(a);
    const bool real_first =
        s.real_axis < 0 || (s.direction == Direction::forward && s.real_axis != slowest_axis());
    // By default as measured with a cache of 2 MiB: a cube of 4 MiB loses, one of 32 gains little, one of 256
    // a third.
    return passes_.caches(points) > b_.request.two_passes_from && real_first &&
           (!b_.request.in_place || lie_alike(b_.input, b_.output, b_.schedule.transforms));
  }

  int slowest_axis() const {
    for (int a : order_of(b_.output.strides))
      if (b_.schedule.stages[0].axes.contains(a)) return a;
    return -1;
  }

  static inline const std::vector<Leg> none;
  Building b_;
  Sequence sequence_;
  Passes passes_;
};

}  // namespace

Program build_local(const Schedule& schedule, const ProgramRequest& request) {
  return LocalBuilder(schedule, request).build();
}

}  // namespace weft
