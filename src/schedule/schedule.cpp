#include "schedule/schedule.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/arithmetic.hpp"
#include "base/text.hpp"

namespace weft {

Schedule inverse(const Schedule& schedule) {
  Schedule result = in_same_order(schedule);
  result.mirrored = !schedule.mirrored;
  std::reverse(result.stages.begin(), result.stages.end());
  std::reverse(result.fields.begin(), result.fields.end());
  return result;
}

int reshape_like(const Schedule& schedule, int reshape) {
  return schedule.mirrored ? static_cast<int>(reshape_stages(schedule).size()) - 1 - reshape : reshape;
}

bool serves_both_ways(const Schedule& schedule) {
  return schedule.stages.size() > 1 && schedule.stages.front().kind == Stage::Kind::fft &&
         schedule.stages.back().kind == Stage::Kind::reshape && schedule.input() == schedule.output();
}

Schedule in_same_order(const Schedule& schedule) {
  const auto opposite = [](Direction d) {
    return d == Direction::forward ? Direction::backward : Direction::forward;
  };
  Schedule result = schedule;
  result.direction = opposite(schedule.direction);
  for (Stage& s : result.stages)
    if (s.between.empty()) s.direction = opposite(s.direction);
  return result;
}

namespace {

/// Whether every rank has an axis whole.
bool is_whole(const Field& field, int axis) {
  for (int r = 0; r < field.tiling->ranks(); ++r)
    if (field.box(r).lo[axis] != 0 || field.box(r).hi[axis] != field.shape[axis]) return false;
  return true;
}

}  // namespace

void transform_early(Schedule& schedule) {
  const std::vector<int> reshapes = reshape_stages(schedule);
  if (reshapes.size() != 1 || reshapes[0] == 0 || reshapes[0] + 1 >= static_cast<int>(schedule.stages.size()))
    return;
  Stage &before = at(schedule.stages, reshapes[0] - 1), &after = at(schedule.stages, reshapes[0] + 1);
  const Field& field = at(schedule.fields, reshapes[0]);
  AxisVector<int> early, late;
  for (const int axis : after.axes) (is_whole(field, axis) ? early : late).push_back(axis);
  if (early.empty() || late.empty()) return;
  for (const int axis : before.axes) early.push_back(axis);
  std::sort(early.begin(), early.end());
  before.axes = early;
  after.axes = late;
}

bool transform_what_is_cut(Schedule& schedule) {
  const std::vector<int> reshapes = reshape_stages(schedule);
  if (reshapes.size() != 2) return false;
  const std::array<Field, 3> held{schedule.fields.front(), at(schedule.fields, reshapes[0] + 1),
                                  schedule.fields.back()};
  std::array<AxisVector<int>, 3> axes;
  for (const Stage& s : schedule.stages)
    for (const int axis : s.axes) {
      const auto cut_by = [&](std::size_t reshape) {
        return is_whole(held[reshape], axis) && !is_whole(held[reshape + 1], axis);
      };
      const std::size_t stage = cut_by(0) ? 0 : cut_by(1) ? 1 : 2;
      if (stage == 2 && !is_whole(held[2], axis)) return false;
      axes[stage].push_back(axis);
    }
  if (axes[0].empty() || axes[1].empty()) return false;
  schedule.stages.clear();
  schedule.fields = {held[0]};
  for (std::size_t i = 0; i < held.size(); ++i) {
    if (i > 0) {
      schedule.stages.push_back({Stage::Kind::reshape, {}, -1, schedule.direction});
      schedule.fields.push_back(held[i]);
    }
    if (axes[i].empty()) continue;
    std::sort(axes[i].begin(), axes[i].end());
    schedule.stages.push_back({Stage::Kind::fft, axes[i], -1, schedule.direction});
    schedule.fields.push_back(held[i]);
  }
  return true;
}

void divide_last(Schedule& schedule, const AxisVector<int>& first_axes) {
  Stage first = schedule.stages.back(), second = first;
  const Field after = schedule.fields.back();
  second.axes = {};
  for (const int a : first.axes)
    if (!first_axes.contains(a)) second.axes.push_back(a);
  first.axes = first_axes;
  Field between = at(schedule.fields, static_cast<int>(schedule.stages.size()) - 1);
  Tiling tiling = *between.tiling;
  for (const int a : first.axes) {
    between.shape[a] = after.shape[a];
    tiling = tiling.with_extent(a, after.shape[a]);
  }
  between.tiling = std::make_shared<const Tiling>(std::move(tiling));
  if (first.axes.contains(first.real_axis)) {
    between.element = after.element;
    second.real_axis = -1;
  } else {
    first.real_axis = -1;
  }
  schedule.stages.back() = first;
  schedule.fields.back() = between;
  schedule.stages.push_back(second);
  schedule.fields.push_back(after);
}

int twiddled_axis(const Schedule& schedule) {
  if (schedule.line.empty()) return -1;
  return schedule.line[schedule.direction == Direction::forward ? 0 : 1];
}

int stage_of_operator(const Schedule& schedule) {
  for (std::size_t i = 0; i < schedule.stages.size(); ++i)
    if (!schedule.stages[i].between.empty()) return static_cast<int>(i);
  return -1;
}

bool resizes(const Schedule& schedule, int stage) {
  const Stage& s = at(schedule.stages, stage);
  if (!s.between.empty() || s.halves != Halves::none || schedule.columns) return true;
  const bool forward = s.direction == Direction::forward;
  const Shape& points = at(schedule.fields, forward ? stage : stage + 1).shape;
  const Shape& modes = at(schedule.fields, forward ? stage + 1 : stage).shape;
  return std::any_of(s.axes.begin(), s.axes.end(), [&](int a) {
    const Index n = schedule.lengths[a];
    return points[a] != n || modes[a] != (a == s.real_axis ? n / 2 + 1 : n);
  });
}

bool works_in_place(const Schedule& schedule, int stage) {
  if (!resizes(schedule, stage)) return true;
  const Shape &before = at(schedule.fields, stage).shape, &after = at(schedule.fields, stage + 1).shape;
  return !at(schedule.stages, stage).between.empty() && !schedule.columns && before == after;
}

namespace {

/// Of all modes of an axis, whether they are kept or not.
Index all_modes(const Schedule& s, int axis) {
  return output_shape({s.lengths[axis]}, {s.transforms[axis]})[0];
}

bool is_fft(const Stage& s) {
  return s.kind == Stage::Kind::fft && s.halves == Halves::none && s.between.empty();
}

}  // namespace

bool leaves_out(const Schedule& schedule, int stage) {
  const Stage& s = at(schedule.stages, stage);
  if (!is_fft(s)) return false;
  const bool forward = s.direction == Direction::forward;
  if (const ColumnsOfModes& columns = schedule.columns) {
    Index lines = 1;
    for (const int a : s.axes) lines *= all_modes(schedule, a);
    if (s.axes.contains(0)) return forward && columns->first_mode.back() < columns->count() * lines;
    return forward && columns->count() < lines;
  }
  const Shape& stored = at(schedule.fields, stage + 1).shape;
  return std::any_of(s.axes.begin(), s.axes.end(), [&](int a) {
    return stored[a] < (forward ? all_modes(schedule, a) : schedule.lengths[a]);
  });
}

bool adds_modes_up(const Schedule& schedule, int stage, int axis) {
  const Stage& s = at(schedule.stages, stage);
  if (!is_fft(s) || schedule.columns || schedule.nyquist == ModesNyquist::single) return false;
  const Index m = at(schedule.fields, s.direction == Direction::forward ? stage + 1 : stage).shape[axis];
  if (m >= all_modes(schedule, axis)) return false;
  const Transform t = schedule.transforms[axis];
  return t == Transform::r2c ? schedule.nyquist == ModesNyquist::shared && m > 1
                             : t == Transform::c2c && m % 2 == 0;
}

Traffic traffic(const Tiling& from, const Tiling& to, int rank) {
  const Box mine = from.box(rank);
  const Index kept = intersect(mine, to.box(rank)).count();
  return {to.count_overlaps(mine) - (kept > 0 ? 1 : 0), mine.count() - kept};
}

std::vector<int> exchange_groups(const Tiling& from, const Tiling& to) {
  std::vector<int> parent(static_cast<std::size_t>(from.ranks()));
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](int r) {
    while (at(parent, r) != r) {
      int& p = at(parent, r);
      p = at(parent, p);
      r = p;
    }
    return r;
  };
  for (int r = 0, groups = from.ranks(); r < from.ranks() && groups > 1; ++r)
    for (const Overlap& o : to.overlaps(from.box(r))) {
      const int a = root(r), b = root(o.rank);
      if (a == b) continue;
      at(parent, std::max(a, b)) = std::min(a, b);
      --groups;
    }
  for (int r = 0; r < from.ranks(); ++r) at(parent, r) = root(r);
  return parent;
}

std::vector<int> exchange_groups(const Schedule& schedule, int reshape) {
  const int stage = at(reshape_stages(schedule), reshape);
  return exchange_groups(*at(schedule.fields, stage).tiling, *at(schedule.fields, stage + 1).tiling);
}

namespace {
std::string describe(const Schedule& schedule, const Field& f) {
  const int batch = schedule.batch_axis, halves = schedule.halves_axis;
  Shape shape;
  for (int a = 0; a < f.shape.size(); ++a)
    if (a != batch && a != halves) shape.push_back(f.shape[a]);
  std::string text = f.tiling->name(batch, halves) + " of " + by_x(shape);
  if (halves >= 0 && f.shape[halves] == 2) text += " in two halves,";
  if (f.columns)
    text = std::to_string(schedule.columns->count()) + " columns of " +
           std::to_string(schedule.columns->first_mode.back()) + " modes";
  text += f.element == Element::real ? " real" : " complex";
  if (f.orders.size() != 1) return text + ", orders differ by rank";
  std::vector<std::string> order;
  for (int a : f.orders.front())
    if (a != halves) order.push_back(a == batch ? "batch" : std::to_string(a));
  return text + ", order {" + join(order, ",") + "}";
}

/// " (48 points, 32 modes of 72)" where a transform is longer than the arrays.
std::string lengths_of(const Schedule& schedule, int stage, int axis) {
  const Stage& s = at(schedule.stages, stage);
  if (!resizes(schedule, stage) || schedule.columns || axis == schedule.halves_axis) return "";
  if (s.halves == Halves::split && axis == schedule.line[1]) return "";
  const bool forward = s.direction == Direction::forward;
  const Shape& before = at(schedule.fields, stage).shape;
  const Shape& after = s.between.empty() ? at(schedule.fields, stage + 1).shape : s.between;
  const Index points = (forward ? before : after)[axis], modes = (forward ? after : before)[axis];
  const Index n = schedule.lengths[axis], all = schedule.transforms[axis] == Transform::r2c ? n / 2 + 1 : n;
  if (!s.between.empty() && points == n && modes == all) return "";
  return " (" + std::to_string(points) + " points, " + std::to_string(modes) + " modes of " +
         std::to_string(schedule.lengths[axis]) + ")";
}

std::string kind(const Schedule& schedule, const Stage& s, int axis) {
  const bool real = schedule.transforms[axis] == Transform::r2c;
  if (!s.between.empty() && s.direction == Direction::backward && real) return "c2r";
  if (s.direction == Direction::forward) return name_of(schedule.transforms[axis]);
  return axis == s.real_axis ? "c2r" : name_of(opposite(schedule.transforms[axis]));
}
}  // namespace

AxisVector<int> axes_of(const Schedule& schedule, int stage) {
  const bool exists = stage >= 0 && stage < static_cast<int>(schedule.stages.size());
  return exists ? at(schedule.stages, stage).axes : AxisVector<int>{};
}

std::string name_of_axis(const Schedule& schedule, int axis) {
  return axis == schedule.batch_axis ? "the batch" : "axis " + std::to_string(axis);
}

std::string to_string(const Schedule& schedule) {
  std::string text = "  0 input    " + describe(schedule, schedule.input()) + "\n";
  int number = 1;
  for (std::size_t i = 0; i < schedule.stages.size(); ++i) {
    const Stage& s = schedule.stages[i];
    const Field& to = schedule.fields[i + 1];
    text += "  " + std::to_string(number++);
    if (s.kind == Stage::Kind::fft) {
      const bool joins = s.halves == Halves::join;
      const bool forward = s.direction == Direction::forward;
      text += s.axes.empty() ? " copy    " : joins ? (forward ? " join    " : " split   ") : " fft     ";
      for (int a : s.axes)
        if (a != schedule.batch_axis && a != schedule.halves_axis && !joins)
          text += (a == s.axes[0] ? " " : ", ") + kind(schedule, s, a) + " on " + std::to_string(a) +
                  lengths_of(schedule, static_cast<int>(i), a);
      if (joins) text += "  halves";
      if (s.halves == Halves::split) text += forward ? ", split in halves" : " of joined halves";
      if (!joins && s.axes.contains(twiddled_axis(schedule))) text += ", twiddles";
      if (!s.between.empty()) text += ", operator, and back";
      text += " -> " + describe(schedule, to) + "\n";
    } else {
      Traffic most;
      const Tiling& from = *schedule.fields[i].tiling;
      for (int r = 0; r < schedule.ranks; ++r) {
        const Traffic t = traffic(from, *to.tiling, r);
        most.messages = std::max(most.messages, t.messages);
        most.sent_points = std::max(most.sent_points, t.sent_points);
      }
      text += " reshape  -> " + describe(schedule, to) + "; at most " + std::to_string(most.messages) +
              " messages, " + std::to_string(most.sent_points) + " points sent per rank\n";
    }
  }
  return text;
}

std::vector<int> reshape_stages(const Schedule& schedule) {
  std::vector<int> positions;
  for (std::size_t i = 0; i < schedule.stages.size(); ++i)
    if (schedule.stages[i].kind == Stage::Kind::reshape) positions.push_back(static_cast<int>(i));
  return positions;
}

}  // namespace weft
