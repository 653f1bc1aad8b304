// Makes programs without reshapes, of a rank that has the whole array or independent parts of it: one call of
// the local FFT library; or, of an array that is too large for the cache, two passes over the data in
// sub-tiles, the second one along the slowest axis.
#include <algorithm>

#include "program/passes.hpp"
#include "program/pipeline_rules.hpp"

namespace weft {

namespace {

class LocalBuilder {
 public:
  LocalBuilder(const Schedule& schedule, const std::vector<Leg>& legs, const ProgramRequest& request)
      : w_(schedule, legs, request), sequence_(w_), passes_(w_, sequence_) {}

  Program build() { return pays() ? two_passes() : one_call(); }

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

  /// All axes but the slowest, then that one.
  Program two_passes() {
    const int slowest = slowest_axis();
    Pass first;
    first.stage = 0;
    for (int a : w_.schedule.stages[0].axes)
      if (a != slowest) first.axes.push_back(a);
    first.source = w_.input;
    first.result = w_.output;
    Pass second = first;
    second.axes = {slowest};
    second.source = w_.output;
    for (Pass* s : {&first, &second}) {
      s->parts = sub_tiles(s->source.box, order_of(s->source.strides), s->axes,
                           std::max(s->source.element_bytes, s->result.element_bytes), w_.request.subtile);
    }
    for (const Pass* s : {&first, &second}) passes_.make_room(*s);
    for (const Pass& s : {first, second})
      for (const Box& part : s.parts)
        passes_.finish({.kind = OpKind::copy, .stage = s.stage}, passes_.transform(s, part, true),
                       s.result_of(part));
    return passes_.close();
  }

  /// Whether that pays: the array is too large for the cache, and what the second pass reads can lie where
  /// the first one leaves it.
  bool pays() const {
    const Stage& s = w_.schedule.stages[0];
    if (w_.input.box.empty() || s.axes.size() < 2) return false;
    Index points = w_.output.element_bytes;
    for (int a : s.axes) points *= w_.output.box.extent(a);
    const bool real_first =
        s.real_axis < 0 || (s.direction == Direction::forward && s.real_axis != slowest_axis());
    // By default as measured with a cache of 2 MiB: a cube of 4 MiB loses, one of 32 gains little, one of 256
    // a third.
    return passes_.caches(points) > w_.request.two_passes_from && real_first &&
           (!w_.request.in_place || lie_alike(w_.input, w_.output, w_.schedule.transforms));
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
