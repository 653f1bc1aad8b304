#include "exec/interpreter.hpp"

#include <algorithm>

#include "base/arithmetic.hpp"

namespace weft {

FftProblem fft_problem(const FftCall& call, Precision precision, Effort effort) {
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
  const auto dimension = [&](int a) {
    const Index unit = halves ? 2 : 1;
    return FftDimension{call.extents[a], call.from.strides[a] * unit, call.to.strides[a] * unit};
  };
  for (int a = 0; a < call.extents.size(); ++a) {
    if (a == call.real_axis) continue;
    if (call.axes.contains(a)) {
      p.dimensions.push_back(dimension(a));
    } else if (call.extents[a] > 1) {
      p.loops.push_back(dimension(a));
    }
  }
  if (p.kind == FftKind::real) p.dimensions.push_back(dimension(call.real_axis));
  for (int i = 0; i < call.r2r.size(); ++i) p.dimensions[static_cast<std::size_t>(i)].transform = call.r2r[i];
  if (halves) p.loops.push_back({2, 1, 1});
  return p;
}

const char* Interpreter::kind_of(OpKind kind) {
  switch (kind) {
    case OpKind::fft:
    case OpKind::copy:
    case OpKind::pack:
    case OpKind::put:
    case OpKind::keep:
    case OpKind::unpack:
      return name_of(kind);
    case OpKind::post:
    case OpKind::signal_free:
    case OpKind::signal_full:
      return "exchange";
    case OpKind::wait_sent:
    case OpKind::receive:
    case OpKind::await_free:
    case OpKind::await_full:
      break;
  }
  return "wait";
}

/// What an operation moves. Whatever happens inside a call of the FFT library counts as one pass.
Interpreter::Traffic Interpreter::traffic_of(const Op& op) const {
  const auto outside = [](const Operand& o, Index bytes) { return o.space == Space::scratch ? 0 : bytes; };
  if (op.kind == OpKind::fft) {
    const FftCall& f = program_.ffts[static_cast<std::size_t>(op.call)];
    const Index read = f.from_box.count() * f.from_bytes, written = f.to_box.count() * f.to_bytes;
    return {written, outside(f.from, read), outside(f.to, written)};
  }
  if (op.call >= 0) {
    const CopyCall& c = program_.copies[static_cast<std::size_t>(op.call)];
    const Index bytes = c.box.count() * c.element_bytes;
    return {bytes, outside(c.from, bytes), outside(c.to, bytes)};
  }
  Index bytes = 0;
  if (op.kind == OpKind::post)
    for (const Message& m : at(at(program_.reshapes, op.reshape).sent.tiles, op.tile).sends)
      if (m.peer != program_.rank) bytes += m.bytes;
  return {bytes};
}

}  // namespace weft
