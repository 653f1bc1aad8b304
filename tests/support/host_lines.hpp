// FFTs of lines that lie apart on the host, block after block, with the formulas and positions of devices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/lines/work.hpp"
#include "support/host_divisor.hpp"

namespace weft::test {

template <class Value>
void run_line_step(const LineStep& step, const LineArrays& arrays) {
  using lines::Role;
  constexpr int values = lines::lines_in<Value>;
  const lines::Form<HostDivisor<std::uint32_t>> form(step, arrays, values);
  const lines::Roots<lines::real_of<Value>> roots(step);
  // More columns than one, and fewer than most tests have lines.
  const lines::Tile at{2, form.points_adjacent ? 1U : 0U};
  std::vector<Value> tile(at(form.n));
  const int last = form.stages - 1;
  lines::from_first_line<Value>(step, arrays, [&](const auto& start) {
    for (std::uint32_t first = 0; first < form.lines; first += at.columns()) {
      constexpr std::uint32_t threads = 3;
      if (form.points_adjacent)
        for (std::uint32_t thread = 0; thread < threads; ++thread)
          lines::run_first_by_points(form, first, thread, threads, at, tile.data(), start, roots);
      // As threads do, all columns finish a stage before the next one begins.
      for (int i = form.points_adjacent ? 1 : 0; i <= last; ++i)
        for (std::uint32_t c = 0; c < at.columns() && first + c < form.lines; ++c) {
          auto line = start;
          lines::go_to<values>(form, first + c, line);
          Value* const column = tile.data() + c;
          if (i == 0)
            lines::run_stage<Role::first>(form, i, 0, 1, at, column, line, roots);
          else if (i < last)
            lines::run_stage<Role::middle>(form, i, 0, 1, at, column, line, roots);
          else if (form.turn_loop < 0)
            lines::run_stage<Role::last>(form, i, 0, 1, at, column, line, roots);
          else
            lines::run_stage<Role::last_turned>(form, i, 0, 1, at, column, line, roots);
        }
    }
  });
}

inline void run_line_step(const LineStep& step, const LineArrays& arrays) {
  step.real_bytes == 8 ? run_line_step<lines::Complex<double>>(step, arrays)
                       : run_line_step<lines::Pair<float>>(step, arrays);
}

}  // namespace weft::test
