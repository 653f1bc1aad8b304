#include "program/program.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "geometry/layout.hpp"

namespace weft {

const char* name_of(OpKind kind) {
  constexpr std::array names{"fft",        "copy",        "pack",      "put",    "keep",
                             "post",       "wait_sent",   "receive",   "unpack", "signal_free",
                             "await_free", "signal_full", "await_full"};
  return names[static_cast<std::size_t>(kind)];
}

namespace {
Shape side(const FftCall& call, Direction complex_when) {
  Shape e = call.extents;
  if (call.real_axis >= 0 && call.direction == complex_when) e[call.real_axis] = e[call.real_axis] / 2 + 1;
  return e;
}

std::string describe(const Operand& o) {
  const char* names[] = {"in", "out", "work", "scratch"};
  return std::string(names[static_cast<int>(o.space)]) + "+" + std::to_string(o.offset) + "(" +
         join(o.strides, ",") + ")";
}
}  // namespace

Shape from_extents(const FftCall& call) {
  return side(call, Direction::backward);
}
Shape to_extents(const FftCall& call) {
  return side(call, Direction::forward);
}

std::string to_string(const Program& program) {
  std::string text;
  for (std::size_t i = 0; i < program.ops.size(); ++i) {
    const Op& op = program.ops[i];
    text += std::to_string(i) + " " + name_of(op.kind);
    if (op.reshape >= 0)
      text += " reshape " + std::to_string(op.reshape) + " tile " + std::to_string(op.tile);
    if (op.peer >= 0) text += " peer " + std::to_string(op.peer);
    if (op.kind == OpKind::receive) text += " parts " + std::to_string(op.count);
    if (op.kind == OpKind::fft) {
      const FftCall& f = program.ffts[static_cast<std::size_t>(op.call)];
      text += " axes " + join(f.axes, ",") + (f.r2r.empty() ? "" : " " + to_string(f.r2r)) + " of " +
              by_x(f.extents) + " " + describe(f.from) + " -> " + describe(f.to);
    } else if (op.call >= 0) {
      const CopyCall& c = program.copies[static_cast<std::size_t>(op.call)];
      text += " " + to_string(c.box) + " " + describe(c.from) + " -> " + describe(c.to);
    }
    text += " after {";
    for (int d = op.deps_begin; d < op.deps_end; ++d)
      text += (d > op.deps_begin ? "," : "") + std::to_string(program.deps[static_cast<std::size_t>(d)]);
    text += "}\n";
  }
  return text;
}

Index workspace_end(const Program& p) {
  Index last = 0;
  const auto cover = [&](const Operand& o, const Shape& extents, int bytes) {
    if (o.space == Space::work) last = std::max(last, span_of(o, extents, bytes).last);
  };
  for (const CopyCall& c : p.copies) {
    cover(c.from, c.box.extents(), c.element_bytes);
    if (c.to_rank < 0) cover(c.to, c.box.extents(), c.element_bytes);
  }
  for (const FftCall& f : p.ffts) {
    cover(f.from, from_extents(f), f.from_bytes);
    cover(f.to, to_extents(f), f.to_bytes);
  }
  for (const ReshapeProgram& r : p.reshapes) {
    // Peers store here without any operation of this rank.
    for (const TileMessages& t : r.stored.tiles) last = std::max(last, t.landing.last);
    for (const TileMessages& t : r.sent.tiles) {
      if (t.padded_parts > 0)
        last = std::max(last, std::max(t.send_start, t.receive_start) + t.padded_parts * t.padded_bytes);
      for (const StridedPart& part : t.to) cover(part.at, part.box.extents(), r.sent.element_bytes);
    }
  }
  return last;
}

}  // namespace weft
