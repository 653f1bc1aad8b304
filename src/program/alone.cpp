#include "program/alone.hpp"

#include <algorithm>

#include "program/passes.hpp"
#include "program/sub_tiles.hpp"

namespace weft {

namespace {

class Alone : Passes {
 public:
  using Passes::Passes;

  /// A single local FFT in two passes: all axes but the slowest, then that one.
  Program build() {
    const int slowest = slowest_axis();
    Pass first;
    first.stage = 0;
    for (int a : schedule_.stages[0].axes)
      if (a != slowest) first.axes.push_back(a);
    first.source = input_;
    first.result = output_;
    Pass second = first;
    second.axes = {slowest};
    second.source = output_;
    for (Pass* s : {&first, &second}) {
      s->result_box = output_.box;
      s->parts = sub_tiles(s->source.box, order_of(s->source.strides), s->axes,
                           std::max(s->source.element_bytes, s->result.element_bytes), request_.subtile);
    }
    for (const Pass* s : {&first, &second}) make_room(*s);
    p_.copies.reserve(2 * (first.parts.size() + second.parts.size()));
    p_.ops.reserve(3 * (first.parts.size() + second.parts.size()));
    for (const Pass& s : {first, second})
      for (const Box& part : s.parts)
        finish({.kind = OpKind::copy, .stage = s.stage}, transform(s, part, true),
               same_cut(part, s.result_box, s.axes));
    return close();
  }

  /// Whether that pays: the array is too large for the cache, and what the second pass reads can lie where
  /// the first one leaves it.
  bool pays() const {
    const Stage& s = schedule_.stages[0];
    if (input_.box.empty() || s.axes.size() < 2) return false;
    Index points = output_.element_bytes;
    for (int a : s.axes) points *= output_.box.extent(a);
    const bool real_first =
        s.real_axis < 0 || (s.direction == Direction::forward && s.real_axis != slowest_axis());
    // By default as measured with a cache of 2 MiB: a cube of 4 MiB loses, one of 32 gains little, one of 256
    // a third.
    return caches(points) > request_.two_passes_from && real_first &&
           (!request_.in_place || lie_alike(input_, output_, schedule_.transforms));
  }

 private:
  int slowest_axis() const {
    for (int a : order_of(output_.strides))
      if (schedule_.stages[0].axes.contains(a)) return a;
    return -1;
  }
};

}  // namespace

std::optional<Program> build_alone(const Schedule& schedule, const ProgramRequest& request) {
  static const std::vector<ReshapeChoice> none;
  Alone alone(schedule, none, request);
  if (!alone.pays()) return std::nullopt;
  return alone.build();
}

}  // namespace weft
