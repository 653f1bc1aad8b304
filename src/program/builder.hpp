// Makes the program of one rank from a schedule and its legs. The same code serves forward and backward (the
// schedule of the latter is the inverse), real and complex data, both precisions and all exchanges.
#pragma once

#include <vector>

#include "geometry/layout.hpp"
#include "program/program.hpp"

namespace weft {

struct ProgramRequest {
  int rank = 0;
  int real_bytes = 8;  ///< size of a real number: 4 or 8
  bool in_place = false;
  Layout input, output;  ///< of this rank's own arrays, before and after this direction; no strides: dense
  double scale = 1;      ///< what the result is multiplied by
  std::vector<int> nodes = {};  ///< those of one number store into each other where they can; none: all do
  Index cache_bytes = 2 << 20;  ///< of planes: the cache that one core has for itself
  int threads = 1;              ///< of this rank
  Index subtile = 128 << 10;    ///< of a single local FFT: bytes of the parts that it is done in
  double store_past_from = 2;   ///< caches that the largest box fills, from which on results go past them
  double two_passes_from = 16;  ///< more than so many: a single local FFT is done in two passes
  /// Operations that move parts between ranks run beside those that compute (`Lane`). Pipelines of planes
  /// then leave a transformed tile in the workspace, and it is sent from there while the next one is
  /// transformed.
  bool two_lanes = false;
  double scale_between = 1;  ///< what an operator is given is multiplied by
  friend bool operator==(const ProgramRequest&, const ProgramRequest&) = default;
};

/// `legs`: one per reshape of `schedule`, of one pipeline, equal on all ranks.
Program build_program(const Schedule& schedule, const std::vector<Leg>& legs, const ProgramRequest& request);

}  // namespace weft
