#include <algorithm>

#include "program/padding.hpp"
#include "program/reshape_builder.hpp"

namespace weft {

void ReshapeBuilder::open_landing(Reshape& r) {
  r.landing = place_.landing(r.j, rank_);
  if (!r.last) return;
  const int stage = place_.fft_stage(r.j + 1);
  if (stage < 0) {
    if (carry(r) != Carry::direct) r.landing = output_;
    return;
  }
  const AxisSplit axes =
      split_axes(schedule_.stages[static_cast<std::size_t>(stage)], choice(r.j).axis, false);
  r.receive_axes = axes.tile;
  r.finish_axes = axes.whole;
  // What the last FFT neither converts nor permutes lands in the user's array and is transformed there.
  const bool stays = output_.element_bytes == r.landing.element_bytes &&
                     order_of(output_.strides) == place_.field_after(r.j).order(rank_);
  if (stays && !request_.in_place && carry(r) != Carry::direct) r.landing = output_;
}

void ReshapeBuilder::open_far(const Reshape& r) {
  ReshapeProgram& p = p_.reshapes.back();
  p.far = {p.messages.element_bytes, {}, p.messages.most_tiles};
  p.far.tiles.resize(p.messages.tiles.size());
  const Place landing = place_.landing(r.j, rank_);
  for (int k = 0; k < r.tiles; ++k)
    for (const Overlap& o : incoming(r, k)) {
      if (near(o.rank)) continue;
      far(r, k).receives.push_back({o.rank, 0, o.box.count() * landing.element_bytes});
      far(r, k).to.push_back({o.box, landing.at(o.box), place_.field_after(r.j).order(rank_)});
    }
}

std::vector<Overlap> ReshapeBuilder::incoming(const Reshape& r, int k) const {
  const Box part = place_.tile(r.j, rank_, k, place_.field_after(r.j).box(rank_));
  std::vector<Overlap> parts = place_.field_before(r.j).tiling->overlaps(part);
  if (r.keeps) std::erase_if(parts, [&](const Overlap& o) { return o.rank == rank_; });
  return parts;
}

void ReshapeBuilder::receive(Reshape& r, int k) {
  const std::vector<Overlap> parts = incoming(r, k);
  if (carry(r) == Carry::direct) {
    await_parts(r, k, parts);
    return;
  }
  if (carry(r) == Carry::strided) {
    for (const Overlap& o : parts) {
      messages(r, k).receives.push_back({o.rank, 0, o.box.count() * r.landing.element_bytes});
      messages(r, k).to.push_back({o.box, r.landing.at(o.box), place_.field_after(r.j).order(rank_)});
    }
    complete(r, k);
    return;
  }
  Index offset = place_.staging_base(rank_) + place_.tile_offset(r.j, rank_, k);
  for (const Overlap& o : parts) {
    const Index bytes = o.box.count() * r.landing.element_bytes;
    TileMessages& m = messages(r, k);
    const Index at =
        carry(r) == Carry::padded ? padded_slot(r.members, o.rank, m.receive_start, m.padded_bytes) : offset;
    m.receives.push_back({o.rank, at, bytes});
    offset += bytes;
  }
  // Unless results go straight to the user, they are unpacked over the send buffers of the tile.
  const bool over_sends = r.landing.space == Space::work;
  if (over_sends) of(r.sent, k) = {writer_.emit(op_of(r, OpKind::wait_sent, k), of(r.posted, k))};
  Op op = op_of(r, OpKind::receive, k);
  op.count = r.on_arrival ? static_cast<int>(parts.size()) : 0;
  of(r.arrived, k) = {writer_.emit(op, of(r.posted, k))};
  append(of(r.arrived, k), of(r.sent, k));
  if (r.on_arrival) {
    const Ids copies = unpack(r, k, place_.field_after(r.j).box(rank_));
    test_while(copies, choice(r.j).after.copy_tests);
    append(of(r.arrived, k), copies);
  }
  if (!over_sends) of(r.sent, k) = {writer_.emit(op_of(r, OpKind::wait_sent, k), of(r.posted, k))};
  append(of(r.arrived, k), of(r.sent, k));
  if (r.keeps) append(of(r.arrived, k), of(r.packed, k));
}

void ReshapeBuilder::await_parts(Reshape& r, int k, const std::vector<Overlap>& parts) {
  const Box landing = place_.tile(r.j, rank_, k, r.landing.box);
  const Span span = span_of(r.landing.at(landing), landing.extents(), r.landing.element_bytes);
  messages(r, k).landing = {span.first, span.last};
  for (const Overlap& o : parts) {
    if (!near(o.rank)) continue;
    messages(r, k).receives.push_back({o.rank, 0, o.box.count() * r.landing.element_bytes});
    if (o.rank == rank_) continue;
    messages(r, k).to.push_back({o.box, r.landing.at(o.box), place_.field_after(r.j).order(rank_)});
    Ids deps = of(r.posted, k);
    append(deps, of(r.packed, k));  // never wait before having given
    of(r.arrived, k).push_back(writer_.emit(op_of(r, OpKind::await_full, k, o.rank), deps));
  }
  if (posts(r, k)) complete(r, k);
  append(of(r.arrived, k), of(r.packed, k));
}

void ReshapeBuilder::complete(Reshape& r, int k) {
  of(r.sent, k) = {writer_.emit(op_of(r, OpKind::wait_sent, k), of(r.posted, k))};
  of(r.arrived, k).push_back(writer_.emit(op_of(r, OpKind::receive, k), of(r.posted, k)));
  append(of(r.arrived, k), of(r.sent, k));
  append(of(r.arrived, k), of(r.packed, k));
}

Ids ReshapeBuilder::unpack(Reshape& r, int k, const Box& within) {
  Ids deps = of(r.arrived, k), copies;
  if (r.landing.space != Space::work) append(deps, input_readers_);
  for (const Overlap& o : incoming(r, k)) {
    const Box box = intersect(o.box, within);
    if (box.empty()) continue;
    const auto& receives = messages(r, k).receives;
    const auto m = std::find_if(receives.begin(), receives.end(),
                                [&](const Message& message) { return message.peer == o.rank; });
    const Place from = wire(r, o.box, rank_, m->offset, r.landing);
    copies.push_back(
        writer_.emit_copy(op_of(r, OpKind::unpack, k, o.rank), from, r.landing.at(box), box, -1, deps));
  }
  return copies;
}

void ReshapeBuilder::transform_received(Reshape& r, int k) {
  transform_tile(r, k);
  if ((k + 1) % r.tiles_per_item == 0) finish_item(r, k / r.tiles_per_item);
}

void ReshapeBuilder::transform_tile(Reshape& r, int k) {
  const int stage = place_.fft_stage(r.j + 1);
  const Box part = place_.tile(r.j, rank_, k, r.landing.box);
  const TileSide& side = choice(r.j).after;
  const bool unpacks =
      carry(r) != Carry::direct && carry(r) != Carry::strided && !r.on_arrival && !part.empty();
  const bool transforms = r.last && stage >= 0 && !r.receive_axes.empty();
  const bool copies_out = r.last && stage < 0 && r.landing.space == Space::work;
  if (!unpacks && !transforms && !copies_out) return;
  const Ids arrived = of(r.arrived, k);
  Ids unpacked, ffts;
  const bool final_pass = r.finish_axes.empty();
  const std::vector<Box> subs = sub_boxes(r, part, side);
  for (const Box& sub : subs) {
    Ids deps = arrived;
    if (unpacks) {
      const Ids copies = unpack(r, k, sub);
      append(unpacked, copies);
      append(deps, copies);
    }
    append(deps, input_readers_);
    if (copies_out) {
      writer_.emit_copy(op_of(r, OpKind::copy, k), r.landing, output_.at(sub), sub, -1, deps);
    } else if (transforms) {
      append(ffts, transform_part(stage, r.receive_axes, r.landing, final_pass ? output_ : r.landing, sub,
                                  deps, side.fft_tests / static_cast<int>(subs.size())));
    }
  }
  test_while(unpacked, side.copy_tests);
  test_while(ffts, side.fft_tests);
  append(of(r.arrived, k), unpacked);
  append(of(r.arrived, k), ffts);
}

void ReshapeBuilder::finish_item(Reshape& r, int item) {
  if (r.finish_axes.empty()) return;
  Ids deps = input_readers_;
  append(deps, r.ready);
  for (int k = item * r.tiles_per_item; k < (item + 1) * r.tiles_per_item; ++k) {
    append(deps, of(r.arrived, k));
    append(deps, of(r.packed, k));
  }
  transform_item(r, place_.fft_stage(r.j + 1), r.finish_axes, r.landing, output_, item, deps,
                 choice(r.j).after.fft_tests);
}

void ReshapeBuilder::finish(Reshape& r) {
  landed_ = r.landing;
  landed_ids_ = r.ready;
  for (int k = 0; k < r.tiles; ++k) {
    append(landed_ids_, of(r.arrived, k));
    append(landed_ids_, of(r.packed, k));
  }
}

}  // namespace weft
