#include "program/passes.hpp"

#include <algorithm>

#include "program/sub_tiles.hpp"

namespace weft {

namespace {

/// Dense but for some room between rows whose length would send the points of a column to few cache sets.
Strides spread_strides(const Shape& extents, const Order& order, int element_bytes) {
  Shape roomy = extents;
  const int fast = order[order.size() - 1];
  if (extents[fast] * element_bytes % (4 * line_bytes) == 0) roomy[fast] += line_bytes / element_bytes;
  return dense_strides(roomy, order);
}

/// Whether a part lies so close together that passing over it reads little else.
bool compact(const Place& place, const Box& part) {
  const Span span = span_of(place.at(part), part.extents(), place.element_bytes);
  return 4 * (span.last - span.first) <= 5 * part.count() * place.element_bytes;
}

}  // namespace

void Passes::make_room(const Pass& pass) {
  b_.program.ffts.reserve(b_.program.ffts.capacity() + pass.parts.size());
  if (pass.axes.empty() && (pass.arrival < 0 || b_.request.two_lanes)) return;
  for (const Box& part : pass.parts) {
    const Box result = same_cut(part, pass.result_box, pass.axes);
    scratch_bytes_ = std::max({scratch_bytes_, room(part, pass.source), room(result, pass.result)});
  }
}

Program Passes::close() {
  Program& p = b_.program;
  p.scratch_offset = aligned(workspace_end(p));
  p.workspace_bytes = p.scratch_offset + areas_ * scratch_bytes_;
  return std::move(p);
}

Index Passes::room(const Box& part, const Place& like) const {
  const Place p = scratch(part, like, 0);
  return aligned(span_of(p.at(part), part.extents(), p.element_bytes).last);
}

/// A part by itself, in the memory order of `like`.
Place Passes::scratch(const Box& part, const Place& like, int number) const {
  Place p{Space::scratch, number * scratch_bytes_, part, {}, like.element_bytes, like.element};
  p.strides = spread_strides(part.extents(), order_of(like.strides), like.element_bytes);
  return p;
}

Place Passes::area(const Box& part, const Place& like, int number) {
  areas_ = std::max<Index>(areas_, number + 1);
  return scratch(part, like, number);
}

/// Whether a DCT or DST follows in place after an FFT.
bool Passes::takes_two_calls(const AxisVector<int>& axes) const {
  const auto r2r = [&](int a) { return is_r2r(b_.schedule.transforms[a]); };
  return std::any_of(axes.begin(), axes.end(), r2r) && !std::all_of(axes.begin(), axes.end(), r2r);
}

Place Passes::transform(const Pass& s, const Box& part, bool completes, const Gather& gather) {
  const bool scattered = s.arrival >= 0;
  if (s.axes.empty() && !scattered) return s.source;
  const Box result = same_cut(part, s.result_box, s.axes);
  const bool lanes = b_.request.two_lanes;
  // What comes from memory and goes there is best copied on both ways; the FFT then works in the cache.
  const bool by_copies = !lanes && sequence_.large() && room(part, s.source) <= b_.request.cache_bytes;
  const bool complete =
      lanes || (completes && !by_copies && !takes_two_calls(s.axes) && compact(s.result, result));
  Place from = s.source;
  bool aside = false;  // whether the first scratch area is taken
  if (scattered || by_copies || (!lanes && !compact(s.source, part))) {
    from = lanes && s.axes.empty() ? s.result : area(part, s.source, 0);
    aside = true;
    read(s, part, from, gather);
  }
  if (s.axes.empty()) return from;
  const bool converts = s.source.element_bytes != s.result.element_bytes;
  AxisVector<int> rest = s.axes;
  const Stage& stage = at(b_.schedule.stages, s.stage);
  const bool c2r = stage.direction == Direction::backward && s.axes.contains(stage.real_axis);
  if (c2r && s.axes.size() > 1 && from.space == Space::input) {
    // A c2r of several axes would destroy the user's input.
    AxisVector<int> complex;
    rest = {};
    for (int a : s.axes) (a == stage.real_axis ? rest : complex).push_back(a);
    const Place spare = area(part, s.source, 0);
    sequence_.add_fft(s.stage, complex, from, part, spare, part);
    from = spare;
    aside = true;
  }
  const Place to = complete ? s.result : aside && !converts ? from : area(result, s.result, aside ? 1 : 0);
  sequence_.add_fft(s.stage, rest, from, part, to, result);
  return to;
}

void Passes::read(const Pass& pass, const Box& part, const Place& to, const Gather& gather) {
  if (pass.arrival >= 0) return gather(pass, part, to);
  sequence_.load({.kind = OpKind::copy, .stage = pass.stage}, pass.source, to.at(part), part);
}

}  // namespace weft
