// Pipeline *shared*, of ranks that reach each other's memory: between two FFTs the array is one, in memory of
// rank 0, and every rank transforms its box of it where it lies. A reshape moves nothing: a rank waits until
// those are done whose results it reads. Two such arrays take turns, so that no FFT works in place. The
// memory is that of an exchange that stores, and its flags keep order:
//
// - Nobody writes before all ranks have begun the execution, and so have read what the one before left, or
//   its flags have said so. Ranks that exchange nothing with each other, by way of others either, would wait
//   for each other: they are left to other pipelines. Ranks without points take no part.
// - A rank tells those that read from its box that it is full.
// - From the third reshape on an array is written again: all ranks have to have read it.
#include <algorithm>
#include <numeric>

#include "program/pipeline_rules.hpp"
#include "program/sequence.hpp"
#include "program/sub_tiles.hpp"
#include "traffic/parcels.hpp"

namespace weft {

namespace {

/// The least extent along an axis that a rank with points has on either side of a reshape.
Index least_extent(const Schedule& s, int stage, int axis) {
  Index least = at(s.fields, stage).shape[axis];
  for (const int side : {stage, stage + 1})
    for (int r = 0; r < s.ranks; ++r)
      if (const Box box = at(s.fields, side).box(r); !box.empty()) least = std::min(least, box.extent(axis));
  return least;
}

/// What is transformed between two reshapes, or before the first, or after the last.
struct Segment {
  int stage = -1;
  AxisVector<int> axes;
};

/// Per rank, whether it has points in any stage.
std::vector<bool> who_takes_part(const Schedule& s) {
  std::vector<bool> takes_part;
  for (int r = 0; r < s.ranks; ++r)
    takes_part.push_back(
        std::any_of(s.fields.begin(), s.fields.end(), [&](const Field& f) { return !f.box(r).empty(); }));
  return takes_part;
}

/// Whether all ranks that take part are connected by what they exchange in any of the reshapes.
bool are_connected(const Schedule& s) {
  std::vector<std::vector<int>> groups;  // of each reshape
  for (int j = 0; j < static_cast<int>(reshape_stages(s).size()); ++j)
    groups.push_back(exchange_groups(s, j));
  std::vector<int> lowest(static_cast<std::size_t>(s.ranks));  // of the ranks that are connected with a rank
  std::iota(lowest.begin(), lowest.end(), 0);
  for (std::vector<int> before; before != lowest;) {
    before = lowest;
    for (const std::vector<int>& group : groups)
      for (int r = 0; r < s.ranks; ++r) {
        int &a = at(lowest, r), &b = at(lowest, at(group, r));
        a = b = std::min(a, b);
      }
  }
  const std::vector<bool> takes_part = who_takes_part(s);
  int sets = 0;
  for (int r = 0; r < s.ranks; ++r)
    sets += takes_part[static_cast<std::size_t>(r)] && at(lowest, r) == r ? 1 : 0;
  return sets <= 1;
}

bool is_whole(const Schedule& s, const Field& field, int axis) {
  for (int r = 0; r < s.ranks; ++r) {
    const Box box = field.box(r);
    if (!box.empty() && box.extent(axis) != field.shape[axis]) return false;
  }
  return true;
}

/// Whether in both of two reshapes every rank has something for every other one. Who then has results from
/// all in the second knows that all have read the array of the first; and the array of the second is written
/// after results of the first have come from all. So the next execution, in either direction, need not wait
/// for ranks that still end this one.
bool all_hear_from_all(const Schedule& s) {
  const std::vector<int> stages = reshape_stages(s);
  const std::vector<bool> takes_part = who_takes_part(s);
  const auto ranks = static_cast<std::size_t>(std::count(takes_part.begin(), takes_part.end(), true));
  for (const int stage : stages) {
    const Field &before = at(s.fields, stage), &after = at(s.fields, stage + 1);
    for (int r = 0; r < s.ranks; ++r)
      if (takes_part[static_cast<std::size_t>(r)] && after.tiling->overlaps(before.box(r)).size() != ranks)
        return false;
  }
  return stages.size() == 2;
}

/// Gives `to`, which has no FFT, an axis of `from` that all ranks hold whole in `field`. `real_first`: the
/// direction in which the real axis is transformed at the end of `from`, where it stays.
void give(const Schedule& s, Segment& from, Segment& to, const Field& field, Direction real_first) {
  if (from.axes.empty() || !s.line.empty()) return;
  const Stage& stage = at(s.stages, from.stage);
  const bool converts = s.input().element != s.output().element;
  if (converts && (stage.real_axis < 0 || stage.direction != real_first)) return;
  for (const int a : s.input().order(0)) {  // the same on all ranks
    if (a == stage.real_axis || !from.axes.contains(a) || !is_whole(s, field, a)) continue;
    AxisVector<int> rest;
    for (const int b : from.axes)
      if (b != a) rest.push_back(b);
    to = {from.stage, {}};
    to.axes.push_back(a);
    from.axes = rest;
    return;
  }
}

/// The last segment, or the first one, has no FFT where a schedule ends, or begins, with a reshape. There it
/// is given an axis of the FFT at the other end that all ranks hold whole, and need not copy. If that has one
/// axis only, it comes last: a copy into the array takes less than an FFT into it, whose stores go to more
/// lines of other ranks' caches at a time.
std::vector<Segment> divide(const Schedule& s) {
  std::vector<Segment> segments;
  std::vector<int> ends = reshape_stages(s);
  ends.push_back(static_cast<int>(s.stages.size()));
  for (const int end : ends) {
    const bool transforms = end > 0 && at(s.stages, end - 1).kind == Stage::Kind::fft;
    const int stage = transforms ? end - 1 : -1;
    segments.push_back({stage, axes_of(s, stage)});
  }
  Segment &first = segments.front(), &last = segments.back();
  if (last.axes.empty()) give(s, first, last, s.output(), Direction::forward);
  if (first.axes.empty() && last.axes.size() > 1) give(s, last, first, s.input(), Direction::backward);
  return segments;
}

/// The memory order of the array of reshape `j`: that of the side with more axes to transform. Ranks that
/// write or read short runs get in each other's way, as they share cache lines: where ranks cut the fastest
/// axis so, another one that they cut less is the fastest.
Order order_of_array(const Schedule& s, const std::vector<Segment>& segments, int j, int real_bytes) {
  constexpr Index long_enough = 4 * line_bytes;
  const int stage = at(reshape_stages(s), j);
  const Index element = at(s.fields, stage).element == Element::real ? real_bytes : 2 * real_bytes;
  const bool more_before = at(segments, j).axes.size() > at(segments, j + 1).axes.size();
  const Order& order = at(s.fields, more_before ? stage : stage + 1).order(0);
  int fastest = order.back();
  if (least_extent(s, stage, fastest) * element >= long_enough) return order;
  for (int i = order.size() - 1; i >= 0; --i)
    if (least_extent(s, stage, order[i]) > least_extent(s, stage, fastest)) fastest = order[i];
  return axes_last(order, {fastest});
}

/// The strides of the array of each reshape, and what one of the arrays that take turns needs.
struct Arrays {
  std::vector<Strides> strides;
  Index bytes = 0;

  Arrays(const Schedule& s, const std::vector<Segment>& segments, int real_bytes) {
    const std::vector<int> stages = reshape_stages(s);
    for (int j = 0; j < static_cast<int>(stages.size()); ++j) {
      const Field& f = at(s.fields, at(stages, j));
      const int element_bytes = f.element == Element::real ? real_bytes : 2 * real_bytes;
      const Order order = order_of_array(s, segments, j, real_bytes);
      strides.push_back(spread_strides(f.shape, order, element_bytes));
      bytes = std::max(bytes, aligned(f.shape[order[0]] * strides.back()[order[0]] * element_bytes));
    }
  }
};

class SharedBuilder {
 public:
  SharedBuilder(const Schedule& schedule, const std::vector<Leg>& legs, const ProgramRequest& request)
      : w_(schedule, legs, request),
        sequence_(w_),
        reshapes_(w_.place.reshapes()),
        segments_(divide(schedule)),
        arrays_(schedule, segments_, request.real_bytes),
        takes_part_(who_takes_part(schedule)),
        begin_together_(!all_hear_from_all(schedule)) {
    for (const Leg& leg : legs) check(leg);
    const Schedule back = inverse(schedule);
    arrays_.bytes = std::max(arrays_.bytes, Arrays(back, divide(back), request.real_bytes).bytes);
  }

  Program build() {
    w_.program.shared_bytes = std::min(reshapes_, 2) * arrays_.bytes;
    for (int j = 0; j < reshapes_; ++j) open(j);
    for (int j = 0; j <= reshapes_ && takes_part(w_.rank); ++j) run(j);
    return w_.close();
  }

 private:
  void check(const Leg& leg) const {
    if (!leg.traits.stores || leg.traits.gathers || !w_.request.nodes.empty() || w_.request.two_lanes ||
        leg.codec)
      throw Error("program: pipeline shared", leg.exchange,
                  "an exchange that stores, among ranks that all reach each other's memory, on the host, "
                  "without a codec",
                  w_.rank);
  }

  /// What this rank holds of a field before or after a reshape, in the array of all.
  Place held(int j, const Field& field) const {
    Place p{Space::shared,          j % 2 * arrays_.bytes,         Box::whole(field.shape),
            at(arrays_.strides, j), w_.place.element_bytes(field), field.element};
    const Box box = field.box(w_.rank);
    if (!box.empty()) p.base = p.at(box).offset;
    p.box = box;
    return p;
  }
  Place source(int j) const { return j == 0 ? w_.input : held(j - 1, w_.place.field_after(j - 1)); }
  Place result(int j) const { return j == reshapes_ ? w_.output : held(j, w_.place.field_before(j)); }

  /// Whose results this rank reads, and who reads its own.
  void open(int j) {
    ReshapeProgram& r = w_.open(j, 1);
    TileMessages& messages = r.stored.tiles.front();
    const Field &before = w_.place.field_before(j), &after = w_.place.field_after(j);
    const int bytes = w_.place.element_bytes(before);
    for (const Overlap& o : after.tiling->overlaps(before.box(w_.rank)))
      messages.sends.push_back({o.rank, 0, o.box.count() * bytes});
    for (const Overlap& o : before.tiling->overlaps(after.box(w_.rank)))
      messages.receives.push_back({o.rank, 0, o.box.count() * bytes});
  }

  const TileMessages& messages(int j) const { return at(w_.program.reshapes, j).stored.tiles.front(); }
  void flag(int j, OpKind kind, int peer = -1) {
    if (peer != w_.rank) sequence_.move(w_.op_of(j, kind, 0, peer));
  }

  bool takes_part(int rank) const { return takes_part_[static_cast<std::size_t>(rank)]; }

  void run(int j) {
    if ((j == 0 && begin_together_) || (j > 1 && j < reshapes_)) {
      flag(j, OpKind::signal_free);
      for (int i = 1; i < w_.schedule.ranks; ++i)
        if (const int peer = (w_.rank + i) % w_.schedule.ranks; takes_part(peer))
          flag(j, OpKind::await_free, peer);
    }
    if (j > 0)
      for (const Message& m : messages(j - 1).receives) flag(j - 1, OpKind::await_full, m.peer);
    transform(j);
    if (j < reshapes_)
      for (const Message& m : messages(j).sends) flag(j, OpKind::signal_full, m.peer);
  }

  void transform(int j) {
    const Segment& s = at(segments_, j);
    const Place from = source(j), to = result(j);
    if (s.axes.empty()) {
      sequence_.copy(j == 0 ? Op{.kind = OpKind::copy, .stage = 0} : w_.op_of(j - 1, OpKind::copy, 0), from,
                     to, from.box);
      return;
    }
    Place spare = Placement::dense_work(from);
    if (w_.rank == 0) spare.base = w_.program.shared_bytes;
    sequence_.follow(
        [&](const Ids& before) { return w_.transform_whole(s.stage, s.axes, from, to, spare, before); });
  }

  ProgramWriter w_;
  Sequence sequence_;
  int reshapes_;
  std::vector<Segment> segments_;
  Arrays arrays_;  ///< as many bytes as the other direction has: its arrays lie in the same memory
  std::vector<bool> takes_part_;  ///< per rank
  bool begin_together_;           ///< whether all ranks have to have begun an execution before one writes
};

}  // namespace

std::string not_shared(const Schedule& schedule) {
  for (int stage = 0; stage < static_cast<int>(schedule.stages.size()); ++stage)
    if (resizes(schedule, stage)) return "FFTs that change lengths, surround an operator or make halves";
  if (!are_connected(schedule)) return "ranks that exchange nothing with each other";
  return "";
}

void choose_shared(const Schedule& s, int /*reshape*/, ParameterReader& /*read*/, Leg& leg) {
  if (const std::string why = not_shared(s); !why.empty())
    throw Error("plan: option pipeline", "shared, with " + why, "another pipeline");
  leg.cut = Shared{};
  leg.reason = "one array for all ranks";
}

Program build_shared(const Schedule& schedule, const std::vector<Leg>& legs, const ProgramRequest& request) {
  return SharedBuilder(schedule, legs, request).build();
}

}  // namespace weft
