// FFTs of lines that lie apart on the host, block after block, with the formulas and positions of devices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/lines/work.hpp"
#include "support/host_divisor.hpp"

namespace weft::test {

template <class Value>
void run_line_step(const LineStep& step, int values, std::byte* to, const std::byte* from) {
  using lines::Role;
  const lines::Form<HostDivisor<std::uint32_t>> form(step, values);
  const auto* roots = reinterpret_cast<const lines::Complex<lines::real_of<Value>>*>(step.roots);
  // More columns than one, and fewer than most tests have lines.
  const lines::Tile at{2};
  std::vector<Value> tile(at(form.n));
  const auto last = static_cast<int>(form.stages) - 1;
  for (std::uint32_t first = 0; first < form.lines; first += at(1))
    // As threads do, all columns finish a stage before the next one begins.
    for (int i = 0; i <= last; ++i)
      for (std::uint32_t c = 0; c < at(1) && first + c < form.lines; ++c) {
        const Value* source = reinterpret_cast<const Value*>(from);
        Value* target = reinterpret_cast<Value*>(to);
        lines::go_to_line(form, first + c, source, target);
        Value* const column = tile.data() + c;
        if (i == 0)
          lines::run_stage<Role::first>(form, i, 0, 1, at, column, source, target, roots);
        else if (i < last)
          lines::run_stage<Role::middle>(form, i, 0, 1, at, column, source, target, roots);
        else
          lines::run_stage<Role::last>(form, i, 0, 1, at, column, source, target, roots);
      }
}

inline void run_line_step(const LineStep& step, std::byte* to, const std::byte* from) {
  if (step.real_bytes == 8) return run_line_step<lines::Complex<double>>(step, 1, to, from);
  if (lines::are_pairs(step) && reinterpret_cast<std::uintptr_t>(to) % 16 == 0 &&
      reinterpret_cast<std::uintptr_t>(from) % 16 == 0)
    return run_line_step<lines::Pair<float>>(step, 2, to, from);
  run_line_step<lines::Complex<float>>(step, 1, to, from);
}

}  // namespace weft::test
