#include "traffic/parcels.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "traffic/padding.hpp"
#include "traffic/tile_cut.hpp"

namespace weft {

Parcels::Parcels(const Placement& place, const Settings& settings, ReshapeMessages& sent,
                 ReshapeMessages& stored)
    : place_(&place), settings_(settings), sent_(&sent), stored_(&stored) {}

Route Parcels::route(int peer) const {
  const std::vector<int>& nodes = settings_.nodes;
  if (peer == settings_.rank) return settings_.own;
  const bool near = nodes.empty() || at(nodes, peer) == at(nodes, settings_.rank);
  return leg().traits.stores && near ? Route::store : Route::send;
}

void Parcels::find() {
  find_receives();
  find_sends();
}

void Parcels::find_sends() {
  const int j = settings_.reshape, rank = settings_.rank;
  const Tiling& to = *place_->field_after(j).tiling;
  const Box box = place_->field_before(j).box(rank);
  if (leg().planes() != nullptr) {
    const TileCut cut(*place_);
    for (const Overlap& o : to.overlaps(box))
      for (const TileCut::Part& p : cut.parts(j, rank, o.rank, at_once(o.rank)))
        add_send(o.rank, p.tile, p.box);
    return;
  }
  for (int k = 0; k < place_->tiles(j, rank); ++k)
    for (const Overlap& o : to.overlaps(place_->tile(j, rank, k, box))) add_send(o.rank, k, o.box);
}

void Parcels::find_receives() {
  const int j = settings_.reshape, rank = settings_.rank;
  const Tiling& from = *place_->field_before(j).tiling;
  const Box box = place_->field_after(j).box(rank);
  if (leg().planes() != nullptr) {
    const TileCut cut(*place_);
    for (const Overlap& o : from.overlaps(box))
      for (const TileCut::Part& p : cut.parts(j, o.rank, rank, at_once(o.rank)))
        add_receive(o.rank, p.tile, p.box);
    return;
  }
  for (int k = 0; k < place_->tiles(j, rank); ++k)
    for (const Overlap& o : from.overlaps(place_->tile(j, rank, k, box)))
      if (route(o.rank) != Route::stay) add_receive(o.rank, k, o.box);
}

void Parcels::pad() {
  const int j = settings_.reshape;
  members_ = members_of(exchange_groups(*place_->field_before(j).tiling, *place_->field_after(j).tiling),
                        settings_.rank);
  const std::vector<Index> bytes = padded_tiles(*place_, j, members_);
  Index before = 0;  // bytes of the tiles before
  for (std::size_t k = 0; k < sent_->tiles.size(); ++k) {
    TileMessages& m = sent_->tiles[k];
    m.padded_bytes = bytes[k];
    m.padded_parts = static_cast<int>(members_.size());
    if (!settings_.sends_apart) m.send_start += before;
    if (!settings_.receives_apart) m.receive_start += before;
    before += m.padded_parts * m.padded_bytes;
  }
}

namespace {
void sort_by_tile(std::vector<Parcel>& parcels) {
  std::sort(parcels.begin(), parcels.end(), [](const Parcel& a, const Parcel& b) {
    return std::tie(a.tile, a.peer) < std::tie(b.tile, b.peer);
  });
}
}  // namespace

/// Dense parts lie one behind the other, padded ones in their slots; all begin at a multiple of their
/// elements, which devices count on.
void Parcels::lay_out(std::vector<Parcel>& parcels, Index TileMessages::*start) {
  const bool padded = leg().traits.form == Form::padded, sends = &parcels == &sends_;
  const bool apart = sends ? settings_.sends_apart : settings_.receives_apart;
  const Index unit = place_->element_bytes(place_->field_before(settings_.reshape));
  int tile = -1;
  Index offset = sent_->tiles.empty() ? 0 : sent_->tiles.front().*start;
  const auto is_first = [&](const Parcel& p) {
    return settings_.own_first && !sends && !padded && p.route == Route::stay;
  };
  for (Parcel& p : parcels)
    if (is_first(p)) p.offset = std::exchange(offset, offset + rounded_up(p.bytes, unit));
  for (Parcel& p : parcels) {
    if (is_first(p)) continue;
    for (; tile < p.tile && !padded; ++tile) {
      Index& begin = at(sent_->tiles, tile + 1).*start;
      (apart ? offset : begin) = apart ? begin : offset;
    }
    const TileMessages& m = at(sent_->tiles, p.tile);
    p.offset = padded ? padded_slot(members_, p.peer, m.*start, m.padded_bytes) : offset;
    if (!sends || p.route == Route::send) offset += rounded_up(p.bytes, unit);
  }
}

void Parcels::open_receives(const Place& landing, bool in_place) {
  sort_by_tile(receives_);
  if (!in_place) lay_out(receives_, &TileMessages::receive_start);
  for (const Parcel& p : receives_) {
    const StridedPart place{p.box, landing.at(p.box), order_of(settings_.rank)};
    if (p.route == Route::send) {
      at(sent_->tiles, p.tile)
          .receives.push_back({p.peer, p.offset, p.bytes, place_->varying(receive_buffer(p))});
      if (in_place) at(sent_->tiles, p.tile).to.push_back(place);
    }
    if (!leg().traits.stores) continue;
    TileMessages& m = at(stored_->tiles, p.tile);
    if (p.route != Route::send) m.receives.push_back({p.peer, p.offset, p.bytes});
    if (p.route == Route::store && in_place) m.to.push_back(place);
    const Span span = in_place ? span_of(place.at, p.box.extents(), landing.element_bytes)
                               : Span{Space::work, p.offset, p.offset + p.bytes};
    if (m.landing.last == 0) m.landing.first = span.first;
    m.landing = {std::min(m.landing.first, span.first), std::max(m.landing.last, span.last)};
  }
}

void Parcels::open_sends(const Place* source) {
  sort_by_tile(sends_);
  lay_out(sends_, &TileMessages::send_start);
  if (leg().traits.stores && packs(leg())) aim();
  const bool boxes = !packs(leg());
  for (Parcel& p : sends_) {
    if (p.route == Route::send) {
      TileMessages& m = at(sent_->tiles, p.tile);
      m.sends.push_back({p.peer, boxes ? 0 : p.offset, p.bytes, place_->varying(send_buffer(p))});
      if (boxes)
        m.from.push_back({p.box, (source != nullptr ? *source : send_buffer(p)).at(p.box), order_of(p.peer)});
      continue;
    }
    if (leg().traits.stores) at(stored_->tiles, p.tile).sends.push_back({p.peer, 0, p.bytes});
    // This rank's own part goes straight to where it would arrive.
    if (p.route != Route::stay) continue;
    for (const Parcel& r : receives(p.tile))
      if (r.peer == p.peer) p.offset = r.offset;
  }
}

/// Every receiver lays out what it receives in the same way, whoever asks.
void Parcels::aim() {
  std::map<int, std::vector<Parcel*>> stored;
  for (Parcel& p : sends_)
    if (p.route == Route::store) stored[p.peer].push_back(&p);
  for (const auto& [peer, parcels] : stored) {
    ReshapeMessages none, messages;
    messages.tiles.resize(static_cast<std::size_t>(leg().tiles));
    messages.tiles.front().receive_start = place_->receive_base(settings_.reshape, peer);
    Settings settings = settings_;
    settings.rank = peer;
    Parcels theirs(*place_, settings, messages, none);
    theirs.find_receives();
    sort_by_tile(theirs.receives_);
    theirs.lay_out(theirs.receives_, &TileMessages::receive_start);
    for (Parcel* p : parcels)
      for (const Parcel& r : theirs.receives(p->tile))
        if (r.peer == settings_.rank) p->offset = r.offset;
  }
}

void Parcels::send_from(const Place& source, int tile) {
  TileMessages& m = at(sent_->tiles, tile);
  for (const Message& message : m.sends)
    for (Parcel& p : sends_) {
      if (p.tile != tile || p.peer != message.peer) continue;
      const Operand from = source.at(p.box);
      p.offset = from.offset;
      m.from.push_back({p.box, from, order_of(p.peer)});
    }
}

void Parcels::in_ring_order(bool each_tile) {
  const auto turn = [&](const Parcel& p) {
    return std::tuple(each_tile ? p.tile : 0, p.peer <= settings_.rank, p.peer, p.tile);
  };
  std::sort(sends_.begin(), sends_.end(),
            [&](const Parcel& a, const Parcel& b) { return turn(a) < turn(b); });
}

std::span<const Parcel> Parcels::of_tile(const std::vector<Parcel>& all, int tile) {
  const auto first =
      std::lower_bound(all.begin(), all.end(), tile, [](const Parcel& p, int k) { return p.tile < k; });
  return {first, std::upper_bound(first, all.end(), tile, [](int k, const Parcel& p) { return k < p.tile; })};
}

bool Parcels::posts(int k) const {
  const TileMessages& m = at(sent_->tiles, k);
  return !leg().traits.stores || !m.sends.empty() || !m.receives.empty();
}

}  // namespace weft
