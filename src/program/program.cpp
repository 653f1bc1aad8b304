#include "program/program.hpp"

#include <algorithm>
#include <array>

#include "base/arithmetic.hpp"
#include "base/text.hpp"
#include "geometry/layout.hpp"

namespace weft {

const char* name_of(OpKind kind) {
  constexpr std::array names{"fft",        "copy",        "pack",      "put",    "keep",
                             "post",       "wait_sent",   "receive",   "unpack", "signal_free",
                             "await_free", "signal_full", "await_full"};
  return names[static_cast<std::size_t>(kind)];
}

const char* activity_of(OpKind kind) {
  switch (kind) {
    case OpKind::post:
    case OpKind::signal_free:
    case OpKind::signal_full:
      return "exchange";
    case OpKind::wait_sent:
    case OpKind::receive:
    case OpKind::await_free:
    case OpKind::await_full:
      return "wait";
    default:
      return name_of(kind);
  }
}

namespace {
std::string describe(const Operand& o) {
  const char* names[] = {"in", "out", "work", "scratch", "shared"};
  const Cells& c = o.cells;
  const std::string cells =
      c ? " in cells of " + std::to_string(c.rows) + " along axis " + std::to_string(c.across) + " and " +
              std::to_string(c.points) + " along axis " + std::to_string(c.fastest) + ", " +
              std::to_string(c.next_rows) + " and " + std::to_string(c.next_points) + " apart"
        : "";
  return std::string(names[static_cast<int>(o.space)]) + "+" + std::to_string(o.offset) + "(" +
         join(o.strides, ",") + cells + ")";
}
}  // namespace

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
      text += " axes " + join(f.axes, ",") + (f.r2r.empty() ? "" : " " + to_string(f.r2r));
      if (f.halves != Halves::none) text += f.halves == Halves::split ? " splits" : " joins";
      if (!f.resized.empty())
        text += " " + to_string(f.resized) + " from " + by_x(f.from_box.extents()) + " to " +
                by_x(f.to_box.extents());
      text += " of " + by_x(f.extents) + " " + describe(f.from) + " -> " + describe(f.to);
    } else if (op.call >= 0) {
      const CopyCall& c = program.copies[static_cast<std::size_t>(op.call)];
      text += " " + to_string(c.box) + " " + describe(c.from) + " -> " + describe(c.to);
      if (c.coded.codec)
        text += std::string(c.coded.encodes ? " encode " : " decode ") + to_string(c.coded.codec) +
                " along " + std::to_string(c.coded.axis);
    }
    text += " after {";
    for (int d = op.deps_begin; d < op.deps_end; ++d)
      text += (d > op.deps_begin ? "," : "") + std::to_string(program.deps[static_cast<std::size_t>(d)]);
    text += "}\n";
  }
  return text;
}

namespace {

int reals_of(const CopyCall& c) {
  return c.element_bytes / c.real_bytes;
}
Index coded_row_bytes(const CopyCall& c) {
  return row_bytes(c.coded.codec, c.coded.points * reals_of(c), c.real_bytes);
}

Span span_of_side(const CopyCall& c, const Operand& side, bool coded) {
  if (!coded) return span_of(side, c.box.extents(), c.element_bytes);
  Span span = span_of(side, c.box.extents(), 1);
  span.last += coded_row_bytes(c) - 1;
  return span;
}

Index bytes_of_side(const CopyCall& c, bool coded) {
  if (!coded || c.box.empty()) return c.box.count() * c.element_bytes;
  const Index n = c.box.extent(c.coded.axis), row = coded_row_bytes(c);
  const auto up_to = [&](Index point) { return row * point / c.coded.points; };
  return c.box.count() / n * (up_to(c.coded.first + n) - up_to(c.coded.first));
}

bool source_coded(const CopyCall& c) {
  return c.coded.codec && !c.coded.encodes;
}
bool result_coded(const CopyCall& c) {
  return c.coded.codec && c.coded.encodes;
}

}  // namespace

Span read_by(const CopyCall& c) {
  return span_of_side(c, c.from, source_coded(c));
}
Span written_by(const CopyCall& c) {
  return span_of_side(c, c.to, result_coded(c));
}
Index bytes_read(const CopyCall& c) {
  return bytes_of_side(c, source_coded(c));
}
Index bytes_written(const CopyCall& c) {
  return bytes_of_side(c, result_coded(c));
}

LocalBytes local_bytes(const Program& program, const Op& op) {
  const auto between = [](const Operand& from, Index read, const Operand& to, Index written) {
    return LocalBytes{read, written, from.space == Space::scratch ? 0 : read,
                      to.space == Space::scratch ? 0 : written};
  };
  if (op.kind == OpKind::fft) {
    const FftCall& f = at(program.ffts, op.call);
    return between(f.from, f.from_box.count() * f.from_bytes, f.to, f.to_box.count() * f.to_bytes);
  }
  const CopyCall& c = at(program.copies, op.call);
  return between(c.from, bytes_read(c), c.to, bytes_written(c));
}

Index workspace_end(const Program& p) {
  Index last = p.rank == 0 ? p.shared_bytes : 0;
  const auto reach = [&](const Span& span) {
    if (span.space == Space::work) last = std::max(last, span.last);
  };
  const auto cover = [&](const Operand& o, const Shape& extents, int bytes) {
    reach(span_of(o, extents, bytes));
  };
  for (const CopyCall& c : p.copies) {
    reach(read_by(c));
    if (c.to_rank < 0) reach(written_by(c));
  }
  for (const FftCall& f : p.ffts) {
    cover(f.from, f.from_box.extents(), f.from_bytes);
    cover(f.to, f.to_box.extents(), f.to_bytes);
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
