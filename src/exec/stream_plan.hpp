// On which stream each operation of a program is enqueued, and which of them wait for which across streams.
// Pure data, computed once from the dependencies; waits that follow from others are left out.
#pragma once

#include <cstdint>
#include <vector>

#include "program/program.hpp"

namespace weft {

/// The stream that the user gave computes; what moves between ranks has one of its own, so that it walks the
/// peers in the order of the program while the other computes.
enum class StreamRole : std::uint8_t { compute, transfer };

struct StreamPlan {
  struct Step {
    StreamRole stream = StreamRole::compute;
    int waits_begin = 0, waits_end = 0;  ///< range in `waits`
    int event = -1;                      ///< to be recorded afterwards
  };
  std::vector<Step> steps;  ///< one per operation
  std::vector<int> waits;   ///< events of the other stream
  int events = 0;
  bool transfers = false;  ///< whether the second stream is used at all
};

/// `carried_on_streams`: per reshape, whether a tile that was posted needs nothing of the host to be carried:
/// then those who need it wait for that alone, and not for tiles that were posted since.
StreamPlan plan_streams(const Program& program, const std::vector<bool>& carried_on_streams = {});

}  // namespace weft
