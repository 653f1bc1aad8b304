// What the operations of a program cost on a described device: local FFTs as cuFFT does them, a pass over the
// data for each axis, and copies by kernels. Times do not count what a kernel takes at least, but for FFTs,
// whose passes were measured with it.
#pragma once

#include "model/costs.hpp"

namespace weft {

class DeviceCosts {
 public:
  /// `in_graph`: operations are nodes of a graph.
  DeviceCosts(const DeviceDescription& device, const CostSetting& setting, bool in_graph);

  double fft_seconds(const FftCall& call, const Distances& distances) const;
  double copy_seconds(const CopyCall& call, const Distances& distances) const;
  /// Of a copy that writes elsewhere: of reading, and of coding.
  double read_seconds(const CopyCall& call, double distance) const;
  /// What a kernel takes at least.
  double kernel_seconds() const { return in_graph_ ? device_.node_s : device_.kernel_s; }
  double cache_bytes() const { return static_cast<double>(device_.cache_bytes); }

 private:
  double byte_seconds(double distance) const;
  double share_of_memory(double distance) const {
    return memory_share(device_.copy_alone, byte_seconds(distance));
  }
  double pass_seconds(const FftCall& call, int axis, PointsLie shape, double share) const;

  const DeviceDescription& device_;
  FftSpeeds ffts_;
  bool in_graph_;
};

/// The kernels of a local FFT: one for each axis that is transformed, or a copy.
int kernels_of(const FftCall& call);

}  // namespace weft
