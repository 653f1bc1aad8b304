#include "program/windowed.hpp"

#include <algorithm>

namespace weft {

AxisSplit split_axes(const Schedule& schedule, int number, int cut, bool sends) {
  const Stage& stage = at(schedule.stages, number);
  if (cut < 0 || !stage.axes.contains(cut)) return {{}, stage.axes};
  const bool is_r2c = stage.direction == Direction::forward;
  if ((stage.real_axis >= 0 && is_r2c != sends) || resizes(schedule, number)) return {stage.axes, {}};
  AxisSplit s;
  for (int a : stage.axes) (a == cut || a == stage.real_axis ? s.whole : s.tile).push_back(a);
  return s;
}

Program build_windowed(const Schedule& schedule, const std::vector<Leg>& legs,
                       const ProgramRequest& request) {
  return WindowedBuilder(schedule, legs, request).build();
}

Program WindowedBuilder::build() {
  for (int j = 0; j < w_.place.reshapes(); ++j) build_reshape(j);
  return w_.close();
}

void WindowedBuilder::build_reshape(int j) {
  Reshape r;
  r.j = j;
  r.last = j + 1 == w_.place.reshapes();
  r.tiles = w_.place.tiles(j, w_.rank);
  r.tiles_per_item = w_.place.tiles_per_item(j, w_.rank);
  for (std::vector<Ids>* v : {&r.packed, &r.posted, &r.arrived}) v->resize(static_cast<std::size_t>(r.tiles));
  w_.open(j, r.tiles);
  open_landing(r);
  open_source(r);
  const bool stores = traits(r).stores;
  r.keeps =
      !stores && (traits(r).form == Form::boxes || (r.landing.space != Space::work && !w_.request.in_place));
  r.on_arrival = !stores && !arrives_in_place(r) && cut(r).hides_after && !cut(r).after.cut();
  open_parcels(r);
  for (int k = 0; stores && k < r.tiles; ++k)
    of(r.posted, k) = {w_.emit(op_of(r, OpKind::signal_free, k), r.landing_free)};
  run_tiles(r);
  finish(r);
}

void WindowedBuilder::open_parcels(Reshape& r) {
  ReshapeProgram& p = w_.program.reshapes.back();
  const bool stores = traits(r).stores;
  const Route own = stores || r.keeps ? Route::stay : Route::send;
  r.parcels.emplace(w_.place, Parcels::Settings{r.j, w_.rank, w_.request.nodes, own, !stores, !stores},
                    p.sent, p.stored);
  for (int k = 0; k < r.tiles; ++k) {
    TileMessages& m = sent(r, k);
    m.send_start = w_.place.tile_offset(r.j, w_.rank, k);
    m.receive_start = w_.place.receive_base(r.j, w_.rank) + (stores ? 0 : m.send_start);
  }
  r.parcels->find();
  if (traits(r).form == Form::padded) r.parcels->pad();
  if (stores && !arrives_in_place(r) && r.tiles > 0) {  // what is sent departs from behind what arrives
    Index& start = sent(r, 0).send_start = w_.place.receive_base(r.j, w_.rank);
    for (const Parcel& parcel : r.parcels->receives()) start += aligned(parcel.bytes);
  }
  r.parcels->open_receives(r.landing, arrives_in_place(r));
  r.parcels->open_sends(&r.source);
  if (!stores) return;
  r.parcels->in_ring_order(true);
  if (!arrives_in_place(r)) return;
  for (int k = 0; k < r.tiles; ++k) {
    const Box tile = w_.place.tile(r.j, w_.rank, k, r.landing.box);
    const Span span = span_of(r.landing.at(tile), tile.extents(), r.landing.element_bytes);
    at(p.stored.tiles, k).landing = {span.first, span.last};
  }
}

/// overlap-autotuned-3d-fft, Algorithm 1. A window of 0 waits for each tile before it does anything else.
void WindowedBuilder::run_tiles(Reshape& r) {
  const int window = w_.leg(r.j).window;
  const bool hides_after = cut(r).hides_after;
  for (int k = 0; k < r.tiles + window; ++k) {
    const int back = k - window;
    const bool sends = k < r.tiles, receives = back >= 0 && back < r.tiles;
    if (sends) send(r, k);
    if (receives && window > 0) receive(r, back);
    if (sends) post(r, k, window);
    if (receives && window == 0) receive(r, back);
    if (receives && hides_after) transform_received(r, back);
  }
  for (int k = 0; k < r.tiles && !hides_after; ++k) transform_received(r, k);
}

std::vector<Box> WindowedBuilder::sub_boxes(const Reshape& r, const Box& part, const TileSide& side) const {
  std::vector<Box> boxes{part};
  const auto split = [&](int axis, Index by) {
    if (axis < 0 || by <= 0) return;
    std::vector<Box> finer;
    for (const Box& b : boxes)
      for (Index lo = b.lo[axis]; lo < b.hi[axis] || lo == b.lo[axis]; lo += by) {
        finer.push_back(b);
        finer.back().lo[axis] = lo;
        finer.back().hi[axis] = std::min(b.hi[axis], lo + by);
      }
    boxes = std::move(finer);
  };
  split(w_.leg(r.j).axis, side.along_by);
  split(side.cross, side.cross_by);
  return boxes;
}

Ids WindowedBuilder::transform_part(int stage, const AxisVector<int>& axes, const Place& from,
                                    const Place& to, const Box& part, const Ids& deps, int calls) {
  Ids done;
  int longest = -1;
  for (int a = 0; a < part.ndim(); ++a)
    if (!axes.contains(a) && (longest < 0 || part.extent(a) > part.extent(longest))) longest = a;
  const Index n = longest < 0 ? 1 : part.extent(longest);
  const Index pieces = std::clamp<Index>(calls, 1, std::max<Index>(n, 1));
  for (Index i = 0; i < pieces; ++i) {
    Box piece = part;
    if (pieces > 1) {
      piece.lo[longest] = part.lo[longest] + i * n / pieces;
      piece.hi[longest] = part.lo[longest] + (i + 1) * n / pieces;
    }
    done.push_back(w_.emit_fft(stage, axes, from, to, piece, deps));
  }
  return done;
}

Ids WindowedBuilder::transform_item(const Reshape& r, int stage, const AxisVector<int>& axes,
                                    const Place& from, const Place& to, int item, const Ids& deps,
                                    int tests) {
  const Box part = w_.place.item(r.j, w_.rank, item, to.box);
  if (cut(r).item_axis < 0) {
    Ids done = transform_part(stage, axes, from, to, part, deps, 1);
    same_in_all_trials(done);
    return done;
  }
  const auto all = static_cast<int>(std::min<Index>(Index{tests} * r.tiles_per_item, 1 << 20));
  Ids done = transform_part(stage, axes, from, to, part, deps, std::max(r.tiles_per_item, all));
  test_while(done, all);
  return done;
}

void WindowedBuilder::test_while(const Ids& operations, int tests) {
  if (tests < 0) return;
  const auto n = static_cast<Index>(operations.size());
  for (Index i = 0; i < n; ++i) {
    const int id = at(operations, i);
    if (id >= 0) at(w_.program.ops, id).tests = static_cast<int>((i + 1) * tests / n - i * tests / n);
  }
}

void WindowedBuilder::same_in_all_trials(const Ids& operations) {
  for (int id : operations)
    if (id >= 0) at(w_.program.ops, id).invariant = true;
}

}  // namespace weft
