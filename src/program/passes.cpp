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

int Passes::chain(int id) {
  if (id >= 0) before_ = {id};
  return id;
}

Ids Passes::travels() const {
  Ids all = before_;
  all.insert(all.end(), travelled_.begin(), travelled_.end());
  return all;
}

void Passes::travel(int id) {
  if (id >= 0) (request_.streams ? travelled_ : before_) = {id};
}

void Passes::catch_up() {
  before_.insert(before_.end(), travelled_.begin(), travelled_.end());
}

void Passes::make_room(const Pass& pass) {
  p_.ffts.reserve(p_.ffts.capacity() + pass.parts.size());
  if (pass.axes.empty() && (pass.arrival < 0 || request_.streams)) return;
  for (const Box& part : pass.parts) {
    const Box result = same_cut(part, pass.result_box, pass.axes);
    scratch_bytes_ = std::max({scratch_bytes_, room(part, pass.source), room(result, pass.result)});
  }
}

Program Passes::close() {
  p_.scratch_offset = aligned(workspace_end(p_));
  p_.workspace_bytes = p_.scratch_offset + areas_ * scratch_bytes_;
  return std::move(p_);
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
  const auto r2r = [&](int a) { return is_r2r(schedule_.transforms[a]); };
  return std::any_of(axes.begin(), axes.end(), r2r) && !std::all_of(axes.begin(), axes.end(), r2r);
}

Place Passes::transform(const Pass& s, const Box& part, bool completes) {
  const bool scattered = s.arrival >= 0;
  if (s.axes.empty() && !scattered) return s.source;
  const Box result = same_cut(part, s.result_box, s.axes);
  // What comes from memory and goes there is best copied on both ways; the FFT then works in the cache.
  const bool streams = request_.streams;
  const bool by_copies = !streams && large() && room(part, s.source) <= request_.cache_bytes;
  const bool complete =
      streams || (completes && !by_copies && !takes_two_calls(s.axes) && compact(s.result, result));
  Place from = s.source;
  bool aside = false;  // whether the first scratch area is taken
  if (scattered || by_copies || (!streams && !compact(s.source, part))) {
    from = streams && s.axes.empty() ? s.result : area(part, s.source, 0);
    aside = true;
    read(s, part, from);
  }
  if (s.axes.empty()) return from;
  const bool converts = s.source.element_bytes != s.result.element_bytes;
  AxisVector<int> rest = s.axes;
  const int real = schedule_.stages[static_cast<std::size_t>(s.stage)].real_axis;
  const bool c2r = schedule_.stages[static_cast<std::size_t>(s.stage)].direction == Direction::backward &&
                   s.axes.contains(real);
  if (c2r && s.axes.size() > 1 && from.space == Space::input) {
    // A c2r of several axes would destroy the user's input.
    AxisVector<int> complex;
    rest = {};
    for (int a : s.axes) (a == real ? rest : complex).push_back(a);
    const Place spare = area(part, s.source, 0);
    chain(writer_.emit_fft(s.stage, complex, from, part, spare, part, before_));
    from = spare;
    aside = true;
  }
  const Place to = complete ? s.result : aside && !converts ? from : area(result, s.result, aside ? 1 : 0);
  chain(writer_.emit_fft(s.stage, rest, from, part, to, result, before_));
  return to;
}

void Passes::read(const Pass& pass, const Box& part, const Place& to) {
  chain(writer_.emit_copy({.kind = OpKind::copy, .stage = pass.stage}, pass.source, to.at(part), part, -1,
                          before_));
  load_ahead();
}

void Passes::finish(const Op& op, const Place& from, const Box& part) {
  if (from.space == Space::output) return;
  store(op, from, output_.at(part), part, -1);
}

void Passes::store(const Op& op, const Place& from, const Operand& to, const Box& box, int to_rank) {
  const bool leaves = to_rank >= 0;
  const int id = writer_.emit_copy(op, from, to, box, to_rank, leaves ? travels() : before_);
  if (id < 0) return;
  leaves ? travel(id) : static_cast<void>(chain(id));
  p_.copies.back().store_past = large();
}

}  // namespace weft
