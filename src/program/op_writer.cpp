#include "program/op_writer.hpp"

#include "base/arithmetic.hpp"

namespace weft {

OpKind kind_of(const Parcel& parcel, const ExchangeTraits& traits) {
  if (parcel.route == Route::send) return OpKind::pack;
  return traits.stores ? OpKind::put : OpKind::keep;
}

OpWriter::OpWriter(const Schedule& schedule, const std::vector<Leg>& legs, double scale, bool some_far)
    : schedule_(schedule), legs_(legs), scale_(scale) {
  if (scale == 1) return;
  const std::vector<int> reshapes = reshape_stages(schedule);
  for (std::size_t j = 0; j < reshapes.size(); ++j) {
    const ExchangeTraits& traits = legs[j].traits;
    const bool all_copied = traits.stores ? !some_far : traits.form != Form::boxes;
    if (all_copied && legs[j].planes() == nullptr) scaled_reshape_ = reshapes[j];
  }
  for (std::size_t i = 0; i < schedule.stages.size(); ++i)
    if (scaled_reshape_ < 0 && !schedule.stages[i].axes.empty()) scaled_stage_ = static_cast<int>(i);
}

/// What moves between ranks has a lane of its own. Completing a post follows on that lane, unless the
/// exchange carries tiles by itself: then what computes waits for the post alone.
Lane OpWriter::lane_of(const Op& op) const {
  switch (op.kind) {
    case OpKind::put:
      return op.peer == p_.rank ? Lane::compute : at(legs_, op.reshape).store_lane;
    case OpKind::await_free:
    case OpKind::signal_full:
      return at(legs_, op.reshape).store_lane;
    case OpKind::wait_sent:
    case OpKind::receive:
      return at(legs_, op.reshape).traits.by_device ? Lane::compute : Lane::transfer;
    case OpKind::post:
      return Lane::transfer;
    default:
      return Lane::compute;
  }
}

int OpWriter::emit(Op op, const Ids& deps) {
  op.deps_begin = static_cast<int>(p_.deps.size());
  for (int d : deps)
    if (d >= 0) p_.deps.push_back(d);
  op.deps_end = static_cast<int>(p_.deps.size());
  op.lane = lane_of(op);
  p_.ops.push_back(op);
  return static_cast<int>(p_.ops.size()) - 1;
}

int OpWriter::emit_call(int stage, const AxisVector<int>& axes, const Place& from, const Box& from_box,
                        const Place& to, const Box& to_box, const Ids& deps) {
  const Stage& s = stage_at(stage);
  FftCall call;
  call.axes = axes;
  call.direction = s.direction;
  for (int a : axes)
    if (is_r2r_axis(a))
      call.r2r.push_back(s.direction == Direction::forward ? schedule_.transforms[a]
                                                           : opposite(schedule_.transforms[a]));
  if (axes.contains(s.real_axis)) call.real_axis = s.real_axis;
  call.extents = s.direction == Direction::forward ? from_box.extents() : to_box.extents();
  call.from = from.at(from_box);
  call.to = to.at(to_box);
  call.from_bytes = from.element_bytes;
  call.to_bytes = to.element_bytes;
  call.from_box = from_box;
  call.to_box = to_box;
  call.may_destroy_input = from.space != Space::input;
  call.element = to.element;
  // Every point passes exactly one call with the stage's first axis, however the axes are divided.
  if (stage == scaled_stage_ && axes.contains(s.axes[0])) call.scale = scale_;
  p_.ffts.push_back(call);
  const Op op{.kind = OpKind::fft, .stage = stage, .call = static_cast<int>(p_.ffts.size()) - 1};
  return emit(op, deps);
}

int OpWriter::emit_fft(int stage, const AxisVector<int>& axes, const Place& from, const Box& from_box,
                       const Place& to, const Box& to_box, const Ids& deps) {
  if (from_box.empty() || to_box.empty()) return -1;
  AxisVector<int> fourier, r2r;
  for (int a : axes) (is_r2r_axis(a) ? r2r : fourier).push_back(a);
  if (fourier.empty()) return emit_call(stage, r2r, from, from_box, to, to_box, deps);
  const int first = emit_call(stage, fourier, from, from_box, to, to_box, deps);
  return r2r.empty() ? first : emit_call(stage, r2r, to, to_box, to, to_box, {first});
}

int OpWriter::emit_copy(Op op, const Place& from, const Operand& to, const Box& box, int to_rank,
                        const Ids& deps) {
  if (box.empty()) return -1;
  return emit_copy(op, from.at(box), to, box, from.element_bytes, to_rank, deps);
}

int OpWriter::emit_copy(Op op, const Operand& from, const Operand& to, const Box& box, int bytes, int to_rank,
                        const Ids& deps) {
  const bool scales = op.stage == scaled_reshape_ &&
                      (op.kind == OpKind::pack || op.kind == OpKind::put || op.kind == OpKind::keep);
  p_.copies.push_back({bytes, from, to, to_rank, box, scales ? scale_ : 1});
  op.call = static_cast<int>(p_.copies.size()) - 1;
  return emit(op, deps);
}

Ids OpWriter::transform_whole(int stage, const AxisVector<int>& axes, const Place& from, const Place& to,
                              const Place& spare, const Ids& deps) {
  if (axes.empty())
    return {emit_copy({.kind = OpKind::copy, .stage = stage}, from, to.at(to.box), from.box, -1, deps)};
  const Stage& s = stage_at(stage);
  AxisVector<int> first, second;  // c2c axes, and the others
  for (int a : axes) (a == s.real_axis || is_r2r_axis(a) ? second : first).push_back(a);
  const bool c2r = s.direction == Direction::backward && axes.contains(s.real_axis);
  if (!c2r || first.empty() || from.space != Space::input)
    return {emit_fft(stage, axes, from, from.box, to, to.box, deps)};
  const int done = emit_fft(stage, first, from, from.box, spare, spare.box, deps);
  return {done, emit_fft(stage, second, spare, spare.box, to, to.box, {done})};
}

}  // namespace weft
