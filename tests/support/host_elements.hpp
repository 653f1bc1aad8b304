// Element steps on the host, element by element, with the formulas and positions of devices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>

#include "kernels/elements/dispatch.hpp"
#include "support/host_divisor.hpp"

namespace weft::test {

inline void run_element_step(const ElementStep& step, std::byte* at, std::byte* other) {
  const auto run = [&]<class Position>(const auto& s, Position) {
    elements::with_work<Position, HostDivisor<Position>>(s, [&](const auto& work) {
      for (Position i = 0; i < work.walk.total; ++i) work(i, at, other);
    });
  };
  std::visit(
      [&](const auto& s) {
        if (elements::bound_of(s) < Index{1} << 31)
          run(s, std::uint32_t{});
        else
          run(s, std::uint64_t{});
      },
      step);
}

}  // namespace weft::test
