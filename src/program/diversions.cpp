#include "program/diversions.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace weft {

namespace {

const Op& op_at(const Program& p, int i) {
  return p.ops[static_cast<std::size_t>(i)];
}
const CopyCall& copy_at(const Program& p, int i) {
  return p.copies[static_cast<std::size_t>(op_at(p, i).call)];
}
const FftCall& fft_at(const Program& p, int i) {
  return p.ffts[static_cast<std::size_t>(op_at(p, i).call)];
}

bool moves(const Op& op) {
  return op.kind == OpKind::put || op.kind == OpKind::keep || op.kind == OpKind::pack;
}

bool waits(OpKind kind) {
  return kind == OpKind::wait_sent || kind == OpKind::receive || kind == OpKind::await_free ||
         kind == OpKind::await_full;
}

/// Whether it only brings elements to where they are read next, as they are or multiplied by a number.
bool only_moves(const Program& p, const Op& op) {
  return op.lane == Lane::compute && !p.copies[static_cast<std::size_t>(op.call)].coded.codec;
}

bool is_in_place(const FftCall& f) {
  return f.from.space == f.to.space && f.from.offset == f.to.offset;
}

/// Whether its whole result can be told from its modes along one axis. In place nothing of it may be left.
bool may_divert(const FftCall& f, bool whole) {
  return f.resized.empty() && f.r2r.empty() && !f.twiddles && f.element == Element::complex &&
         (whole || !is_in_place(f));
}

/// The first byte of a part of a box that begins at `lo` in memory `o`.
Index byte_of(const Operand& o, const Box& box, const Shape& lo, int bytes) {
  Index at = o.offset;
  for (int a = 0; a < box.ndim(); ++a) at += o.cells.elements_to(a, lo[a] - box.lo[a], o.strides[a]) * bytes;
  return at;
}

/// Whether index for index both are at the same place.
bool same_place(const Operand& a, const Box& box_a, const Operand& b, const Box& box_b, int bytes) {
  return a.space == b.space && a.strides == b.strides && a.cells == b.cells &&
         byte_of(a, box_a, box_b.lo, bytes) == b.offset;
}

bool meet(const Operand& a, Span span_a, const Operand& b, Span span_b) {
  return a.space == b.space && span_a.first < span_b.last && span_b.first < span_a.last;
}

Span read_by(const FftCall& f) {
  return span_of(f.from, f.from_box.extents(), f.from_bytes);
}
Span written_by(const FftCall& f) {
  return span_of(f.to, f.to_box.extents(), f.to_bytes);
}

/// Whether an operation reads or writes memory of this rank there.
bool touches(const Program& p, const Op& op, const Operand& at, Span span) {
  if (op.kind == OpKind::fft) {
    const FftCall& f = p.ffts[static_cast<std::size_t>(op.call)];
    return meet(f.from, read_by(f), at, span) || meet(f.to, written_by(f), at, span);
  }
  if (op.call < 0) return false;
  const CopyCall& c = p.copies[static_cast<std::size_t>(op.call)];
  return meet(c.from, read_by(c), at, span) || (c.to_rank < 0 && meet(c.to, written_by(c), at, span));
}

/// Whether a tile is sent from memory that a copy writes.
bool leaves_from(const Program& p, const Op& wait, const CopyCall& copy) {
  const ReshapeProgram& r = p.reshapes[static_cast<std::size_t>(wait.reshape)];
  const TileMessages& m = r.sent.tiles[static_cast<std::size_t>(wait.tile)];
  const Span to = written_by(copy);
  const auto met = [&](const Operand& at, const Span& span) { return meet(copy.to, to, at, span); };
  if (met({}, {Space::work, m.send_start, m.send_start + m.padded_parts * m.padded_bytes})) return true;
  if (!m.from.empty())
    return std::ranges::any_of(m.from, [&](const StridedPart& s) {
      return met(s.at, span_of(s.at, s.box.extents(), r.sent.element_bytes));
    });
  return std::ranges::any_of(m.sends, [&](const Message& s) {
    return met({}, {Space::work, s.offset, s.offset + s.bytes});
  });
}

/// The diversion of the copies of one reshape. `whole`: it has no others.
class Finder {
 public:
  Finder(const Program& program, int reshape, std::vector<int> copies, bool whole)
      : p_(program), whole_(whole) {
    found_.reshape = reshape;
    found_.copies = std::move(copies);
  }

  std::optional<Diversion> find() {
    for (const int copy : found_.copies)
      if (!make_parts(copy)) return std::nullopt;
    for (Diversion::Part& part : found_.parts)
      if (!complete(part)) return std::nullopt;
    return std::move(found_);
  }

 private:
  /// Divides a copy among the FFTs whose results it reads: the last ones that write there.
  bool make_parts(int copy) {
    const CopyCall& c = copy_at(p_, copy);
    Index covered = 0;
    std::vector<int> ffts;
    std::vector<Box> parts;
    for (int i = copy - 1; i >= 0 && covered < c.box.count(); --i) {
      if (op_at(p_, i).kind != OpKind::fft) continue;
      const FftCall& f = fft_at(p_, i);
      const Box box = intersect(f.to_box, c.box);
      if (box.empty() || !meet(f.to, written_by(f), c.from, read_by(c))) continue;
      const auto later =
          std::ranges::find_if(parts, [&](const Box& part) { return !intersect(part, box).empty(); });
      if (later != parts.end()) {
        if (intersect(*later, box) == box) continue;
        return false;
      }
      parts.push_back(box);
      if (!may_divert(f, whole_) || !same_place(f.to, f.to_box, c.from, c.box, c.element_bytes)) return false;
      covered += box.count();
      ffts.push_back(i);
      Operand to = c.to;
      to.offset = byte_of(c.to, c.box, box.lo, c.element_bytes);
      const Op& op = op_at(p_, copy);
      if (!join(i, {box, to, c.to_rank, op.kind == OpKind::pack ? op.peer : -1}, c)) return false;
    }
    if (covered != c.box.count()) return false;
    if (c.to_rank >= 0) return true;
    for (int i = ffts.back(); i < copy; ++i) {
      const bool other_copy = std::ranges::find(found_.copies, i) != found_.copies.end();
      if (!other_copy && touches(p_, op_at(p_, i), c.to, written_by(c))) return false;
    }
    return is_free(copy, ffts);
  }

  /// Whether what the transfer lane has to do there is over before any of these FFTs begins. So have to be
  /// messages that leave from there, and all that packing waits for.
  bool is_free(int copy, const std::vector<int>& ffts) const {
    const CopyCall& c = copy_at(p_, copy);
    const bool packs = op_at(p_, copy).kind == OpKind::pack;
    const auto matters = [&](const Op& op) {
      return packs ? waits(op.kind) : op.kind == OpKind::wait_sent && leaves_from(p_, op, c);
    };
    const std::vector<bool> before = over_before(copy);
    std::vector<int> others;
    for (int i = 0; i < copy; ++i)
      if ((before[static_cast<std::size_t>(i)] && matters(op_at(p_, i))) ||
          (op_at(p_, i).lane != Lane::compute && touches(p_, op_at(p_, i), c.to, written_by(c))))
        others.push_back(i);
    if (others.empty()) return true;
    return std::ranges::all_of(ffts, [&](int fft) {
      const std::vector<bool> over = over_before(fft);
      return std::ranges::all_of(others, [&](int i) { return over[static_cast<std::size_t>(i)]; });
    });
  }

  /// What is over when an operation begins: what it waits for, what is before it on its lane, and so on.
  std::vector<bool> over_before(int op) const {
    std::vector<bool> over(p_.ops.size(), false);
    std::vector<int> found{op};
    const auto add = [&](int i) {
      if (over[static_cast<std::size_t>(i)]) return;
      over[static_cast<std::size_t>(i)] = true;
      found.push_back(i);
    };
    while (!found.empty()) {
      const int now = found.back();
      found.pop_back();
      for (int d = op_at(p_, now).deps_begin; d < op_at(p_, now).deps_end; ++d)
        add(p_.deps[static_cast<std::size_t>(d)]);
      int before = now - 1;
      while (before >= 0 && op_at(p_, before).lane != op_at(p_, now).lane) --before;
      if (before >= 0) add(before);
    }
    return over;
  }

  /// Adds a piece to what an FFT stores elsewhere. What is put into the workspace of one peer has to remain a
  /// box in one place.
  bool join(int op, const Diversion::Piece& piece, const CopyCall& copy) {
    auto part = std::ranges::find(found_.parts, op, &Diversion::Part::op);
    if (part == found_.parts.end()) {
      found_.parts.push_back({op, -1, copy.scale, {}});
      part = std::prev(found_.parts.end());
    }
    if (part->scale != copy.scale) return false;
    for (Diversion::Piece& with : part->pieces) {
      if (with.to_rank != piece.to_rank || with.packed_for != piece.packed_for) continue;
      if (extend(with, piece, copy.element_bytes)) return true;
      if (piece.to_rank >= 0) return false;
    }
    part->pieces.push_back(piece);
    return part->pieces.size() <= Diversion::most_pieces;
  }

  /// Makes one box of both, if they are one in the same place.
  static bool extend(Diversion::Piece& with, const Diversion::Piece& piece, int bytes) {
    if (with.to.space != piece.to.space || with.to.strides != piece.to.strides ||
        with.to.cells != piece.to.cells || byte_of(with.to, with.box, piece.box.lo, bytes) != piece.to.offset)
      return false;
    Box both = with.box;
    for (int a = 0; a < both.ndim(); ++a) {
      both.lo[a] = std::min(both.lo[a], piece.box.lo[a]);
      both.hi[a] = std::max(both.hi[a], piece.box.hi[a]);
    }
    if (both.count() != with.box.count() + piece.box.count()) return false;
    with.to.offset = byte_of(with.to, with.box, both.lo, bytes);
    with.box = both;
    return true;
  }

  /// Finds the one axis along which no piece is the whole result, and puts the pieces in order.
  bool complete(Diversion::Part& part) const {
    const FftCall& f = fft_at(p_, part.op);
    const auto whole = [&](const Box& box, int a) {
      return box.lo[a] == f.to_box.lo[a] && box.hi[a] == f.to_box.hi[a];
    };
    const Diversion::Piece& first = part.pieces.front();
    for (int a = 0; a < f.to_box.ndim(); ++a) {
      if (whole(first.box, a)) continue;
      if (part.axis >= 0 || !f.axes.contains(a) || a == f.real_axis) return false;
      part.axis = a;
    }
    if (part.axis < 0) return false;
    const auto fits = [&](const Diversion::Piece& piece) {
      if (piece.to.strides != first.to.strides || piece.to.cells != first.to.cells) return false;
      for (int a = 0; a < f.to_box.ndim(); ++a)
        if (a != part.axis && !whole(piece.box, a)) return false;
      return true;
    };
    if (!std::ranges::all_of(part.pieces, fits)) return false;
    const auto begin = [&](const Diversion::Piece& piece) { return piece.box.lo[part.axis]; };
    std::ranges::sort(part.pieces, {}, begin);
    for (std::size_t i = 1; i < part.pieces.size(); ++i)
      if (begin(part.pieces[i]) != part.pieces[i - 1].box.hi[part.axis]) return false;
    const Box &of_first = part.pieces.front().box, &of_last = part.pieces.back().box;
    return !is_in_place(f) || (of_first.lo[part.axis] == f.to_box.lo[part.axis] &&
                               of_last.hi[part.axis] == f.to_box.hi[part.axis]);
  }

  const Program& p_;
  bool whole_;
  Diversion found_;
};

}  // namespace

std::vector<Diversion> diversions(const Program& program, Diverted what) {
  std::vector<Diversion> all;
  const bool puts = what == Diverted::puts;
  for (int j = 0; j < static_cast<int>(program.reshapes.size()); ++j) {
    std::vector<int> stored, packed;
    bool whole = true;  // whether these are all copies
    for (int i = 0; i < static_cast<int>(program.ops.size()); ++i) {
      const Op& op = op_at(program, i);
      if (op.reshape != j || !moves(op) || copy_at(program, i).box.empty()) continue;
      const bool packs = op.kind == OpKind::pack, to_peer = copy_at(program, i).to_rank >= 0;
      const bool found = only_moves(program, op) && (puts ? !packs : !to_peer);
      if (found) (packs ? packed : stored).push_back(i);
      whole = whole && found;
    }
    const auto add = [&](const std::vector<int>& copies, bool all_copies) {
      if (copies.empty()) return false;
      auto found = Finder(program, j, copies, all_copies).find();
      if (found) all.push_back(std::move(*found));
      return found.has_value();
    };
    if (puts) {
      if (whole) add(stored, true);
      continue;
    }
    std::vector<int> both = packed;
    both.insert(both.end(), stored.begin(), stored.end());
    std::ranges::sort(both);
    if (add(both, whole) || packed.empty() || stored.empty()) continue;
    if (!add(packed, false)) add(stored, false);
  }
  return all;
}

}  // namespace weft
