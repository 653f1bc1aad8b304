// A program as streams execute it where FFTs store what stays on the rank (program/diversions.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "program/diversions.hpp"

namespace weft::test {

/// Every copy that is left out is done right behind the FFTs that have its parts. Operations of a lane follow
/// each other, and what a copy that is left out would wait for.
inline Program diverted(const Program& program) {
  const std::vector<Diversion> all = diversions(program);
  Program made = program;
  made.ops.clear();
  made.deps.clear();
  std::vector<std::vector<int>> now(program.ops.size());  // what has taken the place of an operation
  std::array<std::vector<int>, 2> before;                 // of each lane, what comes before the next one
  const auto emit = [&](Op op, std::vector<int> deps) {
    std::vector<int>& earlier = before[static_cast<std::size_t>(op.lane)];
    deps.insert(deps.end(), earlier.begin(), earlier.end());
    earlier = {static_cast<int>(made.ops.size())};
    op.deps_begin = static_cast<int>(made.deps.size());
    made.deps.insert(made.deps.end(), deps.begin(), deps.end());
    op.deps_end = static_cast<int>(made.deps.size());
    made.ops.push_back(op);
    return static_cast<int>(made.ops.size()) - 1;
  };
  for (int i = 0; i < static_cast<int>(program.ops.size()); ++i) {
    const Op& op = program.ops[static_cast<std::size_t>(i)];
    const auto is_left_out = [&](const Diversion& d) {
      return std::ranges::find(d.copies, i) != d.copies.end();
    };
    std::vector<int> deps;
    for (int d = op.deps_begin; d < op.deps_end; ++d) {
      const auto& those = now[static_cast<std::size_t>(program.deps[static_cast<std::size_t>(d)])];
      deps.insert(deps.end(), those.begin(), those.end());
    }
    if (std::ranges::any_of(all, is_left_out)) {
      std::vector<int>& earlier = before[static_cast<std::size_t>(op.lane)];
      earlier.insert(earlier.end(), deps.begin(), deps.end());
      continue;
    }
    const int fft = emit(op, deps);
    now[static_cast<std::size_t>(i)] = {fft};
    for (const Diversion& d : all)
      for (const Diversion::Part& part : d.parts) {
        if (part.op != i) continue;
        const FftCall& f = program.ffts[static_cast<std::size_t>(op.call)];
        for (const Diversion::Piece& piece : part.pieces)
          for (const int c : d.copies) {
            Op copy = program.ops[static_cast<std::size_t>(c)];
            CopyCall call = program.copies[static_cast<std::size_t>(copy.call)];
            call.box = intersect(call.box, piece.box);
            if ((copy.kind == OpKind::pack ? copy.peer : -1) != piece.packed_for || call.box.empty())
              continue;
            call.from = f.to;
            call.to = piece.to;
            for (int a = 0; a < piece.box.ndim(); ++a) {
              call.from.offset += (call.box.lo[a] - f.to_box.lo[a]) * f.to.strides[a] * call.element_bytes;
              call.to.offset += (call.box.lo[a] - piece.box.lo[a]) * piece.to.strides[a] * call.element_bytes;
            }
            copy.call = static_cast<int>(made.copies.size());
            made.copies.push_back(call);
            const int id = emit(copy, {fft});
            for (const int left_out : d.copies) now[static_cast<std::size_t>(left_out)].push_back(id);
          }
      }
  }
  return made;
}

/// Points that FFTs store elsewhere, of the pieces that count.
template <class Counts>
Index points_diverted(const Program& program, const Counts& counts) {
  Index points = 0;
  for (const Diversion& found : diversions(program))
    for (const Diversion::Part& of_fft : found.parts)
      for (const Diversion::Piece& piece : of_fft.pieces) points += counts(piece) ? piece.box.count() : 0;
  return points;
}

}  // namespace weft::test
