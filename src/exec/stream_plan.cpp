#include "exec/stream_plan.hpp"

#include <algorithm>
#include <array>

namespace weft {

namespace {

StreamRole role_of(const Program& p, const Op& op, bool carried) {
  switch (op.kind) {
    case OpKind::put:
      // What stays on the device is copied by a kernel, like any other local copy.
      return p.copies[static_cast<std::size_t>(op.call)].to_rank < 0 ? StreamRole::compute
                                                                     : StreamRole::transfer;
    case OpKind::wait_sent:
    case OpKind::receive:
      return carried ? StreamRole::compute : StreamRole::transfer;
    case OpKind::post:
    case OpKind::await_free:
    case OpKind::signal_full:
      return StreamRole::transfer;
    case OpKind::fft:
    case OpKind::copy:
    case OpKind::pack:
    case OpKind::keep:
    case OpKind::unpack:
    case OpKind::signal_free:
    case OpKind::await_full:
      break;
  }
  return StreamRole::compute;
}

/// Branches of a graph may share a queue of the device and come in any order there. So who waits for peers
/// has told them first what they may wait for until then, and depends on that.
class Told {
 public:
  void note(const Op& op, int id) {
    if (op.kind == OpKind::signal_free) freed_ = id;
    if (op.kind == OpKind::signal_full) full_.push_back({op.reshape, op.tile, id});
  }
  /// Of what an operation on one stream has to depend on, the newest on the other; -1: none.
  int before(const Op& op) const {
    if (op.kind == OpKind::await_free) return freed_;
    if (op.kind != OpKind::await_full) return -1;
    const auto told = std::find_if(full_.rbegin(), full_.rend(), [&](const Full& f) {
      return f.reshape < op.reshape || (f.reshape == op.reshape && f.tile <= op.tile);
    });
    return told == full_.rend() ? -1 : told->id;
  }

 private:
  struct Full {
    int reshape, tile, id;
  };
  int freed_ = -1;
  std::vector<Full> full_;
};

}  // namespace

StreamPlan plan_streams(const Program& program, const std::vector<bool>& carried_on_streams) {
  StreamPlan plan;
  plan.steps.resize(program.ops.size());
  // Of each operation, the newest one on either stream that is over before it begins; and of the streams.
  using Seen = std::array<int, 2>;
  std::vector<Seen> seen(program.ops.size());
  std::array<Seen, 2> newest{Seen{-1, -1}, Seen{-1, -1}};
  const auto index = [](StreamRole r) { return static_cast<std::size_t>(r); };
  // Of parts that are unpacked one by one as they arrive, arrival is the receiver's business.
  int receiving = -1, unpacks_end = -1;
  Told told;
  for (std::size_t i = 0; i < program.ops.size(); ++i) {
    const Op& op = program.ops[i];
    const int id = static_cast<int>(i);
    StreamPlan::Step& step = plan.steps[i];
    const auto reshape = static_cast<std::size_t>(std::max(op.reshape, 0));
    step.stream = role_of(program, op, reshape < carried_on_streams.size() && carried_on_streams[reshape]);
    plan.transfers = plan.transfers || step.stream == StreamRole::transfer;
    const std::size_t mine = index(step.stream), other = 1 - mine;
    Seen now = newest[mine];
    int last = -1;
    for (int d = op.deps_begin; d < op.deps_end; ++d) {
      const int dep = program.deps[static_cast<std::size_t>(d)];
      if (op.kind == OpKind::unpack && id < unpacks_end && dep == receiving) continue;
      if (index(plan.steps[static_cast<std::size_t>(dep)].stream) == other) last = std::max(last, dep);
    }
    last = std::max(last, told.before(op));
    told.note(op, id);
    step.waits_begin = static_cast<int>(plan.waits.size());
    if (last > now[other]) {
      StreamPlan::Step& awaited = plan.steps[static_cast<std::size_t>(last)];
      if (awaited.event < 0) awaited.event = plan.events++;
      plan.waits.push_back(awaited.event);
      now[other] = last;
      now[mine] = std::max(now[mine], seen[static_cast<std::size_t>(last)][mine]);
    }
    step.waits_end = static_cast<int>(plan.waits.size());
    seen[i] = now;
    now[mine] = id;
    newest[mine] = now;
    if (op.kind == OpKind::receive) {
      receiving = id;
      unpacks_end = id + 1 + op.count;
    }
  }
  return plan;
}

}  // namespace weft
