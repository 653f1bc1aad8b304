#include "program/tile_traffic.hpp"

#include <algorithm>
#include <limits>

namespace weft {

TileTraffic::TileTraffic(ProgramWriter& writer, Sequence& sequence)
    : w_(writer),
      sequence_(sequence),
      cut_(writer.place),
      traffic_(static_cast<std::size_t>(writer.place.reshapes())) {
  for (int j = 0; j < w_.place.reshapes(); ++j) open(j);
}

void TileTraffic::open(int j) {
  Traffic& t = of(j);
  const Field& to = w_.place.field_after(j);
  const bool takes_part = !w_.place.field_before(j).box(w_.rank).empty() || !to.box(w_.rank).empty();
  ReshapeProgram& r = w_.open(j, takes_part ? w_.leg(j).tiles : 0);
  const Route own = traits(j).form == Form::padded ? Route::send : Route::stay;
  const Parcels::Settings settings{j, w_.rank, w_.request.nodes, own, false, !w_.request.two_lanes};
  t.parcels.emplace(w_.place, settings, r.sent, r.stored);
  if (!takes_part) return;
  t.left.resize(r.sent.tiles.size(), 0);
  t.posts.resize(r.sent.tiles.size(), -1);
  const Place here = w_.place.landing(j, w_.rank);
  // Also of tiles without parts: MPI would take equal addresses for an exchange in place.
  for (TileMessages& m : r.sent.tiles) {
    m.send_start = departure_base();
    m.receive_start = w_.place.receive_base(j, w_.rank);
  }
  t.parcels->find();
  if (traits(j).form == Form::padded) t.parcels->pad();
  const std::vector<Parcel>& receives = t.parcels->receives();
  t.arrives_in_place = any_place(j) && std::all_of(receives.begin(), receives.end(), [&](const Parcel& p) {
                         return p.peer == w_.rank || lies_packed(here, p.box, to.order(w_.rank));
                       });
  t.parcels->open_receives(here, !arrives_packed(j));
  t.parcels->open_sends(nullptr);
  t.parcels->in_ring_order(false);
  t.targets.resize(t.parcels->sends().size());
  for (const Parcel& s : t.parcels->sends()) at(t.left, s.tile) += s.box.count();
}

/// Of the last reshape: what is left there for another would have to wait until this has left. The user's
/// array is not what exchanges are to read.
bool TileTraffic::departs_in_place(int j, int k) const {
  if (!any_place(j) || j + 1 < w_.place.reshapes()) return false;
  const Place& from = of(j).departing;
  if (from.space != Space::work || from.base != departing(j).base) return false;
  const std::vector<Parcel>& sends = of(j).parcels->sends();
  return std::all_of(sends.begin(), sends.end(), [&](const Parcel& s) {
    return s.tile != k || s.peer == w_.rank ||
           lies_packed(from, s.box, w_.place.field_after(j).order(s.peer));
  });
}

void TileTraffic::free(int j) {
  if (!traits(j).stores) return;
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
    if (!w_.request.two_lanes) bring(j, i, from, piece);
  }
  t.departing = from;
}

void TileTraffic::bring(int j, std::size_t i, const Place& from, const Box& piece) {
  Traffic& t = of(j);
  const Parcel& s = t.parcels->sends()[i];
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
  if (s.route != Route::send) return sequence_.store(op, from, *target, piece);
  settle(s.offset, s.offset + s.bytes);
  sequence_.copy(op, from, *target, piece);
}

void TileTraffic::tell_complete(int j) {
  Traffic& t = of(j);
  for (; t.told < tiles(j) && at(t.left, t.told) == 0; ++t.told) tell(j, t.told);
}

/// The part that stays on this rank is copied last, so that other ranks get theirs sooner. Without overlap
/// the tile is awaited before anything else is done.
void TileTraffic::tell(int j, int k) {
  const bool in_place = w_.request.two_lanes && departs_in_place(j, k);
  if (in_place) of(j).parcels->send_from(of(j).departing, k);
  bring_tile(j, k, false, in_place);
  if (of(j).parcels->posts(k)) post(j, k);
  bring_tile(j, k, true, in_place);
  if (w_.leg(j).window == 0) await_tiles(j, k + 1);
}

void TileTraffic::bring_tile(int j, int k, bool stays, bool in_place) {
  const std::vector<Parcel>& sends = of(j).parcels->sends();
  for (std::size_t i = 0; i < sends.size(); ++i) {
    const Parcel& s = sends[i];
    if (s.tile != k || (s.route == Route::stay) != stays) continue;
    if (w_.request.two_lanes && (stays || !in_place)) bring(j, i, of(j).departing, s.box);
    if (s.route == Route::store) sequence_.move(w_.op_of(j, OpKind::signal_full, k, s.peer));
  }
}

void TileTraffic::post(int j, int k) {
  const int post = sequence_.move(w_.op_of(j, OpKind::post, k));
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
    sequence_.load(w_.op_of(j, own ? OpKind::copy : OpKind::unpack, r.tile, own ? -1 : r.peer),
                   parcels.receive_buffer(r), to, piece);
  }
}

void TileTraffic::settle(Index first, Index last) {
  std::erase_if(leaving_, [&](const Leaving& l) {
    const bool meets = l.first < last && first < l.last;
    if (meets) sequence_.complete(w_.op_of(l.j, OpKind::wait_sent, l.tile), l.post);
    return meets;
  });
}

void TileTraffic::settle_all() {
  for (const Leaving& l : leaving_) sequence_.complete(w_.op_of(l.j, OpKind::wait_sent, l.tile), l.post);
  leaving_.clear();
}

}  // namespace weft
