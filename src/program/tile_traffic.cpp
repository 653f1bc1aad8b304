#include "program/tile_traffic.hpp"

#include <algorithm>
#include <limits>

#include "program/sub_tiles.hpp"

namespace weft {

TileTraffic::TileTraffic(ProgramWriter& writer, Sequence& sequence)
    : w_(writer),
      sequence_(sequence),
      cut_(writer.place),
      traffic_(static_cast<std::size_t>(writer.place.reshapes())) {
  for (int j = 0; j < w_.place.reshapes(); ++j) open_receives(j);
  for (int j = 0; j < w_.place.reshapes(); ++j) open_sends(j);
}

void TileTraffic::open_receives(int j) {
  Traffic& t = of(j);
  const Field& to = w_.place.field_after(j);
  const bool takes_part = !w_.place.field_before(j).box(w_.rank).empty() || !to.box(w_.rank).empty();
  ReshapeProgram& r = w_.open(j, takes_part ? w_.leg(j).tiles : 0);
  const Route own = traits(j).form == Form::padded ? Route::send : Route::stay;
  // What stays in one piece is more easily stored by an FFT.
  const bool lanes = w_.request.two_lanes;
  const Parcels::Settings settings{.reshape = j,
                                   .rank = w_.rank,
                                   .nodes = w_.request.nodes,
                                   .own = own,
                                   .receives_apart = false,
                                   .at_once = !lanes,
                                   .own_first = lanes && !traits(j).stores};
  t.parcels.emplace(w_.place, settings, r.sent, r.stored);
  if (!takes_part) return;
  t.left.resize(r.sent.tiles.size(), 0);
  t.posts.resize(r.sent.tiles.size(), -1);
  const Place here = w_.place.landing(j, w_.rank);
  for (TileMessages& m : r.sent.tiles) m.receive_start = w_.place.receive_base(j, w_.rank);
  t.parcels->find();
  if (traits(j).form == Form::padded) t.parcels->pad();
  const std::vector<Parcel>& receives = t.parcels->receives();
  t.arrives_in_place = any_place(j) && std::all_of(receives.begin(), receives.end(), [&](const Parcel& p) {
                         return p.peer == w_.rank || lies_packed(here, p.box, to.order(w_.rank));
                       });
  t.parcels->open_receives(here, !arrives_packed(j));
}

void TileTraffic::open_sends(int j) {
  Traffic& t = of(j);
  if (tiles(j) == 0) return;  // this rank takes no part
  make_room(j);
  t.parcels->open_sends(nullptr);
  t.parcels->in_ring_order(false);
  t.targets.resize(t.parcels->sends().size());
  for (const Parcel& s : t.parcels->sends()) at(t.left, s.tile) += s.box.count();
}

Place TileTraffic::departing(int j) const {
  return departing(j, w_.place.field_before(j).box(w_.rank), halves() * half_bytes());
}

Place TileTraffic::departing(int j, const Box& part, Index base) const {
  Place p = w_.place.dense(w_.place.field_before(j), w_.rank, base);
  p.box = part;
  p.strides = dense_strides(departing_extents(j, part), w_.place.field_before(j).order(w_.rank));
  return p;
}

Index TileTraffic::departing_bytes(int j, const Box& part) const {
  Index bytes = w_.place.element_bytes(w_.place.field_before(j));
  for (const Index extent : departing_extents(j, part)) bytes *= extent;
  return bytes;
}

Shape TileTraffic::departing_extents(int j, const Box& part) const {
  Shape extents = part.extents();
  const Field& field = w_.place.field_before(j);
  const int stage = w_.place.fft_stage(j);
  if (!w_.request.two_lanes || j == 0 || stage < 0 || field.element != Element::real) return extents;
  const int axis = at(w_.schedule.stages, stage).real_axis;
  const Strides dense = dense_strides(field.box(w_.rank).extents(), field.order(w_.rank));
  if (axis >= 0 && dense[axis] == 1 && !resizes(w_.schedule, stage) && arrives_packed(j - 1))
    extents[axis] = 2 * (extents[axis] / 2 + 1);
  return extents;
}

Index TileTraffic::first_of_own(int j) const {
  const Place landing = w_.place.landing(j, w_.rank);
  Index first = landing.base + half_bytes();
  for (const Parcel& r : of(j).parcels->receives())
    if (r.route == Route::stay && !r.box.empty())
      first = std::min(first, arrives_packed(j) ? r.offset : landing.at(r.box).offset);
  return first;
}

bool TileTraffic::is_left(int j) const {
  return !axes_of(w_.schedule, w_.place.fft_stage(j)).empty() || (j > 0 && arrives_packed(j - 1));
}

/// Of the last reshape: what is left there for another would have to wait until this has left. The user's
/// array is not what exchanges are to read.
TileTraffic::Lying TileTraffic::lying(int j) const {
  if (!w_.request.two_lanes || !any_place(j) || j + 1 < w_.place.reshapes() || !is_left(j)) return Lying::no;
  const Place all = departing(j);
  const std::vector<int> told = steps_of_tiles(j);
  const auto parts_are_pieces = [&](bool in_steps) {
    return std::ranges::all_of(of(j).parcels->sends(), [&](const Parcel& s) {
      const Place from = in_steps ? step_of(j, at(told, s.tile)) : all;
      return intersect(s.box, from.box) == s.box &&
             (s.peer == w_.rank || lies_packed(from, s.box, w_.place.field_after(j).order(s.peer)));
    });
  };
  return parts_are_pieces(false) ? Lying::in_all : parts_are_pieces(true) ? Lying::in_steps : Lying::no;
}

Place TileTraffic::step_of(int j, int step) const {
  const Traffic& t = of(j);
  Index base = halves() * half_bytes();
  if (t.slots > 0)
    base += step % t.slots * t.slot_bytes;
  else
    for (int i = 0; i < step; ++i) base += departing_bytes(j, at(t.steps, i));
  return departing(j, at(t.steps, step), base);
}

std::vector<int> TileTraffic::steps_of_tiles(int j) const {
  const std::vector<Box>& steps = of(j).steps;
  std::vector<int> last(of(j).left.size(), 0);
  for (const Parcel& s : of(j).parcels->sends())
    for (std::size_t i = 0; i < steps.size(); ++i)
      if (!intersect(s.box, steps[i]).empty())
        at(last, s.tile) = std::max(at(last, s.tile), static_cast<int>(i));
  for (std::size_t k = 1; k < last.size(); ++k) last[k] = std::max(last[k], last[k - 1]);
  return last;
}

Box TileTraffic::last_part(int j) const {
  const AxisVector<int> axes = axes_of(w_.schedule, w_.place.fft_stage(j));
  const std::vector<Box> read = cut_.receiving(j - 1, w_.rank);
  for (auto step = of(j).steps.rbegin(); step != of(j).steps.rend(); ++step)
    for (auto from = read.rbegin(); from != read.rend(); ++from) {
      const Box part = intersect(*step, same_cut(*from, *step, axes));
      if (!part.empty()) return part;
    }
  return {};
}

std::vector<Index> TileTraffic::bytes_sent(int j) const {
  std::vector<Index> bytes;
  for (const TileMessages& m : at(w_.program.reshapes, j).sent.tiles)
    bytes.push_back(m.padded_parts * m.padded_bytes);
  if (traits(j).form == Form::padded) return bytes;
  const Index unit = w_.place.element_bytes(w_.place.field_before(j));
  for (const Parcel& s : of(j).parcels->sends())
    if (s.route == Route::send) at(bytes, s.tile) += rounded_up(s.bytes, unit);
  return bytes;
}

/// What is sent, tile by tile. If that is one, and the reshape before has tiles along the same axis: what it
/// brings, where tiles are joined until no part that is sent crosses the border between two steps.
std::vector<Box> TileTraffic::steps(int j) const {
  std::vector<Box> sent = cut_.sending(j, w_.rank);
  if (j == 0 || sent.size() != 1 || axes_of(w_.schedule, w_.place.fft_stage(j)).empty()) return sent;
  const int axis = w_.leg(j - 1).axis;
  const std::vector<Box> received = cut_.receiving(j - 1, w_.rank);
  const bool in_tiles = axis >= 0 && axis == w_.leg(j).axis && w_.leg(j - 1).planes()->cuts_after;
  if (!in_tiles || received.empty()) return sent;
  std::vector<Box> steps;
  Box step = sent.front();
  const auto comes_out_even = [&](const Parcel& s) {
    const Box piece = intersect(s.box, step);
    return piece.empty() || piece == s.box;
  };
  bool begins = true;
  for (const Box& tile : received) {
    step.lo[axis] = begins ? tile.lo[axis] : std::min(step.lo[axis], tile.lo[axis]);
    step.hi[axis] = begins ? tile.hi[axis] : std::max(step.hi[axis], tile.hi[axis]);
    begins = &tile == &received.back() || std::ranges::all_of(of(j).parcels->sends(), comes_out_even);
    if (begins) steps.push_back(step);
  }
  return steps;
}

/// Tiles without parts have send buffers as well: MPI would take equal addresses for an exchange in place.
void TileTraffic::make_room(int j) {
  Traffic& t = of(j);
  const std::vector<Index> bytes = bytes_sent(j);
  Index next = halves() * half_bytes();
  if (!w_.request.two_lanes) {
    for (int k = 0; k < tiles(j); next += at(bytes, k++)) sent(j, k).send_start = next;
    return;
  }
  t.steps = steps(j);
  t.lying = lying(j);
  const bool lies = t.lying != Lying::no;
  t.at_once.resize(t.left.size(), false);
  t.packed.resize(t.left.size());
  const std::vector<int> step = steps_of_tiles(j);
  // If the pass reads the user's array, the half where the reshape does not land is free from the start. Else
  // the pass reads that half, and tiles with a point of its last part, and those behind them, are packed
  // after.
  const Index half = w_.place.landing(j, w_.rank).base > 0 ? 0 : half_bytes();
  const bool may_use_half = halves() > 1 && !lies && (j == 0 || is_left(j));
  const Box last = j > 0 ? last_part(j) : Box{};
  int first_in_half = j > 0 ? tiles(j) : 0;
  for (const Parcel& s : t.parcels->sends()) {
    if (j > 0 && !intersect(s.box, last).empty()) first_in_half = std::min(first_in_half, s.tile);
    if (is_left(j) && !lies && !(intersect(s.box, at(t.steps, at(step, s.tile))) == s.box))
      at(t.at_once, s.tile) = true;
  }
  t.in_half.resize(t.left.size(), false);
  Index in_use = 0, behind = 0;  // bytes of send buffers in the half and behind the halves
  for (int k = 0; k < tiles(j) && !lies; ++k) {
    at(t.in_half, k) = may_use_half && k >= first_in_half && (j == 0 || !at(t.at_once, k)) &&
                       at(bytes, k) > 0 && in_use + at(bytes, k) <= half_bytes();
    (at(t.in_half, k) ? in_use : behind) += at(bytes, k);
  }
  t.sends_from_half = in_use > 0;
  if (is_left(j)) {
    for (const Box& b : t.steps) t.slot_bytes = std::max(t.slot_bytes, aligned(departing_bytes(j, b)));
    // What is stored is taken while the next step is transformed; what is sent has been packed by then.
    const int wanted = traits(j).stores ? 2 : 1;
    const bool fit = behind + wanted * t.slot_bytes <= half_bytes();
    if (behind > 0) t.slots = fit ? wanted : 1;
    next += behind > 0 ? t.slots * t.slot_bytes : aligned(departing_bytes(j, departing(j).box));
  }
  // What is sent first leaves room, before it or behind it, for what stays on this rank in the next reshape.
  // What is packed later goes where the first parts have been read.
  const bool before = j > 0 || halves() == 1 || half + in_use <= first_of_own(j + 1);
  Index next_in_half = before ? half : half + half_bytes() - aligned(in_use);
  for (int k = 0; k < tiles(j); ++k) {
    Index& start = at(t.in_half, k) ? next_in_half : next;
    sent(j, k).send_start = start;
    if (!lies) start += at(bytes, k);
  }
  if (t.slots == 0) t.at_once.assign(t.left.size(), false);
}

Place TileTraffic::departing(int j, const Box& part) {
  Traffic& t = of(j);
  Place p = departing(j);
  if (!is_left(j)) return p;
  if (t.slots > 0 || t.lying == Lying::in_steps) {
    int step = 0;
    while (intersect(at(t.steps, step), part).empty()) ++step;
    p = step_of(j, step);
    if (t.slots > 0 && traits(j).stores && step >= static_cast<int>(t.moved.size())) {
      t.moved.resize(static_cast<std::size_t>(step) + 1, sequence_.moved());
      if (step >= t.slots) sequence_.follow_moves(at(t.moved, step - t.slots + 1));
    }
  }
  const Span span = span_of(p.at(part), departing_extents(j, part), p.element_bytes);
  take(j, span.first, span.last);
  return p;
}

void TileTraffic::free(int j) {
  if (!traits(j).stores) return;
  settle_half(j);
  for (int k = 0; k < tiles(j); ++k)
    if (!stored(j, k).receives.empty()) sequence_.add(w_.op_of(j, OpKind::signal_free, k));
}

void TileTraffic::put(int j, const Place& from, const Box& part) {
  Traffic& t = of(j);
  const std::vector<Parcel>& sends = t.parcels->sends();
  for (std::size_t i = 0; i < sends.size(); ++i) {
    const Box piece = intersect(sends[i].box, part);
    if (piece.empty()) continue;
    at(t.left, sends[i].tile) -= piece.count();
    if (w_.request.two_lanes && !at(t.at_once, sends[i].tile)) continue;
    bring(j, i, from, piece);
    if (w_.request.two_lanes && sends[i].route == Route::send)
      at(t.packed, sends[i].tile) = sequence_.computed();
  }
  t.departing = from;
}

void TileTraffic::bring(int j, std::size_t i, const Place& from, const Box& piece) {
  Traffic& t = of(j);
  const Parcel& s = t.parcels->sends()[i];
  if (s.route == Route::stay && t.left_at) return;
  std::optional<Place>& target = t.targets[i];
  if (!target) {
    if (s.route == Route::store) sequence_.move(w_.op_of(j, OpKind::await_free, s.tile, s.peer));
    if (s.route == Route::stay && t.kept_at) {
      target = t.kept_at;
    } else {
      target = s.route == Route::send || arrives_packed(j) ? t.parcels->send_buffer(s)
                                                           : w_.place.landing(j, s.peer);
    }
  }
  const Op op = w_.copy_of(j, s);
  if (s.route == Route::send) take(j, s.offset, s.offset + s.bytes);
  if (s.route == Route::stay && !t.kept_at) {
    const Span span = span_of(target->at(s.box), s.box.extents(), target->element_bytes);
    take(j, span.first, span.last);
  }
  if (s.route == Route::send) return sequence_.copy(op, from, *target, piece);
  sequence_.store(op, from, *target, piece);
  if (w_.request.two_lanes && s.route == Route::store && from.space == Space::work) {
    const Span read = span_of(from.at(piece), piece.extents(), from.element_bytes);
    putting_.push_back({j, sequence_.moved(), read.first, read.last});
  }
}

/// Puts are done in their order: it is enough to follow the last one.
void TileTraffic::follow_puts(int j, Index first, Index last) {
  const auto meets = [&](const Putting& p) { return p.j != j && p.first < last && first < p.last; };
  const auto newest = std::find_if(putting_.rbegin(), putting_.rend(), meets);
  if (newest == putting_.rend()) return;
  sequence_.follow_moves(newest->moved);
  putting_.erase(putting_.begin(), newest.base());
}

void TileTraffic::tell_complete(int j) {
  Traffic& t = of(j);
  for (; t.told < tiles(j) && at(t.left, t.told) == 0; ++t.told) tell(j, t.told);
}

/// The part that stays on this rank is copied last, so that other ranks get theirs sooner. Without overlap
/// the tile is awaited before anything else is done.
void TileTraffic::tell(int j, int k) {
  if (of(j).lying != Lying::no) of(j).parcels->send_from(of(j).departing, k);
  // Padded tiles of which nothing is for this rank arrive in the half, too.
  if (j > 0 && w_.request.two_lanes && at(of(j).in_half, k)) await_all(j - 1);
  bring_tile(j, k, false);
  if (of(j).parcels->posts(k)) post(j, k);
  bring_tile(j, k, true);
  if (w_.leg(j).window == 0) await_tiles(j, k + 1);
}

void TileTraffic::bring_tile(int j, int k, bool stays) {
  const Traffic& t = of(j);
  const std::vector<Parcel>& sends = t.parcels->sends();
  for (std::size_t i = 0; i < sends.size(); ++i) {
    const Parcel& s = sends[i];
    if (s.tile != k || (s.route == Route::stay) != stays) continue;
    const bool here = w_.request.two_lanes && !at(t.at_once, k);  // else pieces have been brought
    if (here && (stays || t.lying == Lying::no)) bring(j, i, t.departing, s.box);
    if (s.route == Route::store) sequence_.move(w_.op_of(j, OpKind::signal_full, k, s.peer));
  }
}

void TileTraffic::post(int j, int k) {
  settle_half(j, traits(j).by_device);
  // Other copies that follow may be done by FFTs, before these.
  const Ids packed = w_.request.two_lanes ? at(of(j).packed, k) : Ids{};
  const int post = sequence_.move(w_.op_of(j, OpKind::post, k), packed);
  at(of(j).posts, k) = post;
  Leaving l{j, k, post, std::numeric_limits<Index>::max(), 0};
  const auto cover = [&](Index first, Index bytes) {
    l.first = std::min(l.first, first);
    l.last = std::max(l.last, first + bytes);
  };
  const TileMessages& m = sent(j, k);
  if (m.padded_bytes > 0) cover(m.send_start, m.padded_parts * m.padded_bytes);
  for (const Parcel& s : of(j).parcels->sends())
    if (s.tile == k && s.route == Route::send) cover(s.offset, s.bytes);
  leaving_.push_back(l);
}

/// All tiles up to the last one that brings some of the part: what ranks put lies in one layout, where boxes
/// without common points have no common memory.
void TileTraffic::await(int j, const Box& part) {
  int wanted = of(j).awaited;
  for (const Parcel& r : of(j).parcels->receives())
    if (r.tile >= wanted && r.route != Route::stay && !intersect(r.box, part).empty()) wanted = r.tile + 1;
  await_tiles(j, wanted);
}

void TileTraffic::await_tiles(int j, int wanted) {
  for (int& k = of(j).awaited; k < wanted; ++k) {
    if (traits(j).stores)
      for (const Message& m : stored(j, k).receives)
        if (m.peer != w_.rank) sequence_.add(w_.op_of(j, OpKind::await_full, k, m.peer));
    if (of(j).parcels->posts(k)) sequence_.complete(w_.op_of(j, OpKind::receive, k), at(of(j).posts, k));
  }
}

void TileTraffic::gather(int j, const Box& part, const Place& to) {
  const Parcels& parcels = *of(j).parcels;
  for (const Parcel& r : parcels.receives()) {
    const Box piece = intersect(r.box, part);
    if (piece.empty()) continue;
    const bool own = r.route == Route::stay;
    if (own && of(j).kept_at) continue;
    if (!own) await_tiles(j, r.tile + 1);
    sequence_.load(w_.op_of(j, own ? OpKind::copy : OpKind::unpack, r.tile, own ? -1 : r.peer), arrived(j, r),
                   to, piece);
  }
}

bool TileTraffic::is_whole_in_parts(int j, int axis) const {
  const Box whole = w_.place.field_after(j).box(w_.rank);
  return std::ranges::all_of(of(j).parcels->receives(), [&](const Parcel& r) {
    return r.box.empty() || (r.box.lo[axis] == whole.lo[axis] && r.box.hi[axis] == whole.hi[axis]);
  });
}

int TileTraffic::parts_that_meet(int j, const Box& box) const {
  return static_cast<int>(std::ranges::count_if(
      of(j).parcels->receives(), [&](const Parcel& r) { return !intersect(r.box, box).empty(); }));
}

void TileTraffic::transform(int j, const Box& box, const AxisVector<int>& axes, const Place& to, bool own) {
  const Traffic& t = of(j);
  const int stage = w_.place.fft_stage(j + 1);
  for (const Parcel& r : t.parcels->receives()) {
    if ((r.route == Route::stay) != own) continue;
    if (own && (t.kept_at || t.left_at)) {  // all of it in one piece, whatever tiles it belongs to
      const Box stays =
          intersect(w_.place.field_before(j).box(w_.rank), w_.place.field_after(j).box(w_.rank));
      return sequence_.add_fft(stage, axes, t.left_at ? *t.left_at : to, to, intersect(stays, box));
    }
    const Box piece = intersect(r.box, box);
    if (!own && !piece.empty()) await_tiles(j, r.tile + 1);
    sequence_.add_fft(stage, axes, arrived(j, r), to, piece);
  }
}

std::optional<ByteRange> TileTraffic::free_for_last_pass(Index bytes) const {
  const int j = w_.place.reshapes() - 1;
  // What is put into the workspaces of peers may still be read from where it departs.
  if (traits(j).stores) return std::nullopt;
  const Traffic& t = of(j);
  if (is_left(j) && t.lying == Lying::no &&
      bytes <= (t.slots > 0 ? t.slots * t.slot_bytes : departing_bytes(j, departing(j).box)))
    return ByteRange{halves() * half_bytes(), halves() * half_bytes() + bytes};
  if (halves() == 1) return std::nullopt;
  // Send buffers are at the beginning of that half.
  const Index end = w_.place.landing(j, w_.rank).base > 0 ? half_bytes() : 2 * half_bytes();
  return ByteRange{end - bytes, end};
}

void TileTraffic::settle_half(int j, bool for_device) {
  const Index half = w_.place.landing(j, w_.rank).base;
  settle(half, half + half_bytes(), for_device);
}

void TileTraffic::settle(Index first, Index last, bool for_device) {
  std::erase_if(leaving_, [&](const Leaving& l) {
    const bool meets = l.first < last && first < l.last && !(for_device && traits(l.j).by_device);
    if (meets) sequence_.complete(w_.op_of(l.j, OpKind::wait_sent, l.tile), l.post);
    return meets;
  });
}

void TileTraffic::settle_all() {
  for (const Leaving& l : leaving_) sequence_.complete(w_.op_of(l.j, OpKind::wait_sent, l.tile), l.post);
  leaving_.clear();
}

}  // namespace weft
