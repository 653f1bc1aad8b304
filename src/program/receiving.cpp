#include <algorithm>

#include "program/windowed.hpp"

namespace weft {

void WindowedBuilder::open_landing(Reshape& r) {
  r.landing = w_.place.landing(r.j, w_.rank);
  if (!r.last) return;
  // Peers store nothing in the user's array. Nor does this rank its own part there while it reads the input.
  const bool reaches = !traits(r).stores || (!arrives_in_place(r) && !w_.request.in_place);
  const int stage = w_.place.fft_stage(r.j + 1);
  if (stage < 0) {
    if (reaches) r.landing = w_.output;
    return;
  }
  const AxisSplit axes = split_axes(w_.schedule, stage, w_.leg(r.j).axis, false);
  r.receive_axes = axes.tile;
  r.finish_axes = axes.whole;
  // What the last FFT neither converts nor permutes lands in the user's array and is transformed there.
  const bool stays = !converts(r.landing, w_.output) &&
                     order_of(w_.output.strides) == w_.place.field_after(r.j).order(w_.rank);
  if (stays && !w_.request.in_place && reaches) r.landing = w_.output;
}

void WindowedBuilder::receive(Reshape& r, int k) {
  if (traits(r).stores) return await_parts(r, k);
  if (arrives_in_place(r)) return complete(r, k);
  // Unless results go straight to the user, they are unpacked over the send buffers of the tile.
  const bool over_sends = r.landing.space == Space::work;
  Ids sent;
  if (over_sends) sent = {w_.emit(op_of(r, OpKind::wait_sent, k), of(r.posted, k))};
  Op op = op_of(r, OpKind::receive, k);
  op.count = r.on_arrival ? static_cast<int>(r.parcels->receives(k).size()) : 0;
  of(r.arrived, k) = {w_.emit(op, of(r.posted, k))};
  append(of(r.arrived, k), sent);
  if (r.on_arrival) {
    const Ids copies = unpack(r, k, w_.place.field_after(r.j).box(w_.rank));
    test_while(copies, cut(r).after.copy_tests);
    append(of(r.arrived, k), copies);
  }
  if (!over_sends) sent = {w_.emit(op_of(r, OpKind::wait_sent, k), of(r.posted, k))};
  append(of(r.arrived, k), sent);
  if (r.keeps) append(of(r.arrived, k), of(r.packed, k));
}

void WindowedBuilder::await_parts(Reshape& r, int k) {
  for (const Parcel& p : r.parcels->receives(k)) {
    if (p.route != Route::store) continue;
    Ids deps = of(r.posted, k);
    append(deps, of(r.packed, k));  // else ranks could wait for each other
    of(r.arrived, k).push_back(w_.emit(op_of(r, OpKind::await_full, k, p.peer), deps));
  }
  if (r.parcels->posts(k)) complete(r, k);
  append(of(r.arrived, k), of(r.packed, k));
}

void WindowedBuilder::complete(Reshape& r, int k) {
  const int sent = w_.emit(op_of(r, OpKind::wait_sent, k), of(r.posted, k));
  of(r.arrived, k).push_back(w_.emit(op_of(r, OpKind::receive, k), of(r.posted, k)));
  of(r.arrived, k).push_back(sent);
  append(of(r.arrived, k), of(r.packed, k));
}

Ids WindowedBuilder::unpack(Reshape& r, int k, const Box& within) {
  Ids deps = of(r.arrived, k), copies;
  if (r.landing.space != Space::work) append(deps, input_readers_);
  for (const Parcel& p : r.parcels->receives(k)) {
    const Box box = intersect(p.box, within);
    if (box.empty()) continue;
    copies.push_back(w_.emit_copy(op_of(r, OpKind::unpack, k, p.peer), r.parcels->receive_buffer(p),
                                  r.landing, box, deps));
  }
  return copies;
}

void WindowedBuilder::transform_received(Reshape& r, int k) {
  transform_tile(r, k);
  if ((k + 1) % r.tiles_per_item == 0) finish_item(r, k / r.tiles_per_item);
}

void WindowedBuilder::transform_tile(Reshape& r, int k) {
  const int stage = w_.place.fft_stage(r.j + 1);
  const Box part = w_.place.tile(r.j, w_.rank, k, r.landing.box);
  const TileSide& side = cut(r).after;
  const bool unpacks = !arrives_in_place(r) && !r.on_arrival && !part.empty();
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
      w_.emit_copy(op_of(r, OpKind::copy, k), r.landing, w_.output, sub, deps);
    } else if (transforms) {
      append(ffts, transform_part(stage, r.receive_axes, r.landing, final_pass ? w_.output : r.landing, sub,
                                  deps, side.fft_tests / static_cast<int>(subs.size())));
    }
  }
  test_while(unpacked, side.copy_tests);
  test_while(ffts, side.fft_tests);
  append(of(r.arrived, k), unpacked);
  append(of(r.arrived, k), ffts);
}

void WindowedBuilder::finish_item(Reshape& r, int item) {
  if (r.finish_axes.empty()) return;
  Ids deps = input_readers_;
  append(deps, r.ready);
  for (int k = item * r.tiles_per_item; k < (item + 1) * r.tiles_per_item; ++k) {
    append(deps, of(r.arrived, k));
    append(deps, of(r.packed, k));
  }
  transform_item(r, w_.place.fft_stage(r.j + 1), r.finish_axes, r.landing, w_.output, item, deps,
                 cut(r).after.fft_tests);
}

void WindowedBuilder::finish(Reshape& r) {
  landed_ = r.landing;
  landed_ids_ = r.ready;
  for (int k = 0; k < r.tiles; ++k) {
    append(landed_ids_, of(r.arrived, k));
    append(landed_ids_, of(r.packed, k));
  }
}

}  // namespace weft
