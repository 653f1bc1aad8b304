#include "program/stream_plan.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace weft {

namespace {

bool is_flag(OpKind kind) {
  return kind == OpKind::signal_free || kind == OpKind::await_free || kind == OpKind::signal_full ||
         kind == OpKind::await_full;
}

bool is_copy(OpKind kind) {
  return kind == OpKind::copy || kind == OpKind::pack || kind == OpKind::put || kind == OpKind::keep ||
         kind == OpKind::unpack;
}

/// The two operations that keep a rank from putting data where a peer still reads.
bool is_of_room(const Op& op) {
  return op.kind == OpKind::signal_free || op.kind == OpKind::await_free;
}

/// The ranks, and this one, that a rank sends to in a reshape whose parts are stored, or has got parts from.
std::vector<bool> partners(const Program& program, const ReshapeProgram& reshape,
                           std::vector<Message> TileMessages::*messages) {
  std::vector<bool> found(static_cast<std::size_t>(program.ranks), false);
  found[static_cast<std::size_t>(program.rank)] = true;
  for (const TileMessages& tile : reshape.stored.tiles)
    for (const Message& m : tile.*messages) found[static_cast<std::size_t>(m.peer)] = true;
  return found;
}
bool all_among(const std::vector<bool>& some, const std::vector<bool>& others) {
  for (std::size_t i = 0; i < some.size(); ++i)
    if (some[i] && !others[i]) return false;
  return true;
}

/// Whether it is left out where so many reshapes, the first ones, always have room.
bool is_superfluous(const Op& op, int roomy) {
  return is_of_room(op) && op.reshape < roomy;
}

/// The signals that this rank has sent so far. The two streams become branches of a captured graph, and the
/// device may run these in any order on one queue. A wait for a peer therefore depends on every signal before
/// it, on either stream: else two ranks could wait for each other.
class SignalsSoFar {
 public:
  void note(const Op& op, int id) {
    if (op.kind == OpKind::signal_free) freed_ = id;
    if (op.kind == OpKind::signal_full) full_.push_back({op.reshape, op.tile, id});
  }
  /// The newest signal that a wait has to follow; -1: none.
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

/// Orders operations so that those that are enqueued together stand side by side.
class Launches {
 public:
  Launches(const Program& program, StreamPlan& plan) : p_(program), plan_(plan) {}

  void find(int roomy) {
    for (int id = 0; id < static_cast<int>(p_.ops.size()); ++id)
      if (!is_superfluous(p_.ops[static_cast<std::size_t>(id)], roomy)) plan_.order.push_back(id);
    const int n = size();
    for (int i = 0; i < n; i = end_of_puts(i)) gather(i, end_of_puts(i));
    for (int i = 0; i < n; i += plan_.launches.back().count) plan_.launches.push_back({i, count_from(i)});
  }

 private:
  int size() const { return static_cast<int>(plan_.order.size()); }
  const Op& op(int i) const { return p_.ops[static_cast<std::size_t>(at(i))]; }
  const StreamPlan::Step& step(int i) const { return plan_.steps[static_cast<std::size_t>(at(i))]; }
  int at(int i) const { return plan_.order[static_cast<std::size_t>(i)]; }
  bool waits(int i) const { return step(i).waits_begin < step(i).waits_end; }

  /// Where an operation comes among the puts of a tile; -1: nowhere.
  static int place_of(const Op& op) {
    switch (op.kind) {
      case OpKind::await_free:
        return 0;
      case OpKind::put:
        return 1;
      case OpKind::signal_full:
        return 2;
      default:
        return -1;
    }
  }

  /// One past the puts of a tile, with their flags, that follow each other on a stream.
  int end_of_puts(int i) const {
    const auto belongs = [&](int k) {
      return place_of(op(k)) >= 0 && op(k).reshape == op(i).reshape && op(k).tile == op(i).tile &&
             op(k).lane == op(i).lane;
    };
    int end = i;
    while (end < size() && belongs(end)) ++end;
    return std::max(end, i + 1);
  }

  /// Moves the flags around the puts of a tile, because a stream loses time whenever it changes between flags
  /// and copies. No rank waits longer for that: a receiver needs all parts of the tile anyway. The order
  /// stays where a wait for room also waits for the other stream.
  void gather(int begin, int end) {
    for (int i = begin + 1; i < end; ++i)
      if (op(i).kind == OpKind::await_free && (waits(i) || op(begin).kind != OpKind::await_free)) return;
    std::stable_sort(plan_.order.begin() + begin, plan_.order.begin() + end, [&](int a, int b) {
      return place_of(p_.ops[static_cast<std::size_t>(a)]) < place_of(p_.ops[static_cast<std::size_t>(b)]);
    });
  }

  int count_from(int i) const {
    if (op(i).kind == OpKind::receive) return 1 + op(i).count;
    int k = i + 1;
    while (k < size() && joins(i, k)) ++k;
    return k - i;
  }

  bool joins(int first, int k) const {
    const auto both = [&](bool (*is)(OpKind)) { return is(op(first).kind) && is(op(k).kind); };
    if (op(k).lane != op(first).lane || waits(k) || step(k - 1).event >= 0) return false;
    if (both(is_flag)) return true;
    if (is_copy(op(first).kind) && op(k).kind == OpKind::signal_full) return true;
    return both(is_copy) && is_copy(op(k - 1).kind) && !depends(k, first);
  }

  bool depends(int k, int first) const {
    const auto ids =
        std::span(plan_.order).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(k - first));
    for (int d = op(k).deps_begin; d < op(k).deps_end; ++d)
      if (std::find(ids.begin(), ids.end(), p_.deps[static_cast<std::size_t>(d)]) != ids.end()) return true;
    return false;
  }

  const Program& p_;
  StreamPlan& plan_;
};

}  // namespace

bool finds_room(const Program& program, const Program& before) {
  if (program.reshapes.empty() || !program.reshapes[0].leg.traits.stores) return false;
  for (const Op& op : program.ops)
    if (op.kind == OpKind::signal_free && op.reshape == 0 && op.deps_begin < op.deps_end) return false;
  std::vector<bool> have_sent(static_cast<std::size_t>(program.ranks), false);
  for (const ReshapeProgram& r : before.reshapes) {
    const std::vector<bool> now = partners(before, r, &TileMessages::receives);
    for (std::size_t i = 0; i < now.size(); ++i) have_sent[i] = have_sent[i] || now[i];
  }
  return all_among(partners(program, program.reshapes[0], &TileMessages::sends), have_sent);
}

bool finds_room_in_turn(const Program& program, const Program& before) {
  for (const Program* p : {&program, &before}) {
    const auto in_turn = [](const ReshapeProgram& r) { return r.leg.in_turn() && r.leg.traits.stores; };
    if (p->reshapes.size() != 2 || !std::ranges::all_of(p->reshapes, in_turn)) return false;
  }
  const auto follows = [](const Program& now, std::size_t reshape, const Program& earlier, std::size_t last) {
    return all_among(partners(now, now.reshapes[reshape], &TileMessages::sends),
                     partners(earlier, earlier.reshapes[last], &TileMessages::receives));
  };
  return follows(program, 0, before, 1) && follows(program, 1, program, 0);
}

StreamPlan plan_streams(const Program& program, int roomy) {
  StreamPlan plan;
  plan.steps.resize(program.ops.size());
  // For each operation, and for what comes next on each stream: on either stream, the newest operation that
  // is over before it begins.
  using Seen = std::array<int, 2>;
  std::vector<Seen> seen(program.ops.size());
  std::array<Seen, 2> newest{Seen{-1, -1}, Seen{-1, -1}};
  const auto index = [](Lane r) { return static_cast<std::size_t>(r); };
  // Parts that are unpacked one by one as they arrive: the executor makes each wait for its arrival.
  int receiving = -1, unpacks_end = -1;
  SignalsSoFar signals;
  for (std::size_t i = 0; i < program.ops.size(); ++i) {
    const Op& op = program.ops[i];
    const int id = static_cast<int>(i);
    StreamPlan::Step& step = plan.steps[i];
    if (is_superfluous(op, roomy)) continue;
    plan.transfers = plan.transfers || op.lane == Lane::transfer;
    const std::size_t mine = index(op.lane), other = 1 - mine;
    Seen now = newest[mine];
    int last = -1;
    for (int d = op.deps_begin; d < op.deps_end; ++d) {
      const int dep = program.deps[static_cast<std::size_t>(d)];
      if (op.kind == OpKind::unpack && id < unpacks_end && dep == receiving) continue;
      if (is_superfluous(program.ops[static_cast<std::size_t>(dep)], roomy)) continue;
      if (index(program.ops[static_cast<std::size_t>(dep)].lane) == other) last = std::max(last, dep);
    }
    const int before = signals.before(op);
    if (before >= 0 && index(program.ops[static_cast<std::size_t>(before)].lane) == other)
      last = std::max(last, before);
    signals.note(op, id);
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
  Launches(program, plan).find(roomy);
  return plan;
}

}  // namespace weft
