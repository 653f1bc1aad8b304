// The host of a device in the timed replay: it enqueues operations on streams, each for what its launch
// takes, or all of them as a graph; and it brings what it carries itself to pinned memory and back.
#include <utility>

#include "model/replay_engine.hpp"

namespace weft {

namespace {

bool is_of_flags(OpKind kind) {
  return kind == OpKind::signal_free || kind == OpKind::signal_full || kind == OpKind::await_free ||
         kind == OpKind::await_full;
}

int nodes_of(const ReplayRank& r) {
  int nodes = 0;
  for (const ReplayStep& s : r.lanes[host_lane].steps) {
    if (s.does != StepDoes::enqueue || s.joins) continue;
    const Op& op = at(r.program.ops, s.op);
    nodes += op.kind == OpKind::fft ? kernels_of(at(r.program.ffts, op.call)) : 1;
  }
  return nodes;
}

}  // namespace

/// Time that the host spends before what comes next.
void TimedReplay::launch(LaneAt host, double seconds) {
  ReplayRank& r = of(host);
  ReplayLane& l = r.lane(host.lane);
  if (seconds == 0) return;
  r.note(host.lane, {"launch", -1, -1, 0, l.clock, l.clock + seconds});
  l.clock += seconds;
}

/// With a second stream, that one first waits for the other, and in the end the other for it.
void TimedReplay::begin_execution(int rank) {
  const LaneAt host{rank, host_lane};
  const ReplayRank& r = of(host);
  double seconds = device_->execution_s;
  if (request_.device->as_graph) {
    seconds += device_->launch_graph_s + nodes_of(r) * device_->launch_node_s;
  } else if (r.streams.transfers) {
    seconds += 4 * device_->launch_event_s;
  }
  launch(host, seconds);
}

double TimedReplay::launch_seconds(const ReplayRank& r, const ReplayStep& step) const {
  if (request_.device->as_graph) return 0;
  const Op& op = at(r.program.ops, step.op);
  const StreamPlan::Step& plan = at(r.streams.steps, step.op);
  const int events = plan.waits_end - plan.waits_begin + (plan.event >= 0 ? 1 : 0);
  double seconds = events * device_->launch_event_s;
  if (op.kind == OpKind::fft)
    return seconds + device_->launch_fft_s +
           (kernels_of(at(r.program.ffts, op.call)) - 1) * device_->launch_kernel_s;
  if (step.joins) return seconds;
  const bool engine =
      op.kind == OpKind::put && at(r.program.copies, op.call).to_rank >= 0 && op.lane == Lane::transfer;
  return seconds + (is_of_flags(op.kind) ? device_->launch_flags_s
                    : engine             ? device_->launch_copy_s
                                         : device_->launch_kernel_s);
}

void TimedReplay::append(int rank, int lane, ReplayStep step) {
  ReplayRank& r = at(ranks_, rank);
  ReplayLane& l = r.lane(lane);
  const ReplayLane& host = r.lane(host_lane);
  step.enqueued = host.clock;
  step.enqueued_by = host.last;
  const bool idle = l.finished();
  l.steps.push_back(step);
  if (idle) wake({rank, lane}, step.enqueued);
}

void TimedReplay::enqueue(LaneAt host) {
  ReplayRank& r = of(host);
  const ReplayStep s = r.lane(host.lane).step();
  const StreamPlan::Step& plan = at(r.streams.steps, s.op);
  launch(host, launch_seconds(r, s));
  append(host.rank, compute_lane + static_cast<int>(at(r.program.ops, s.op).lane),
         {.op = s.op,
          .joins = s.joins,
          .waits_begin = plan.waits_begin,
          .waits_end = plan.waits_end,
          .event = plan.event});
  advance(host);
}

/// What a tile sends goes to pinned memory, the rank's own part too. The host then waits for the event of its
/// step.
void TimedReplay::stage(LaneAt host) {
  ReplayRank& r = of(host);
  const ReplayStep s = r.lane(host.lane).step();
  const Op& op = at(r.program.ops, s.op);
  const StreamPlan::Step& plan = at(r.streams.steps, s.op);
  const ReplayTile& tile = r.tile(op);
  std::vector<Index> parts;
  for (const ReplayPart& p : tile.sends) parts.push_back(p.bytes);
  if (tile.own_bytes > 0) parts.push_back(tile.own_bytes);
  launch(host, static_cast<double>(parts.size()) * device_->launch_copy_s + device_->launch_event_s);
  const int lane = compute_lane + static_cast<int>(op.lane);
  ReplayStep next{.op = s.op, .waits_begin = plan.waits_begin, .waits_end = plan.waits_end};
  next.does = StepDoes::stage;
  next.outwards = true;
  for (const Index bytes : parts) {
    next.bytes = bytes;
    append(host.rank, lane, std::exchange(next, {.op = s.op, .does = StepDoes::stage, .outwards = true}));
  }
  next.does = StepDoes::mark;
  next.event = s.event;
  append(host.rank, lane, next);
  advance(host, false);
}

/// A part that has arrived goes to the device, where it is unpacked.
void TimedReplay::stage_in(LaneAt host, const Op& op, std::size_t part) {
  ReplayRank& r = of(host);
  const int receive = r.lane(host.lane).step().op;
  const int lane = compute_lane + static_cast<int>(op.lane);
  ReplayStep copy{.op = receive, .does = StepDoes::stage, .bytes = r.tile(op).receives[part].bytes};
  launch(host, device_->launch_copy_s);
  if (op.count == 0) return append(host.rank, lane, copy);
  copy.event = r.add_event();
  append(host.rank, lane, copy);
  const int id = receive + 1 + static_cast<int>(part);
  const StreamPlan::Step& plan = at(r.streams.steps, id);
  ReplayStep unpacks{.op = id, .waits_begin = static_cast<int>(r.waits.size()), .event = plan.event};
  for (int w = plan.waits_begin; w < plan.waits_end; ++w) r.waits.push_back(at(r.streams.waits, w));
  r.waits.push_back(copy.event);
  unpacks.waits_end = static_cast<int>(r.waits.size());
  launch(host, 2 * device_->launch_event_s + device_->launch_kernel_s);
  append(host.rank, compute_lane, unpacks);
}

/// On the stream of an operation that the host has done: what waits for it there may go on.
void TimedReplay::mark(LaneAt host, int id) {
  if (device_ == nullptr) return;
  ReplayRank& r = of(host);
  const StreamPlan::Step& plan = at(r.streams.steps, id);
  const Op& op = at(r.program.ops, id);
  if (plan.event < 0 && plan.waits_begin == plan.waits_end) return;
  const bool waited = op.kind == OpKind::post;  // by the copies to pinned memory
  append(host.rank, compute_lane + static_cast<int>(op.lane),
         {.op = id,
          .does = StepDoes::mark,
          .waits_begin = waited ? 0 : plan.waits_begin,
          .waits_end = waited ? 0 : plan.waits_end,
          .event = plan.event});
}

}  // namespace weft
