#include "program/program_writer.hpp"

#include "base/arithmetic.hpp"
#include "program/sub_tiles.hpp"
#include "weft/error.hpp"

namespace weft {

ProgramWriter::ProgramWriter(const Schedule& s, const std::vector<Leg>& legs, const ProgramRequest& r)
    : schedule(s),
      request(r),
      rank(r.rank),
      place(s, legs, r.real_bytes),
      input(place.user(s.input(), r.in_place ? Space::output : Space::input, r.rank, r.input)),
      output(place.user(s.output(), Space::output, r.rank, r.output)) {
  program.rank = rank;
  program.ranks = s.ranks;
  program.in_place = r.in_place;
  program.line = s.line;
  program.nyquist = s.nyquist;
  program.columns = s.columns.given;
  if (!s.line.empty()) program.line_points = s.lengths[s.line[0]] * s.lengths[s.line[1]];
  program.largest_box_bytes = place.largest_box(rank);
  program.reshapes.reserve(legs.size());
  program.batch_axis = s.batch_axis;
  program.halves_axis = s.halves_axis;
  if (r.scale == 1) return;
  // What comes before an operator is not scaled with what it leaves.
  const int middle = stage_of_operator(s);
  for (int j = 0; j < place.reshapes(); ++j) {
    if (place.stage_of(j) < middle) continue;
    const ExchangeTraits& traits = leg(j).traits;
    const bool all_copied = traits.stores ? r.nodes.empty() : traits.form != Form::boxes;
    if (all_copied && leg(j).planes() == nullptr && !leg(j).shares()) scaled_reshape_ = place.stage_of(j);
  }
  for (std::size_t i = 0; i < s.stages.size(); ++i)
    if (scaled_reshape_ < 0 && !s.stages[i].axes.empty()) scaled_stage_ = static_cast<int>(i);
}

Op ProgramWriter::copy_of(int j, const Parcel& parcel) const {
  if (parcel.route == Route::send) return op_of(j, OpKind::pack, parcel.tile, parcel.peer);
  return leg(j).traits.stores ? op_of(j, OpKind::put, parcel.tile, parcel.peer)
                              : op_of(j, OpKind::keep, parcel.tile);
}

ReshapeProgram& ProgramWriter::open(int j, int tiles) {
  const int bytes = place.element_bytes(place.field_before(j));
  // Coded rows are multiples of eight bytes, other parts of their elements.
  const int sent_bytes = leg(j).codec ? std::min(8, bytes) : bytes;
  program.reshapes.push_back({leg(j), {sent_bytes, {}, leg(j).tiles}, {bytes, {}, leg(j).tiles}});
  ReshapeProgram& r = program.reshapes.back();
  r.sent.tiles.resize(static_cast<std::size_t>(tiles));
  if (leg(j).traits.stores) r.stored.tiles.resize(static_cast<std::size_t>(tiles));
  return r;
}

Program ProgramWriter::close() {
  program.workspace_bytes = aligned(workspace_end(program));
  return std::move(program);
}

/// What moves between ranks has a lane of its own. Completing a post follows on that lane, unless the
/// exchange carries tiles by itself: then what computes waits for the post alone.
Lane ProgramWriter::lane_of(const Op& op) const {
  switch (op.kind) {
    case OpKind::put:
      return stores_into_peer(op) ? leg(op.reshape).store_lane : Lane::compute;
    case OpKind::await_free:
    case OpKind::signal_full:
      return leg(op.reshape).store_lane;
    case OpKind::wait_sent:
    case OpKind::receive:
      return leg(op.reshape).traits.by_device ? Lane::compute : Lane::transfer;
    case OpKind::post:
      return Lane::transfer;
    default:
      return Lane::compute;
  }
}

int ProgramWriter::emit(Op op, const Ids& deps) {
  op.deps_begin = static_cast<int>(program.deps.size());
  for (int d : deps)
    if (d >= 0) program.deps.push_back(d);
  op.deps_end = static_cast<int>(program.deps.size());
  op.lane = lane_of(op);
  program.ops.push_back(op);
  return static_cast<int>(program.ops.size()) - 1;
}

int ProgramWriter::emit_call(int stage, const AxisVector<int>& axes, const Place& from, const Box& from_box,
                             const Place& to, const Box& to_box, const Ids& deps) {
  const Stage& s = at(schedule.stages, stage);
  FftCall call;
  call.axes = axes;
  call.direction = s.direction;
  const bool resized = resizes(schedule, stage);
  for (int a : axes) {
    if (resized) call.resized.push_back(s.halves == Halves::join ? Transform::none : schedule.transforms[a]);
    if (is_r2r_axis(a) && !resized)
      call.r2r.push_back(s.direction == Direction::forward ? schedule.transforms[a]
                                                           : opposite(schedule.transforms[a]));
  }
  if (axes.contains(s.real_axis)) call.real_axis = s.real_axis;
  const bool from_points = s.direction == Direction::forward || !s.between.empty();
  call.extents = from_points ? from_box.extents() : to_box.extents();
  for (int a : axes) call.extents[a] = schedule.lengths[a];
  call.from = from.at(from_box);
  call.to = to.at(to_box);
  call.from_bytes = from.element_bytes;
  call.to_bytes = to.element_bytes;
  call.from_box = from_box;
  call.to_box = to_box;
  call.may_destroy_input = from.space != Space::input;
  call.element = to.element;
  // Every point passes exactly one call with the stage's first axis, however the axes are divided.
  if (stage == scaled_stage_ && axes.contains(s.axes[0])) call.scale = request.scale;
  call.between = s.between;
  if (schedule.columns) call.columns = axes.contains(0) ? ColumnsPart::lines : ColumnsPart::planes;
  if (!s.between.empty()) call.scale_between = request.scale_between;
  call.halves = s.halves;
  call.store_past = resized && to.space == Space::output && large();
  call.twiddles = s.halves != Halves::join && axes.contains(twiddled_axis(schedule));
  program.ffts.push_back(call);
  const Op op{.kind = OpKind::fft, .stage = stage, .call = static_cast<int>(program.ffts.size()) - 1};
  return emit(op, deps);
}

int ProgramWriter::emit_fft(int stage, const AxisVector<int>& axes, const Place& from, const Place& to,
                            const Box& part, const Ids& deps) {
  const Box from_box = same_cut(part, from.box, axes), to_box = same_cut(part, to.box, axes);
  if (from_box.empty() || to_box.empty()) return -1;
  if (resizes(schedule, stage)) return emit_call(stage, axes, from, from_box, to, to_box, deps);
  AxisVector<int> fourier, r2r;
  for (int a : axes) (is_r2r_axis(a) ? r2r : fourier).push_back(a);
  if (fourier.empty()) return emit_call(stage, r2r, from, from_box, to, to_box, deps);
  const int first = emit_call(stage, fourier, from, from_box, to, to_box, deps);
  return r2r.empty() ? first : emit_call(stage, r2r, to, to_box, to, to_box, {first});
}

int ProgramWriter::emit_copy(Op op, const Place& from, const Place& to, const Box& part, const Ids& deps) {
  if (part.empty()) return -1;
  const bool scales = op.stage == scaled_reshape_ &&
                      (op.kind == OpKind::pack || op.kind == OpKind::put || op.kind == OpKind::keep);
  const bool encodes = bool(to.codec);
  const Place& coded = encodes ? to : from;
  CodedRows rows;
  if (coded.codec)
    rows = {coded.codec, encodes, coded.row, coded.box.extent(coded.row),
            part.lo[coded.row] - coded.box.lo[coded.row]};
  if (encodes) {
    const Index block = block_points(from.element), end = rows.first + part.extent(rows.axis);
    if (rows.first % block != 0 || (end % block != 0 && end != rows.points))
      throw Error("program", "a part of a block along axis " + std::to_string(rows.axis) + " to be encoded",
                  "all of it", rank);
  }
  program.copies.push_back({.element_bytes = encodes ? from.element_bytes : to.element_bytes,
                            .from = from.at(part),
                            .to = to.at(part),
                            .coded = rows,
                            .to_rank = stores_into_peer(op) ? op.peer : -1,
                            .box = part,
                            .real_bytes = request.real_bytes,
                            .scale = scales ? request.scale : 1});
  op.call = static_cast<int>(program.copies.size()) - 1;
  return emit(op, deps);
}

Ids ProgramWriter::transform_whole(int stage, const AxisVector<int>& axes, const Place& from, const Place& to,
                                   const Place& spare, const Ids& deps) {
  if (axes.empty()) return {emit_copy({.kind = OpKind::copy, .stage = stage}, from, to, from.box, deps)};
  const Stage& s = at(schedule.stages, stage);
  AxisVector<int> first, second;  // c2c axes, and the others
  for (int a : axes) (a == s.real_axis || is_r2r_axis(a) ? second : first).push_back(a);
  const bool c2r = s.direction == Direction::backward && axes.contains(s.real_axis);
  // Libraries of the host destroy the input of a c2r of several axes; those of devices copy it aside, and so
  // do calls that change lengths.
  if (!c2r || first.empty() || from.space != Space::input || request.two_lanes || resizes(schedule, stage))
    return {emit_fft(stage, axes, from, to, from.box, deps)};
  const int done = emit_fft(stage, first, from, spare, from.box, deps);
  return {done, emit_fft(stage, second, spare, to, from.box, {done})};
}

}  // namespace weft
