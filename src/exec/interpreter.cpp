#include "exec/interpreter.hpp"

#include <algorithm>
#include <tuple>

#include "base/arithmetic.hpp"

namespace weft {

CodedRequest coded_request(const CopyCall& c) {
  const CodedRows& rows = c.coded;
  const auto& [box, coded] = rows.encodes ? std::tie(c.from, c.to) : std::tie(c.to, c.from);
  return {rows.codec,    rows.encodes, c.real_bytes, c.element_bytes, c.box.extents(), box.strides,
          coded.strides, rows.axis,    rows.points,  rows.first,      c.scale};
}

ResizedProblem resized_problem(const FftCall& call, Precision precision, Effort effort,
                               const Program& program) {
  const bool forward = call.direction == Direction::forward;
  const bool has_operator = !call.between.empty();
  ResizedProblem p;
  p.precision = precision;
  p.direction = call.direction;
  const bool complex_points = !call.resized.contains(Transform::r2c) && call.element == Element::complex;
  p.points = complex_points ? Element::complex : Element::real;
  p.nyquist = program.nyquist;
  p.effort = effort;
  p.scale = call.scale;
  p.has_operator = has_operator;
  p.scale_between = call.scale_between;
  p.store_past = call.store_past;
  p.ndim = call.extents.size() - (program.batch_axis >= 0 ? 1 : 0) - (program.halves_axis >= 0 ? 1 : 0);
  p.batch_axis = program.batch_axis;
  p.columns_part = call.columns;
  if (call.columns != ColumnsPart::none) p.columns = program.columns;
  for (int i = 0; i < call.axes.size(); ++i) {
    const int a = call.axes[i];
    if (a == program.batch_axis) continue;
    if (a == program.halves_axis) {
      p.halves = {call.halves, (forward ? call.to : call.from).strides[a], program.line[0], program.line[1]};
      if (call.halves == Halves::join) p.halves.stride = (forward ? call.from : call.to).strides[a];
      continue;
    }
    const Index before = call.from_box.extent(a);
    const Index after = has_operator ? call.between[a] : call.to_box.extent(a);
    p.axes.push_back({a, call.resized[i], call.extents[a], forward ? before : after, forward ? after : before,
                      call.from.strides[a], call.to.strides[a]});
    ResizedAxis& axis = p.axes.back();
    if (p.columns) {  // of which it is said elsewhere what they keep
      axis.points = axis.length;
      axis.modes = all_modes(axis);
    }
    if (call.halves != Halves::none && program.line.contains(a)) axis.points = axis.modes = axis.length;
  }
  for (int a = 0; a < call.extents.size(); ++a) {
    const Index from = call.from_box.extent(a), to = call.to_box.extent(a);
    if ((!call.axes.contains(a) || a == program.batch_axis) && (from > 1 || to > 1))
      p.loops.push_back({a, from, to, call.from.strides[a], call.to.strides[a]});
    // The array of columns is taken as a whole.
    if (call.columns == ColumnsPart::lines && a == 1 && !p.loops.empty() && p.loops.back().axis == a)
      (forward ? p.loops.back().to_stride : p.loops.back().from_stride) = 0;
  }
  return p;
}

namespace {

DivertedModes modes_of(const Diversion::Part& part, const FftCall& call) {
  DivertedModes modes;
  const Index first = part.pieces.front().box.lo[part.axis];
  modes.first = first - call.to_box.lo[part.axis];
  modes.scale = part.scale;
  modes.count = part.pieces.back().box.hi[part.axis] - first;
  for (const Diversion::Piece& piece : part.pieces)
    modes.begin[static_cast<std::size_t>(modes.pieces++)] = piece.box.lo[part.axis] - first;
  return modes;
}

}  // namespace

CopyShape copy_shape(const CopyCall& c) {
  CopyShape s{c.box.extents(), c.from.strides, c.to.strides};
  const auto unfold = [](Shape& extents, const Cells& cells, Strides& mine, Strides& other) {
    if (!cells) return;
    const auto add = [&](int axis, Index length, Index next) {
      extents.push_back(extents[axis] / length);
      mine.push_back(next);
      other.push_back(length * other[axis]);
      extents[axis] = length;
    };
    add(cells.fastest, cells.points, cells.next_points);
    add(cells.across, cells.rows, cells.next_rows);
  };
  if (c.from.cells && c.to.cells) throw Error("plan: copy", "cells on both sides", "cells on one");
  unfold(s.extents, c.from.cells, s.from, s.to);
  unfold(s.extents, c.to.cells, s.to, s.from);
  return s;
}

FftProblem fft_problem(const FftCall& call, Precision precision, Effort effort,
                       const Diversion::Part* diverted) {
  FftProblem p;
  p.precision = precision;
  p.kind = !call.r2r.empty() ? FftKind::r2r : call.real_axis >= 0 ? FftKind::real : FftKind::c2c;
  p.direction = call.direction;
  p.in_place = call.from.space == call.to.space && call.from.offset == call.to.offset;
  p.may_destroy_input = call.may_destroy_input;
  p.effort = effort;
  p.scale = call.scale;
  // A DCT or DST of complex data is one of its real and one of its imaginary parts.
  const bool halves = p.kind == FftKind::r2r && call.element == Element::complex;
  const Operand* const elsewhere = diverted == nullptr ? nullptr : &diverted->pieces.front().to;
  const auto dimension = [&](int a) {
    const Index unit = halves ? 2 : 1;
    return FftDimension{call.extents[a], call.from.strides[a] * unit, call.to.strides[a] * unit,
                        Transform::c2c, elsewhere == nullptr ? 0 : elsewhere->strides[a]};
  };
  const Cells& cells = call.from.cells;
  if (call.to.cells || (cells && (call.axes.contains(cells.fastest) || call.axes.contains(cells.across))))
    throw Error("plan: local FFT", "an axis of cells", "another axis");
  // A loop over cells, around one within them.
  const auto add_loop = [&](int a) {
    FftDimension within = dimension(a);
    const bool points = cells && a == cells.fastest, rows = cells && a == cells.across;
    if (points || rows) {
      const Index length = points ? cells.points : cells.rows;
      p.loops.push_back({within.n / length, points ? cells.next_points : cells.next_rows,
                         within.to_stride * length, Transform::c2c, within.diverted_stride * length});
      within.n = length;
    }
    p.loops.push_back(within);
  };
  for (int a = 0; a < call.extents.size(); ++a) {
    if (a == call.real_axis) continue;
    if (call.axes.contains(a)) {
      if (diverted != nullptr && a == diverted->axis) p.diverted = modes_of(*diverted, call);
      p.dimensions.push_back(dimension(a));
      p.dimensions.back().diverted = diverted != nullptr && a == diverted->axis;
    } else if (call.extents[a] > 1) {
      add_loop(a);
    }
  }
  if (p.kind == FftKind::real) p.dimensions.push_back(dimension(call.real_axis));
  for (int i = 0; i < call.r2r.size(); ++i) p.dimensions[static_cast<std::size_t>(i)].transform = call.r2r[i];
  if (halves) p.loops.push_back({2, 1, 1});
  if (diverted != nullptr)
    p.puts = std::ranges::any_of(diverted->pieces, [](const auto& piece) { return piece.to_rank >= 0; });
  if (diverted != nullptr && diverted->pieces.front().to.cells) {
    const Cells& to = diverted->pieces.front().to.cells;
    if (!call.axes.contains(to.fastest) || diverted->axis != to.across)
      throw Error("plan: local FFT", "modes to be stored in cells of other axes", "those that it transforms");
    p.cells = {to.points, to.rows, to.next_points, to.next_rows};
  }
  return p;
}

void Interpreter::link(const LinkRequest& request) {
  links_ = Links(program_, request);
  const std::vector<ReshapeProgram>& reshapes = program_.reshapes;
  coded_ = std::ranges::any_of(reshapes, [](const ReshapeProgram& r) { return bool(r.leg.codec); });
  in_step_ = std::ranges::any_of(reshapes, [](const ReshapeProgram& r) { return r.leg.traits.blocks; });
}

void Interpreter::begin_agreeing() {
  agrees_ = in_step_ && (coded_ || operator_);
  failure_ = nullptr;
  failed_in_ = 0;
}

void Interpreter::agree() {
  if (std::exchange(agrees_, false)) links_.agree(std::exchange(failure_, nullptr), failed_in_);
}

void Interpreter::use_memory(const void* in, void* out, std::byte* work) {
  memory_ = {static_cast<std::byte*>(const_cast<void*>(in)), static_cast<std::byte*>(out), work,
             work == nullptr ? nullptr : work + program_.scratch_offset,
             program_.shared_bytes > 0 ? links_.window(0).of(0) : nullptr};
}

std::byte* Interpreter::target(int reshape, int to_rank, const Operand& to) const {
  if (to_rank < 0) return address(to);
  return links_.window(reshape).of(to_rank) + peer_shift_ + to.offset;
}

bool Interpreter::exchange(const Op& op, Queue& queue, Patience patience) {
  switch (op.kind) {
    case OpKind::signal_free:
      links_.window(op.reshape).raise_free(op.tile, queue);
      return true;
    case OpKind::signal_full:
      links_.window(op.reshape).raise_full(op.tile, op.peer, queue);
      return true;
    default:
      return links_.await(patience, [&](Patience p) {
        switch (op.kind) {
          case OpKind::post:
            return links_.carrier(op.reshape).post(op.tile, memory_, queue, p);
          case OpKind::wait_sent:
            return links_.carrier(op.reshape).sent(op.tile, p);
          case OpKind::await_free:
            return links_.window(op.reshape).is_free(op.tile, op.peer, queue, p);
          default:
            return links_.window(op.reshape).is_full(op.tile, op.peer, queue, p);
        }
      });
  }
}

void Interpreter::fail_coding(const Op& op, codec::Outcome outcome) const {
  const std::string codec = "codec " + to_string(at(program_.copies, op.call).coded.codec);
  if (outcome == codec::Outcome::overflow)
    throw Error("execution: " + codec, "a finite number that it would make infinite",
                "numbers some bits below the end of the range, or another codec", program_.rank);
  if (outcome == codec::Outcome::not_finite)
    throw Error("execution: " + codec, "NaN or an infinity, which it cannot represent",
                "finite numbers, or another codec: the others keep NaN and infinities", program_.rank);
  throw Aftermath("execution: " + codec, "a damaged part from rank " + std::to_string(op.peer),
                  "what that rank has sent", program_.rank);
}

std::vector<OperationTime> Interpreter::times() {
  std::vector<OperationTime> all;
  if (count_of_times() == 0 || !settled(Patience::wait)) return all;
  for (std::size_t i = 0; i < count_of_times(); ++i)
    if (const std::optional<OperationTime> t = time(i)) all.push_back(*t);
  return all;
}

OperationTime Interpreter::time_of(const Op& op, double begin, double end) const {
  OperationTime t{activity_of(op.kind), op.stage, op.reshape, op.tile, begin, end};
  t.peer = op.peer;
  if (op.call >= 0) {
    const LocalBytes bytes = local_bytes(program_, op);
    t.bytes = bytes.written;
    t.memory_read = bytes.memory_read;
    t.memory_written = bytes.memory_written;
  } else if (op.kind == OpKind::post) {
    t.bytes = -links_.carrier(op.reshape).bytes_saved(op.tile);
    for (const Message& m : at(at(program_.reshapes, op.reshape).sent.tiles, op.tile).sends)
      if (m.peer != program_.rank) t.bytes += m.bytes;
  }
  return t;
}

}  // namespace weft
