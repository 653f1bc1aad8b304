#include <algorithm>

#include "program/padding.hpp"
#include "program/reshape_builder.hpp"

namespace weft {

void ReshapeBuilder::open_source(Reshape& r) {
  const int stage = place_.fft_stage(r.j);
  const Place staging = place_.staging(r.j, rank_);
  if (r.j > 0) {
    const AxisVector<int> axes =
        stage >= 0 ? schedule_.stages[static_cast<std::size_t>(stage)].axes : AxisVector<int>{};
    if (carry(r) == Carry::strided && r.landing.space != Space::work &&
        landed_.element_bytes == staging.element_bytes) {
      // Nothing is received in the workspace, so the array stays where it is.
      r.source = landed_;
      r.ready = landed_ids_;
      if (stage >= 0 && !landed_.box.empty())
        r.ready = writer_.transform_whole(stage, axes, landed_, landed_, landed_, landed_ids_);
      return;
    }
    r.source = staging;
    // Without an FFT in between, as among bricks, it is a copy, and counts to the reshape that it precedes.
    r.ready = writer_.transform_whole(stage >= 0 ? stage : place_.stage_of(r.j), axes, landed_, staging,
                                      staging, landed_ids_);
    if (r.ready.back() < 0) r.ready = landed_ids_;  // a rank without points here
    r.landing_free = r.ready;
    return;
  }
  // Writing tiles of the result over an input that is still being read has to be avoided in place.
  const bool reads_while_writing = carry(r) == Carry::strided && place_.fft_stage(r.j + 1) < 0;
  const bool aside = request_.in_place && r.last && (r.tiles > 1 || reads_while_writing);
  if (stage < 0) {
    r.source = aside ? staging : input_;
    if (aside) r.ready = writer_.transform_whole(place_.stage_of(r.j), {}, input_, staging, staging, {});
    return;
  }
  const Stage& s = schedule_.stages[static_cast<std::size_t>(stage)];
  AxisSplit axes = split_axes(s, choice(r.j).axis, true);
  // A c2r of several axes goes through the landing half.
  const bool spares = s.real_axis >= 0 && s.direction == Direction::backward && s.axes.size() > 1;
  if (aside || spares) axes = {s.axes, {}};
  r.source = staging;
  r.send_axes = axes.tile;
  if (!aside && !spares) {
    r.begin_axes = axes.whole;
    return;
  }
  r.ready = writer_.transform_whole(stage, axes.whole, input_, staging, dense_work(input_), {});
  same_in_all_trials(r.ready);
  if (r.ready.size() > 1) r.landing_free = r.ready;
}

void ReshapeBuilder::pad(Reshape& r) {
  const std::vector<int> groups =
      exchange_groups(*place_.field_before(r.j).tiling, *place_.field_after(r.j).tiling);
  r.members = members_of(groups, rank_);
  for (int k = 0; k < r.tiles; ++k) {
    TileMessages& m = messages(r, k);
    m.padded_bytes = padded_bytes(place_, r.j, k, r.members);
    m.padded_parts = static_cast<int>(r.members.size());
  }
}

void ReshapeBuilder::begin_item(Reshape& r, int item) {
  if (r.begin_axes.empty()) return;
  r.item_ready = transform_item(r, place_.fft_stage(0), r.begin_axes, input_, r.source, item, {},
                                choice(r.j).before.fft_tests);
}

void ReshapeBuilder::send(Reshape& r, int k) {
  if (k % r.tiles_per_item == 0) begin_item(r, k / r.tiles_per_item);
  const Box part = place_.tile(r.j, rank_, k, place_.field_before(r.j).box(rank_));
  std::vector<Overlap> parts = place_.field_after(r.j).tiling->overlaps(part);
  // Ring order, so that all ranks do not write to the same peer at the same time.
  if (carry(r) == Carry::direct) {
    const auto first =
        std::find_if(parts.begin(), parts.end(), [&](const Overlap& o) { return o.rank > rank_; });
    std::rotate(parts.begin(), first, parts.end());
  }
  const std::vector<Place> targets = open_sends(r, k, parts);
  Ids source = r.ready, ffts, copies;
  append(source, r.item_ready);
  const std::vector<Box> subs = sub_boxes(r, part, choice(r.j).before);
  for (const Box& sub : subs) {
    Ids ready = source;
    if (!r.send_axes.empty() && !sub.empty()) {
      const Place& from = source.empty() ? input_ : r.source;
      ready = transform_part(place_.fft_stage(0), r.send_axes, from, r.source, sub, source,
                             choice(r.j).before.fft_tests / static_cast<int>(subs.size()));
      append(ffts, ready);
    }
    append(of(r.packed, k), ready);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const Box box = intersect(sub, parts[i].box);
      if (!box.empty() && targets[i].element_bytes > 0)
        append(copies, copy_out(r, k, parts[i].rank, targets[i], box, ready));
    }
  }
  test_while(ffts, choice(r.j).before.fft_tests);
  test_while(copies, choice(r.j).before.copy_tests);
  append(of(r.packed, k), copies);
  if (carry(r) == Carry::direct) tell(r, k, parts, copies);
  if (p_.in_place) append(input_readers_, of(r.packed, k));
}

std::vector<Place> ReshapeBuilder::open_sends(Reshape& r, int k, const std::vector<Overlap>& parts) {
  std::vector<Place> targets;
  Index offset = place_.tile_offset(r.j, rank_, k);
  for (const Overlap& o : parts) {
    const Message message{o.rank, 0, o.box.count() * r.source.element_bytes};
    targets.emplace_back();
    if (r.keeps && o.rank == rank_) {
      targets.back() = r.landing;
    } else if (carry(r) == Carry::strided || (carry(r) == Carry::direct && !near(o.rank))) {
      TileMessages& m = carry(r) == Carry::strided ? messages(r, k) : far(r, k);
      m.sends.push_back(message);
      m.from.push_back({o.box, r.source.at(o.box), place_.field_after(r.j).order(o.rank)});
    } else if (carry(r) == Carry::direct) {
      messages(r, k).sends.push_back(message);
      targets.back() = place_.landing(r.j, o.rank);
    } else {
      TileMessages& m = messages(r, k);
      const Index at =
          carry(r) == Carry::padded ? padded_slot(r.members, o.rank, m.send_start, m.padded_bytes) : offset;
      m.sends.push_back({o.rank, at, message.bytes});
      targets.back() = wire(r, o.box, o.rank, at, r.source);
      offset += message.bytes;
    }
  }
  return targets;
}

Ids ReshapeBuilder::copy_out(Reshape& r, int k, int rank, const Place& target, const Box& box,
                             const Ids& ready) {
  Ids deps = ready;
  append(deps, r.ready);
  append(deps, r.item_ready);
  const bool own = rank == rank_, direct = carry(r) == Carry::direct;
  if (own && (direct || r.keeps)) append(deps, r.landing_free);
  if (direct && !own) append(deps, room(r, k, rank));
  const OpKind kind = direct ? OpKind::put : own && r.keeps ? OpKind::keep : OpKind::pack;
  const int peer = kind == OpKind::keep ? -1 : rank;
  const int to_rank = direct && !own ? rank : -1;
  return {writer_.emit_copy(op_of(r, kind, k, peer), r.source, target.at(box), box, to_rank, deps)};
}

Ids ReshapeBuilder::room(Reshape& r, int k, int peer) {
  const auto known = rooms_.find({r.j, k, peer});
  if (known != rooms_.end()) return {known->second};
  const int id = writer_.emit(op_of(r, OpKind::await_free, k, peer), {});
  rooms_[{r.j, k, peer}] = id;
  return {id};
}

void ReshapeBuilder::tell(Reshape& r, int k, const std::vector<Overlap>& parts, const Ids& copies) {
  for (const Overlap& o : parts)
    if (o.rank != rank_ && near(o.rank))
      of(r.packed, k).push_back(writer_.emit(op_of(r, OpKind::signal_full, k, o.rank), copies));
}

void ReshapeBuilder::post(Reshape& r, int k, int window) {
  if (!posts(r, k)) return;
  Ids deps = of(r.packed, k);
  append(deps, r.ready);
  append(deps, r.item_ready);
  // Collective exchanges start in the same order everywhere.
  if (k > 0) append(deps, of(r.posted, k - 1));
  if (window > 0 && k >= window) append(deps, of(r.arrived, k - window));
  if (window == 0 && k > 0) append(deps, of(r.arrived, k - 1));
  if (carry(r) == Carry::strided || carry(r) == Carry::direct) {  // it writes where the result belongs
    append(deps, r.landing_free);
    if (r.landing.space != Space::work) append(deps, input_readers_);
  }
  // The flags of a direct exchange are behind what `posted` holds already.
  of(r.posted, k).push_back(writer_.emit(op_of(r, OpKind::post, k), deps));
}

}  // namespace weft
