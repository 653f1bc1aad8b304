// What the operations of a program cost one rank on a described machine: local FFTs, copies, coding. Each is
// the time of its work in the cache and that of the bytes that it brings from memory and back. Where data lie
// follows from how many bytes the rank has gone through since it touched them.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

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

/// As `FftSpeed::shape` has it.
enum class PointsLie { lines, columns, planes };

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
  struct Lines {
    Curve in_cache;   ///< seconds for a point and a bit of its length's logarithm
    Curve in_memory;  ///< what a point takes more from memory and back
  };
  /// Lengths by their largest prime factor, which says how well libraries do them.
  enum class Factors { two, five, thirteen, any };
  static Factors factors_of(Index n);

  /// Where in `lines_` the figures are: how points lie, whether rows meet, which lengths.
  /// Numbers, since enumerations would make symbols of the C++ library's templates visible outside of Weft.
  using Kind = std::tuple<int, bool, int>;
  static Kind kind_of(PointsLie shape, bool rows_meet, Factors factors) {
    return {static_cast<int>(shape), rows_meet, static_cast<int>(factors)};
  }
  const Lines& lines(PointsLie shape, bool rows_meet, Index n) const;
  double byte_seconds(double distance) const;
  double memory_share(double distance) const;
  double pass_seconds(const FftCall& call, int axis, bool several, double share) const;

  const MachineDescription& machine_;
  CostSetting setting_;
  double together_;  ///< 0: the rank is alone on its machine; 1: all cores are busy
  std::map<Kind, Lines> lines_;
};

/// The bytes that lie next to each other on both sides of a copy.
Index contiguous_bytes(const CopyCall& call);

}  // namespace weft
