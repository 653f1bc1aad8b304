// What a rank of the timed replay does alone: local FFTs and copies, on the host or by kernels, and copies of
// a device into the memory of another one or of the host.
#include "model/replay_engine.hpp"

namespace weft {

namespace {

/// The engine copies long rows of parts that are not small; all else is done by kernels
/// (device/stream_copy.hpp).
bool is_by_engine(const Leg& leg, const CopyCall& call) {
  constexpr Index least_row = 512, least_bytes = 64 * 1024;
  return leg.store_lane == Lane::transfer && !call.coded.codec && call.scale == 1 &&
         bytes_read(call) >= least_bytes && contiguous_bytes(call) >= least_row;
}

double over(const LinkDescription& link, double bytes) {
  return bytes == 0 ? 0 : bytes / link.bytes_per_s.at(bytes);
}

}  // namespace

int TimedReplay::device_number(int rank) const {
  const std::vector<int>& devices = request_.device->devices;
  return devices.empty() ? rank : at(devices, rank);
}

/// Does an operation as soon as there is a core for it.
void TimedReplay::run_local(LaneAt at, const Op& op) {
  ReplayRank& r = of(at);
  ReplayLane& l = r.lane(at.lane);
  if (device_ != nullptr) {
    const bool away = op.kind == OpKind::put && weft::at(r.program.copies, op.call).to_rank >= 0 &&
                      !on_one_device(r.program.rank, op.peer);
    if (away) return run_put(at, op);
    // The passes of a local FFT were measured with what a kernel takes at least.
    const bool counted = op.kind == OpKind::fft || l.step().joins;
    return run_kernel(at, op, r.local_seconds(op) + (counted ? 0 : r.device->kernel_seconds()));
  }
  const double seconds = r.local_seconds(op);
  const int machine = request_.machine.emulated ? 0 : weft::at(request_.nodes, r.program.rank);
  const auto cores = cores_.find(machine);
  const double begin = cores == cores_.end() ? l.clock : cores->second.take(l.clock, seconds);
  l.clock = begin + seconds;
  r.note(at.lane, op, begin, l.clock, local_bytes(r.program, op));
}

/// Kernels of a device, of whatever rank and stream, take turns.
void TimedReplay::run_kernel(LaneAt at, const Op& op, double seconds) {
  ReplayRank& r = of(at);
  ReplayLane& l = r.lane(at.lane);
  const double begin = device_of_rank(r.program.rank).kernels.take(l.clock, seconds);
  l.clock = begin + seconds;
  r.note(at.lane, op, begin, l.clock, local_bytes(r.program, op));
}

/// Into the workspace of a rank on another device, whose link others may keep busy.
void TimedReplay::run_put(LaneAt at, const Op& op) {
  ReplayRank& r = of(at);
  ReplayLane& l = r.lane(at.lane);
  const CopyCall& call = weft::at(r.program.copies, op.call);
  const bool engine = is_by_engine(weft::at(r.program.reshapes, op.reshape).leg, call);
  const LinkDescription& link = links_.device_link(over_peer, engine ? by_engines : by_stores);
  const double before = l.step().joins ? 0 : link.latency_s + (engine ? 0 : r.device->kernel_seconds());
  const double wire = over(link, static_cast<double>(bytes_written(call)));
  const double distance = r.touch(call).from;
  const double read = engine ? 0 : r.device->read_seconds(call, distance);
  const double seconds = before + std::max(wire, read);
  const double begin = engine ? l.clock : device_of_rank(r.program.rank).kernels.take(l.clock, seconds);
  double end = begin + seconds;
  if (ranks_.size() == request_.nodes.size()) {
    double& busy = replayed(op.peer).in_free;
    busy = std::max(busy, begin + before) + wire;
    end = std::max(end, busy);
  }
  l.clock = end;
  r.note(at.lane, op, begin, end, local_bytes(r.program, op));
}

/// Between the device and pinned memory, by the engine of that direction.
void TimedReplay::run_staging(LaneAt at) {
  ReplayRank& r = of(at);
  ReplayLane& l = r.lane(at.lane);
  const ReplayStep& s = l.step();
  const LinkDescription& link = links_.device_link(over_host, by_engines);
  const double seconds = r.slowdown * (link.latency_s + over(link, static_cast<double>(s.bytes)));
  ReplayDevice& device = device_of_rank(r.program.rank);
  const double begin = (s.outwards ? device.outwards : device.inwards).take(l.clock, seconds);
  const Op& op = r.op(l);
  l.clock = begin + seconds;
  OperationTime time{"stage", op.stage, op.reshape, op.tile, begin, l.clock, s.bytes};
  time.stream = at.lane == transfer_lane ? 1 : 0;
  r.note(at.lane, time);
  advance(at);
}

}  // namespace weft
