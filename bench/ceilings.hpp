// Upper bounds of this machine's bandwidths, measured when the benchmark runs: of memory copies by all ranks
// at once, and of messages between them. The arrays have the size of the problem's, so that caches have the
// same effect. The best of several tries counts. On devices, where caches have no such effect, bandwidths are
// measured once and kept in wisdom.
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
  double send_bytes_per_s = 0;  ///< of each rank while all send to all others; 0 for a single rank
  /// Bandwidth of copy engines between devices, per rank: element i while every rank copies to the rank i + 1
  /// after it.
  std::vector<double> link_bytes_per_s;
  bool remembered = false;  ///< taken from wisdom
};

struct CeilingRequest {
  Index bytes = 0;                 ///< of a rank's array, the same on all ranks
  std::shared_ptr<Device> device;  ///< where arrays lie; null: on the host
  std::string wisdom;              ///< file; empty: none
};

/// Collective; takes a fraction of a second.
Ceilings find_ceilings(const Comm& comm, const CeilingRequest& request);

}  // namespace weft::bench
