// The steps of DCTs and DSTs on the host, number by number, with the formulas and positions of devices.
#pragma once

#include <cstddef>

#include "kernels/r2r/lines.hpp"
#include "support/host_divisor.hpp"

namespace weft::test {

template <class Position>
void run_r2r_step(const R2rStep& step, std::byte* to, const std::byte* from) {
  const r2r::View<Position, HostDivisor<Position>> lines(step);
  const auto run = [&]<class Method, class Real>(Method, Real factor) {
    using Complex = r2r::Complex<Real>;
    for (Position i = 0; i < lines.total; ++i) {
      if (step.to_aside) {
        r2r::to_aside<Method>(lines, i, reinterpret_cast<Complex*>(to), reinterpret_cast<const Real*>(from),
                              factor);
      } else {
        r2r::to_array<Method>(lines, i, reinterpret_cast<Real*>(to), reinterpret_cast<const Complex*>(from),
                              factor);
      }
    }
  };
  r2r::with_method(step.method, [&](auto method) {
    step.real_bytes == 8 ? run(method, step.factor) : run(method, static_cast<float>(step.factor));
  });
}

}  // namespace weft::test
