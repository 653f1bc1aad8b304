// What this machine could do at best, measured where and when the benchmark runs: how fast all ranks together
// copy memory, and how fast they send to each other, in arrays of the size of the problem, so that caches
// help as much as they do there. The best of several tries counts: it is a ceiling.
#pragma once

#include <memory>

#include "device/device.hpp"
#include "weft/axis_vector.hpp"
#include "weft/comm.hpp"

namespace weft::bench {

struct Ceilings {
  double copy_bytes_per_s = 0;  ///< of each rank while all copy: bytes read plus bytes written
  double send_bytes_per_s = 0;  ///< of each rank while all send to all others; 0: one rank
};

/// `bytes`: of the array that a rank holds, alike on all ranks. `device`: where arrays lie; null: on the
/// host. Collective; takes a fraction of a second.
Ceilings measure_ceilings(const Comm& comm, Index bytes, const std::shared_ptr<Device>& device);

}  // namespace weft::bench
