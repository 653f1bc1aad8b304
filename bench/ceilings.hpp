// What this machine could do at best, measured where and when the benchmark runs: how fast all ranks together
// copy memory, and how fast they send to each other, in arrays of the size of the problem, so that caches
// help as much as they do there. The best of several tries counts: it is a ceiling. Of devices, which have no
// such caches, ceilings are kept in wisdom, and measured once.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "weft/axis_vector.hpp"
#include "weft/comm.hpp"

namespace weft::bench {

struct Ceilings {
  double copy_bytes_per_s = 0;  ///< of each rank while all copy: bytes read plus bytes written
  double send_bytes_per_s = 0;  ///< of each rank while all send to all others; 0: one rank
  /// Of devices that reach each other, by copy engines: of each rank while all copy to the rank that comes
  /// one, two, ... after them.
  std::vector<double> link_bytes_per_s;
  bool remembered = false;  ///< by wisdom
};

struct CeilingRequest {
  Index bytes = 0;                 ///< of the array that a rank holds, alike on all ranks
  std::shared_ptr<Device> device;  ///< where arrays lie; null: on the host
  std::string wisdom;              ///< file; empty: none
};

/// Collective; takes a fraction of a second.
Ceilings find_ceilings(const Comm& comm, const CeilingRequest& request);

}  // namespace weft::bench
