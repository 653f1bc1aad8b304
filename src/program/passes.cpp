#include "program/passes.hpp"

#include <algorithm>

namespace weft {

namespace {

/// Whether a part lies so close together that passing over it reads little else.
bool compact(const Place& place, const Box& part) {
  const Span span = span_of(place.at(part), part.extents(), place.element_bytes);
  return 4 * (span.last - span.first) <= 5 * part.count() * place.element_bytes;
}

/// Whether the points of a line along one of the axes go to few cache sets.
bool lines_meet(const Place& place, const Box& part, const AxisVector<int>& axes) {
  constexpr Index apart = 1024;
  return std::any_of(axes.begin(), axes.end(), [&](int a) {
    return part.extent(a) > 1 && place.strides[a] > 1 && place.strides[a] * place.element_bytes % apart == 0;
  });
}

}  // namespace

void Passes::make_room(const Pass& pass) {
  w_.program.ffts.reserve(w_.program.ffts.capacity() + pass.parts.size());
  if (!takes_area(pass)) return;
  for (const Box& part : pass.parts) {
    scratch_bytes_ =
        std::max({scratch_bytes_, room(part, pass.source), room(pass.result_of(part), pass.result)});
  }
}

/// With two lanes only what arrives packed and has no place of its own, and the user's input that a c2r
/// would destroy.
bool Passes::takes_area(const Pass& pass) const {
  if (!w_.request.two_lanes) return pass.gather || !pass.axes.empty();
  if (pass.gather) return !pass.axes.empty() && !pass.gathers_in_result && !pass.gathered_at;
  return spares_input(pass);
}

/// Whether a c2r of several axes would destroy the user's input.
bool Passes::spares_input(const Pass& pass) const {
  if (pass.gather || pass.source.space != Space::input || pass.axes.size() < 2) return false;
  const Stage& stage = at(w_.schedule.stages, pass.stage);
  return stage.direction == Direction::backward && pass.axes.contains(stage.real_axis);
}

Place Passes::gathered(const Pass& pass, const Box& part) {
  if (pass.gathers_in_result || (w_.request.two_lanes && pass.axes.empty()))
    return *seen_before(pass.result, pass.source, w_.schedule.transforms);
  if (!pass.gathered_at) return area(part, pass.source, 0);
  Place p = scratch(part, pass.source, 0);
  p.space = Space::work;
  p.base = pass.gathered_at->first;
  return p;
}

Program Passes::close() {
  Program& p = w_.program;
  p.scratch_offset = aligned(workspace_end(p));
  p.workspace_bytes = p.scratch_offset + areas_ * scratch_bytes_;
  return std::move(p);
}

Index Passes::room(const Box& part, const Place& like) const {
  const Place p = scratch(part, like, 0);
  return aligned(span_of(p.at(part), part.extents(), p.element_bytes).last);
}

/// A part by itself, in the memory order of `like`. On devices it is dense: one call transforms all lines.
Place Passes::scratch(const Box& part, const Place& like, int number) const {
  Place p{Space::scratch, number * scratch_bytes_, part, {}, like.element_bytes, like.element};
  const Order order = order_of(like.strides);
  p.strides = w_.request.two_lanes ? dense_strides(part.extents(), order)
                                   : spread_strides(part.extents(), order, like.element_bytes);
  return p;
}

Place Passes::area(const Box& part, const Place& like, int number) {
  areas_ = std::max<Index>(areas_, number + 1);
  return scratch(part, like, number);
}

/// Whether a DCT or DST follows in place after an FFT.
bool Passes::takes_two_calls(const AxisVector<int>& axes) const {
  const auto r2r = [&](int a) { return is_r2r(w_.schedule.transforms[a]); };
  return std::any_of(axes.begin(), axes.end(), r2r) && !std::all_of(axes.begin(), axes.end(), r2r);
}

/// What comes from memory and goes there is best copied on both ways; the FFT then works in the cache. Lines
/// that would meet in few cache sets are worth that from a larger cache, too.
bool Passes::copies_aside(const Pass& s, const Box& part) const {
  const Index caches = meets(s, part) ? 32 : 1;
  return !w_.request.two_lanes && w_.large() && room(part, s.source) <= caches * w_.request.cache_bytes;
}

bool Passes::meets(const Pass& s, const Box& part) {
  return lines_meet(s.source, s.result_of(part), s.axes);
}

/// A call that changes lengths copies aside what it works on, whatever the strides.
Place Passes::resize(const Pass& s, const Box& part, bool completes) {
  const Box result = s.result_of(part);
  const Place from = s.gather ? gathered(s, part) : s.source;
  if (s.gather) s.gather(part, from);
  const Place to = completes || w_.request.two_lanes ? s.result : area(result, s.result, s.gather ? 1 : 0);
  sequence_.add_fft(s.stage, s.axes, from, to, part);
  return to;
}

Place Passes::transform(const Pass& s, const Box& part, bool completes) {
  if (s.axes.empty() && !s.gather) return s.source;
  if (!s.axes.empty() && resizes(w_.schedule, s.stage)) return resize(s, part, completes);
  const Box result = s.result_of(part);
  const bool lanes = w_.request.two_lanes;
  // What comes from memory and goes there is best copied on both ways; the FFT then works in the cache.
  // Lines that would meet in few cache sets are worth that from a larger cache, too.
  const Index caches = lines_meet(s.result, result, s.axes) ? 32 : 1;
  const bool by_copies = !lanes && w_.large() && room(part, s.source) <= caches * w_.request.cache_bytes;
  const bool complete =
      lanes || (completes && !by_copies && !takes_two_calls(s.axes) && compact(s.result, result));
  Place from = s.source;
  bool aside = false;  // whether the first scratch area is taken
  if (s.gather || by_copies || (!lanes && !compact(s.source, part))) {
    from = s.gather ? gathered(s, part) : area(part, s.source, 0);
    aside = true;
    if (s.gather) {
      s.gather(part, from);
    } else {
      sequence_.load({.kind = OpKind::copy, .stage = s.stage}, s.source, from, part);
    }
  }
  if (s.axes.empty()) return from;
  AxisVector<int> rest;
  for (const int a : s.axes)
    if (!s.axes_on_arrival.contains(a)) rest.push_back(a);
  if (rest.empty()) return from;
  if (from.space == Space::input && spares_input(s)) {
    AxisVector<int> complex;
    rest = {};
    for (int a : s.axes) (a == at(w_.schedule.stages, s.stage).real_axis ? rest : complex).push_back(a);
    const Place spare = area(part, s.source, 0);
    sequence_.add_fft(s.stage, complex, from, spare, part);
    from = spare;
    aside = true;
  }
  const Place to = complete                                 ? s.result
                   : aside && !converts(s.source, s.result) ? from
                                                            : area(result, s.result, aside ? 1 : 0);
  sequence_.add_fft(s.stage, rest, from, to, part);
  return to;
}

}  // namespace weft
