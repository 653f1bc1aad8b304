// What the operations of a program cost one rank on the host of a described machine: local FFTs, copies,
// coding. Each is the time of its work in the cache and that of the bytes that it brings from memory and
// back. Where data lie follows from how many bytes the rank has gone through since it touched them.
#pragma once

#include <string>
#include <vector>

#include "model/fft_speeds.hpp"
#include "model/machine_description.hpp"
#include "program/program.hpp"

namespace weft {

/// How a rank computes, beside its program.
struct CostSetting {
  std::string library = "fftw";  ///< of local FFTs; one that is not described: the first that is
  int real_bytes = 8;
  int ranks_of_machine = 1;  ///< that compute at the same time
  int threads = 1;           ///< of each rank
};

/// Where the two sides of an operation are: the bytes that the rank has gone through since it last touched
/// them; 0: it has just written them.
struct Distances {
  double from = 0, to = 0;
};

/// The points of the transforms of a call, complex ones, or real numbers of real transforms; and what these
/// take over complex ones.
struct FftPoints {
  FftPoints(const FftCall& call, bool several, const TransformRatios& ratios);
  static double of(const FftCall& call);
  double seconds(double work_s, double memory_s) const {
    return points * (work * work_s + memory * memory_s);
  }
  double points, work, memory;
};

/// The axes of a call along which there is something to transform.
int transformed_axes(const FftCall& call);

/// How much of a pass through memory is left, from what a byte takes: 0 as in the cache, 1 as in memory, in
/// between by the speed of copies.
double memory_share(const Curve& copies, double seconds_of_byte);

/// Of the codec of a copy. Throws `weft::Error` if it is not described.
double codec_bytes_per_s(const std::vector<CodecSpeed>& codecs, const CopyCall& call);

class Costs {
 public:
  Costs(const MachineDescription& machine, const CostSetting& setting);

  double fft_seconds(const FftCall& call, const Distances& distances) const;
  /// Of a copy of this rank, packing, unpacking or storing into a peer, coded or not.
  double copy_seconds(const CopyCall& call, const Distances& distances) const;
  /// To copy so many bytes from one place to another, by what is gone through.
  double move_seconds(double bytes, double distance) const { return 2 * bytes * byte_seconds(distance); }
  double operation_seconds() const { return machine_.processor.operation_s; }
  double cache_bytes() const { return static_cast<double>(machine_.processor.cache_bytes); }

 private:
  double byte_seconds(double distance) const;
  double share_of_memory(double distance) const;
  double pass_seconds(const FftCall& call, int axis, bool several, double share) const;

  const MachineDescription& machine_;
  CostSetting setting_;
  FftSpeeds ffts_;
  double together_;  ///< 0: the rank is alone on its machine; 1: all cores are busy
};

/// The bytes that lie next to each other on both sides of a copy.
Index contiguous_bytes(const CopyCall& call);

}  // namespace weft
