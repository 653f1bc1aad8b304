#include <algorithm>

#include "program/windowed.hpp"

namespace weft {

void WindowedBuilder::open_source(Reshape& r) {
  const int stage = w_.place.fft_stage(r.j);
  const Place staging = w_.place.staging(r.j, w_.rank);
  const bool boxes = !traits(r).stores && traits(r).form == Form::boxes;
  if (r.j > 0) {
    if (boxes && r.landing.space != Space::work && !converts(landed_, staging)) {
      // Nothing is received in the workspace, so the array stays where it is.
      r.source = landed_;
      r.ready = landed_ids_;
      if (stage >= 0 && !landed_.box.empty())
        r.ready =
            w_.transform_whole(stage, axes_of(w_.schedule, stage), landed_, landed_, landed_, landed_ids_);
      return;
    }
    r.source = staging;
    // Without an FFT in between, as among bricks, it is a copy, and counts to the reshape that it precedes.
    r.ready = w_.transform_whole(stage >= 0 ? stage : w_.place.stage_of(r.j), axes_of(w_.schedule, stage),
                                 landed_, staging, staging, landed_ids_);
    if (r.ready.back() < 0) r.ready = landed_ids_;  // a rank without points here
    // In turn it lands where parts of the reshape before departed.
    r.landing_free = cut(r).in_turn ? landed_ids_ : r.ready;
    return;
  }
  // Writing tiles of the result over an input that is still being read has to be avoided in place.
  const bool reads_while_writing = boxes && w_.place.fft_stage(r.j + 1) < 0;
  const bool aside = w_.request.in_place && r.last && (r.tiles > 1 || reads_while_writing);
  if (stage < 0) {
    r.source = aside ? staging : w_.input;
    if (aside) r.ready = w_.transform_whole(w_.place.stage_of(r.j), {}, w_.input, staging, staging, {});
    return;
  }
  const Stage& s = at(w_.schedule.stages, stage);
  AxisSplit axes = split_axes(w_.schedule, stage, w_.leg(r.j).axis, true);
  // A c2r of several axes goes through the landing half.
  const bool spares = s.real_axis >= 0 && s.direction == Direction::backward && s.axes.size() > 1 &&
                      !resizes(w_.schedule, stage);
  if (aside || spares) axes = {s.axes, {}};
  r.source = staging;
  r.send_axes = axes.tile;
  if (!aside && !spares) {
    r.begin_axes = axes.whole;
    return;
  }
  r.ready = w_.transform_whole(stage, axes.whole, w_.input, staging, w_.place.dense_work(w_.input), {});
  same_in_all_trials(r.ready);
  if (r.ready.size() > 1) r.landing_free = r.ready;
}

void WindowedBuilder::begin_item(Reshape& r, int item) {
  if (r.begin_axes.empty()) return;
  r.item_ready = transform_item(r, w_.place.fft_stage(0), r.begin_axes, w_.input, r.source, item, {},
                                cut(r).before.fft_tests);
}

void WindowedBuilder::send(Reshape& r, int k) {
  if (k % r.tiles_per_item == 0) begin_item(r, k / r.tiles_per_item);
  const Box part = w_.place.tile(r.j, w_.rank, k, w_.place.field_before(r.j).box(w_.rank));
  const TileSide& side = cut(r).before;
  const std::span<const Parcel> parcels = r.parcels->sends(k);
  std::vector<std::optional<Place>> targets;
  for (const Parcel& p : parcels) targets.push_back(target(r, p));
  std::vector<Ids> leave(
      parcels.size());  // stored: the operation that awaits the peer's leave to put the tile
  Ids source = r.ready, ffts, copies;
  append(source, r.item_ready);
  const std::vector<Box> subs = sub_boxes(r, part, side);
  for (const Box& sub : subs) {
    Ids ready = source;
    if (!r.send_axes.empty() && !sub.empty()) {
      const Place& from = source.empty() ? w_.input : r.source;
      ready = transform_part(w_.place.fft_stage(0), r.send_axes, from, r.source, sub, source,
                             side.fft_tests / static_cast<int>(subs.size()));
      append(ffts, ready);
    }
    append(of(r.packed, k), ready);
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const Parcel& parcel = parcels[i];
      const Box piece = intersect(sub, parcel.box);
      if (piece.empty() || !targets[i]) continue;
      Ids deps = ready;
      append(deps, source);
      if (parcel.route == Route::stay) append(deps, r.landing_free);
      if (parcel.route == Route::store && leave[i].empty())
        leave[i] = {w_.emit(op_of(r, OpKind::await_free, k, parcel.peer), {})};
      append(deps, leave[i]);
      copies.push_back(w_.emit_copy(w_.copy_of(r.j, parcel), r.source, *targets[i], piece, deps));
    }
  }
  test_while(ffts, side.fft_tests);
  test_while(copies, side.copy_tests);
  append(of(r.packed, k), copies);
  tell(r, k, copies);
  if (w_.program.in_place) append(input_readers_, of(r.packed, k));
}

std::optional<Place> WindowedBuilder::target(const Reshape& r, const Parcel& parcel) const {
  if (parcel.route == Route::store && arrives_in_place(r)) return w_.place.landing(r.j, parcel.peer);
  if (parcel.route == Route::stay) return r.landing;
  if (parcel.route == Route::send && arrives_in_place(r)) return std::nullopt;
  return r.parcels->send_buffer(parcel);
}

void WindowedBuilder::tell(Reshape& r, int k, const Ids& copies) {
  for (const Parcel& p : r.parcels->sends(k))
    if (p.route == Route::store)
      of(r.packed, k).push_back(w_.emit(op_of(r, OpKind::signal_full, k, p.peer), copies));
}

void WindowedBuilder::post(Reshape& r, int k, int window) {
  if (!r.parcels->posts(k)) return;
  Ids deps = of(r.packed, k);
  append(deps, r.ready);
  append(deps, r.item_ready);
  // Collective exchanges start in the same order everywhere.
  if (k > 0) append(deps, of(r.posted, k - 1));
  if (window > 0 && k >= window) append(deps, of(r.arrived, k - window));
  if (window == 0 && k > 0) append(deps, of(r.arrived, k - 1));
  if (arrives_in_place(r)) {  // it writes where the result belongs
    append(deps, r.landing_free);
    if (r.landing.space != Space::work) append(deps, input_readers_);
  }
  // In a direct exchange `posted` has the operation that signals free memory already.
  of(r.posted, k).push_back(w_.emit(op_of(r, OpKind::post, k), deps));
}

}  // namespace weft
