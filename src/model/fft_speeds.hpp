// Looks up what local FFTs of a description take: by library, precision, how points lie, and length. Lengths
// that were not measured lie between those of the same kind, by their largest prime factor.
#pragma once

#include <map>
#include <string>
#include <tuple>

#include "model/machine_description.hpp"

namespace weft {

/// As `FftSpeed::shape` has it.
enum class PointsLie { lines, columns, middle, planes };

class FftSpeeds {
 public:
  struct Lines {
    Curve in_cache;   ///< seconds for a point and a bit of its length's logarithm
    Curve in_memory;  ///< what a point takes more from memory and back
    Curve call;       ///< what a call takes beside; empty: nothing
    double in_cache_s(Index n) const;
    double in_memory_s(Index n) const { return in_memory.at(static_cast<double>(n)); }
    double call_s(Index n) const { return call.empty() ? 0 : call.at(static_cast<double>(n)); }
  };

  /// `library`: one that is not described stands for the first that is. Throws `weft::Error` if there are no
  /// figures of the precision.
  FftSpeeds(const ComputeDescription& compute, std::string library, int real_bytes);

  /// What was not measured is like the next easier kind of length, then like lines elsewhere.
  const Lines& lines(PointsLie shape, bool rows_meet, Index n) const;

 private:
  /// Lengths by their largest prime factor, which says how well libraries do them.
  enum class Factors { two, five, thirteen, any };
  static Factors factors_of(Index n);

  /// How points lie, whether rows meet, which lengths.
  /// Numbers, since enumerations would make symbols of the C++ library's templates visible outside of Weft.
  using Kind = std::tuple<int, bool, int>;
  static Kind kind_of(PointsLie shape, bool rows_meet, Factors factors) {
    return {static_cast<int>(shape), rows_meet, static_cast<int>(factors)};
  }

  std::map<Kind, Lines> lines_;
};

}  // namespace weft
