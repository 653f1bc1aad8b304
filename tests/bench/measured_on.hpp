// Runs the benchmark in a test.
#pragma once

#include "measurement.hpp"
#include "support/device_double.hpp"
#include "support/first_rank.hpp"

namespace weft::test {

/// Ranks have a device each if arrays are in memory of devices.
inline bench::Measured measured_on(int ranks, const bench::Case& c) {
  return on_first_rank(ranks, [&](const Comm& comm) {
    if (c.device == "cuda") set_double_device(comm.rank());
    return measure(comm, c);
  });
}

}  // namespace weft::test
