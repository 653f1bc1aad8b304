// Lines that the blocks of a cluster share (ADR 0076), each of which has a part of every line: their first
// stage, whose results go to the blocks that have them, and the roots that each block keeps for later ones.
#pragma once

#include <cstdint>

#include "kernels/lines/work.hpp"

namespace weft::lines {

/// Butterflies of the first stage, for one column, that is if it `exists`: of as many equal shares of them as
/// there are parts, the one with the number of this one. Each result goes to the part that has it: to
/// `column_of` its number, once `wait`, which all threads call, has returned.
template <class Value, class Form, AtOnce at_once, class Columns, class Wait>
WEFT_INLINE void run_first_of_parts(const Form& form, const Part& part, bool exists, std::uint32_t first,
                                    std::uint32_t apart, const Columns& column_of,
                                    const Line<real_of<Value>, at_once>& line,
                                    const Roots<real_of<Value>>& roots, const Wait& wait) {
  with_radix_of<Role::first>(form, 0, [&]<int Radix>(std::integral_constant<int, Radix>) {
    // So many are read at a time that enough is under way from memory.
    constexpr int values = 8;
    constexpr std::uint32_t together = Radix < values ? values / Radix : 1;
    // Roots come with the points where there are registers for them.
    constexpr bool with_roots = Radix < values;
    const std::uint32_t all = form.below(0), end = (part.number + 1) * all / part.parts;
    std::uint32_t b = part.number * all / part.parts + first;
    Value x[together][Radix];
    Complex<real_of<Value>> root[together] = {};
    // Nothing is done with what is read before all is under way. A butterfly too many is one that is there.
    const auto read_next = [&] {
      if (!exists || b >= end) return false;
      WEFT_UNROLL for (std::uint32_t i = 0; i < together; ++i) {
        const std::uint32_t number = b + i * apart < end ? b + i * apart : b;
        const auto* source = line.from + number * form.from_stride;
        WEFT_UNROLL for (int k = 0; k < Radix; ++k) {
          read(line, source, 1, x[i][k]);
          source += all * form.from_stride;
        }
        if constexpr (with_roots) root[i] = roots.line[number];
      }
      return true;
    };
    bool has_read = read_next();
    wait();
    for (; has_read; has_read = read_next()) {
      WEFT_UNROLL for (std::uint32_t i = 0; i < together; ++i) {
        const std::uint32_t number = b + i * apart;
        if (number >= end) break;
        transform<Radix>(x[i]);
        if constexpr (!with_roots) root[i] = roots.line[number];
        turn_results(root[i], x[i]);
        WEFT_UNROLL for (int k = 0; k < Radix; ++k) column_of(static_cast<std::uint32_t>(k))[number] =
            x[i][k];
      }
      b += together * apart;
    }
  });
}

/// How many roots the middle stages of a part read, and which: root `i` of them is this one of the line's.
template <class Form>
WEFT_ANYWHERE std::uint32_t roots_of_part(const Form& form) {
  std::uint32_t most = 0;
  for (int i = 1; i + 1 < form.stage_count(); ++i) {
    const std::uint32_t butterflies = form.below(0) / form.radix(i);
    most = butterflies > most ? butterflies : most;
  }
  return most;
}
template <class Form>
WEFT_INLINE std::uint32_t root_of_part(const Form& form, std::uint32_t i) {
  return i * form.radix(0);
}

}  // namespace weft::lines
