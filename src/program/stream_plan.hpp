// Which operations of a program, each enqueued on the stream of its lane, wait for which of the other stream,
// and which are enqueued together. Pure data, computed once from the dependencies; waits that follow from
// others are left out.
#pragma once

#include <cstdint>
#include <vector>

#include "program/program.hpp"

namespace weft {

struct StreamPlan {
  struct Step {
    int waits_begin = 0, waits_end = 0;  ///< range in `waits`
    int event = -1;                      ///< to be recorded afterwards
  };
  /// Flags, or copies that do not depend on each other and what is signalled behind them, in one go; any
  /// other operation by itself, a receive with what is unpacked. But for a receive, only the first waits for
  /// the other stream, and only the last is waited for.
  struct Launch {
    int first = 0, count = 1;  ///< range in `order`
  };
  std::vector<Step> steps;  ///< one per operation
  std::vector<int> order;   ///< of the operations: flags around the puts of a tile, not between
  std::vector<Launch> launches;
  std::vector<int> waits;  ///< events of the other stream
  int events = 0;
  bool transfers = false;  ///< whether the second stream is used at all
};

/// Whether this rank always finds room in the first reshape of a program, if executions take turns with two
/// workspaces and `before` was executed before: the memory is nobody else's until then, and who gets a part
/// has sent one in the execution before, behind all of the one before that.
bool finds_room(const Program& program, const Program& before);

/// The same of both reshapes of a program that land in the two halves of one workspace in turn, if FFTs put
/// all, so that what landed is read by what follows the reshape alone, and `before` was executed before. Who
/// gets a part has sent one in the reshape before, in `before` for the first one; and it sent that after it
/// had read what landed in the same half the last time.
bool finds_room_in_turn(const Program& program, const Program& before);

/// `roomy`: in so many reshapes, the first ones, no rank waits for room, nor is any told of it.
StreamPlan plan_streams(const Program& program, int roomy = 0);

}  // namespace weft
