// Measures what the model knows of a device (model/machine_description.hpp): its memory, local FFTs by cuFFT
// as plans have them made, codecs, launches, graphs and events, and the links to its host and to other
// devices.
#pragma once

#include <vector>

#include "device_timer.hpp"
#include "model/machine_description.hpp"
#include "weft/comm.hpp"

namespace weft::bench {

/// How much is measured; tests, whose devices are slow, measure less.
struct DeviceSizes {
  Index small = 256 << 10;  ///< bytes of one side of local FFTs, of which a call takes what it takes at least
  Index cached = Index{8} << 20;    ///< in the cache of the device
  Index memory = Index{128} << 20;  ///< beyond it
  std::vector<Index> lengths = {};  ///< of local FFTs; none: many
};

/// The device of the calling rank, by that rank alone; some ten seconds.
DeviceDescription measure_device(const std::shared_ptr<Device>& device, const DeviceSizes& sizes = {});

/// Its local FFTs, and what transforms take that are not c2c.
std::vector<FftSpeed> measure_device_ffts(DeviceTimer& timer, const DeviceSizes& sizes);
TransformRatios measure_device_ratios(DeviceTimer& timer, const DeviceSizes& sizes);
/// What the host takes to enqueue one along one axis.
double measure_device_fft_launch(DeviceTimer& timer);

/// Between the device of rank 0 and its host; and between those of the first two ranks, if each has its own
/// and they reach each other. `described`: on rank 0, its device. Complete on rank 0. Collective.
std::vector<LinkDescription> measure_device_links(const Comm& comm, const std::shared_ptr<Device>& device,
                                                  const DeviceDescription& described,
                                                  const DeviceSizes& sizes = {});

}  // namespace weft::bench
