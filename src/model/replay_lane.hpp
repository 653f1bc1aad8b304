// What the timed replay keeps of a lane: something that does steps one after the other. The host is one,
// which does the whole program of arrays that are there. A rank with its arrays on a device has two lanes
// more, the streams, whose steps the host appends as it enqueues them.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace weft {

/// Later than anything: what has not happened yet.
inline constexpr double not_yet = std::numeric_limits<double>::infinity();

/// The lanes of a rank by their numbers. Streams are those of `Lane`, behind the host.
inline constexpr int host_lane = 0, compute_lane = 1, transfer_lane = 2;

/// A lane of a replayed rank, by its position among them.
struct LaneAt {
  int rank = -1, lane = host_lane;
};

/// What a step does with its operation.
enum class StepDoes : std::uint8_t {
  all,      ///< the operation itself
  enqueue,  ///< appends it to the stream of its lane
  stage,  ///< on the host: appends copies of what a tile sends to pinned memory; on a stream: a copy between
          ///< that and the device
  mark    ///< nothing, but what waits for it may go on
};

struct ReplayStep {
  int op = -1;  ///< position in the program
  StepDoes does = StepDoes::all;
  bool joins = false;                  ///< it is in one launch with the step before
  bool outwards = false;               ///< of a staging copy: from the device
  std::int64_t bytes = 0;              ///< of a staging copy
  int waits_begin = 0, waits_end = 0;  ///< range in `ReplayRank::waits`: events of other lanes
  int event = -1;                      ///< of the rank, that happens when the step is done
  double enqueued = 0;                 ///< from when on it may begin
  int enqueued_by = -1;                ///< the number of the host's operation
};

/// An operation that ended a wait, or let something begin.
struct ReplayCause {
  int rank = -1;    ///< position among the replayed ranks; -1: none
  int number = -1;  ///< of the operation
};

struct ReplayLane {
  std::vector<ReplayStep> steps;
  std::size_t at = 0;      ///< the step that comes next
  std::size_t event = 0;   ///< the newest of its events, which alone counts
  bool under_way = false;  ///< it has begun and waits
  bool blocked = false;    ///< it waits for an event to begin
  double begun = 0;
  double clock = 0;
  int last = -1;       ///< number of its last operation
  ReplayCause cause;   ///< what ended the wait of the operation under way
  ReplayCause opener;  ///< what let it begin

  bool finished() const { return at == steps.size(); }
  const ReplayStep& step() const { return steps[at]; }
};

/// Something that happens once, in the order of a stream.
struct ReplayEvent {
  double time = not_yet;
  int number = -1;  ///< of the operation
};

}  // namespace weft
