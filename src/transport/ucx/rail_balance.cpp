#include "transport/ucx/rail_balance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace weft {

namespace {

constexpr double steps_in_number = 65536, units_per_second = 8e6;
constexpr double most_units = 1LL << 36;  // more than two hours
constexpr int steps_of_stage = 4;         ///< about as many as are under way at a time

/// All numbers below `count`, so that the first of them are far from each other: by their bits in reverse.
/// What moves is then spread over the tiles of an execution.
std::vector<int> spread_out(int count) {
  std::vector<int> order;
  unsigned bits = 0;
  while ((1U << bits) < static_cast<unsigned>(count)) ++bits;
  for (unsigned i = 0; i < 1U << bits; ++i) {
    unsigned reversed = 0;
    for (unsigned b = 0; b < bits; ++b) reversed |= (i >> b & 1U) << (bits - 1 - b);
    if (static_cast<int>(reversed) < count) order.push_back(static_cast<int>(reversed));
  }
  return order;
}

}  // namespace

double RailTime::to_number() const {
  if (failed) return std::numeric_limits<double>::infinity();
  if (slowest_step == 0) return 0;
  const double units = std::clamp(std::floor(seconds * units_per_second), 1.0, most_units);
  return units * steps_in_number + std::min<double>(slowest_step, steps_in_number - 1);
}

RailTime RailTime::of_number(double number) {
  if (std::isinf(number)) return {.failed = true};
  const double units = std::floor(number / steps_in_number);
  return {units / units_per_second, static_cast<int>(number - units * steps_in_number)};
}

double RailBalance::Rail::per_load() const {
  return std::min(seconds[0], seconds[1]);
}

RailBalance::RailBalance(RailTable table, int steps, int rails, std::vector<Index> loads, double hysteresis)
    : table_(std::move(table)),
      steps_(steps),
      loads_(std::move(loads)),
      order_(spread_out(table_.transfers())),
      hysteresis_(hysteresis),
      rails_(static_cast<std::size_t>(rails)),
      moved_(static_cast<std::size_t>(divided_up(std::max(steps, 0), steps_of_stage))) {
  for (int step = 1; step <= steps_; ++step)
    for (int i = 0; i < table_.transfers(); ++i) at(rails_, table_.rail(step, i)).load += load({step, i});
}

void RailBalance::ended() {
  --next_measured_;
}

bool RailBalance::ended(const std::vector<RailTime>& times) {
  double longest = 0;
  for (const RailTime& t : times) longest = std::max(longest, t.seconds);
  bool changed = leave_failed(times);
  if (!changed) {
    note(times);
    changed = balance() || probe();
  }
  plan_next(longest, changed);
  return changed;
}

void RailBalance::note(const std::vector<RailTime>& times) {
  for (std::size_t j = 0; j < rails_.size(); ++j) {
    Rail& rail = rails_[j];
    if (rail.left) continue;
    if (rail.load == 0) {
      ++rail.idle;
      continue;
    }
    rail.idle = 0;
    const double now = times[j].seconds / static_cast<double>(rail.load);
    rail.seconds = {rail.seconds[1], now};
    rail.slowest_step = times[j].slowest_step;
  }
}

/// What a rail costs that has not been measured twice is taken to be what the best of the others does;
/// without any, all are alike.
double RailBalance::cost(int rail) const {
  if (const double own = at(rails_, rail).per_load(); own > 0) return own;
  double least = 0;
  for (const Rail& r : rails_)
    if (!r.left && r.per_load() > 0 && (least <= 0 || r.per_load() < least)) least = r.per_load();
  return least > 0 ? least : 1;
}

/// The rail that is predicted to end last; -1 if no rail is left.
int RailBalance::slowest() const {
  int found = -1;
  for (int j = 0; j < static_cast<int>(rails_.size()); ++j)
    if (!has_left(j) && (found < 0 || predicted(j) > predicted(found))) found = j;
  return found;
}

/// The rail that would end first if it had so much more to carry; -1 if there is none.
int RailBalance::soonest(int other_than, Index more) const {
  int found = -1;
  for (int j = 0; j < static_cast<int>(rails_.size()); ++j)
    if (j != other_than && !has_left(j) && (found < 0 || end_with(j, more) < end_with(found, more)))
      found = j;
  return found;
}

void RailBalance::move(const Cell& cell, int to) {
  at(rails_, table_.rail(cell.step, cell.number)).load -= load(cell);
  table_.set(cell.step, cell.number, to);
  at(rails_, to).load += load(cell);
}

/// A transfer of a step that a rail has.
RailBalance::Cell RailBalance::first_of(int rail, int step) const {
  for (const int i : order_)
    if (table_.rail(step, i) == rail && load({step, i}) > 0) return {step, i};
  return {};
}

/// What a rail is to give up next: a transfer of its slowest step; if that has none, or another step of its
/// stage has moved, of the step that has most on this rail among those that may move.
RailBalance::Cell RailBalance::next_of(int rail) const {
  const auto may_move = [&](int step) {
    const int of_stage = at(moved_, (step - 1) / steps_of_stage);
    return of_stage == 0 || of_stage == step;
  };
  const int slowest_step = at(rails_, rail).slowest_step;
  Cell found;
  Index most = 0;
  for (int step = 1; step <= steps_; ++step) {
    const Cell cell = may_move(step) ? first_of(rail, step) : Cell{};
    if (cell.step == 0) continue;
    if (step == slowest_step) return cell;
    Index sum = 0;
    for (int i = 0; i < table_.transfers(); ++i)
      if (table_.rail(step, i) == rail) sum += load({step, i});
    if (sum > most) {
      most = sum;
      found = cell;
    }
  }
  return found;
}

/// Moves transfers from the rail that ends last to the one that would end first, until they are predicted to
/// end together.
bool RailBalance::balance() {
  const int from = slowest();
  if (from < 0) return false;
  std::fill(moved_.begin(), moved_.end(), 0);
  int to = -1;
  for (double gain = hysteresis_;; gain = 1) {
    const Cell cell = next_of(from);
    if (cell.step == 0) break;
    if (to < 0) to = soonest(from, load(cell));
    if (to < 0 || predicted(from) <= gain * end_with(to, load(cell))) break;
    move(cell, to);
    at(moved_, (cell.step - 1) / steps_of_stage) = cell.step;
  }
  return std::any_of(moved_.begin(), moved_.end(), [](int step) { return step > 0; });
}

/// A rail that has nothing to carry, as it was too slow, is tried with one transfer now and then.
bool RailBalance::probe() {
  for (int j = 0; j < static_cast<int>(rails_.size()); ++j) {
    Rail& rail = at(rails_, j);
    if (rail.left || rail.load > 0 || rail.idle < rail.probe_after) continue;
    std::fill(moved_.begin(), moved_.end(), 0);
    const Cell cell = next_of(slowest());
    if (cell.step == 0) return false;
    rail.probe_after = std::min(2 * rail.probe_after, last_probe);
    rail.idle = 0;
    rail.seconds = {};
    move(cell, j);
    return true;
  }
  return false;
}

/// What they carried goes to the others, each transfer to the one that would end first.
bool RailBalance::leave_failed(const std::vector<RailTime>& times) {
  bool changed = false;
  for (int j = 0; j < static_cast<int>(rails_.size()); ++j) {
    if (!at(times, j).failed || has_left(j)) continue;
    changed = at(rails_, j).left = true;
  }
  for (int step = 1; step <= steps_; ++step)
    for (int i = 0; i < table_.transfers(); ++i) {
      const Cell cell{step, i};
      if (!has_left(table_.rail(step, i))) continue;
      if (const int to = soonest(-1, load(cell)); to >= 0) move(cell, to);
    }
  return changed;
}

/// After a while without changes one execution in two is measured, then one in four, until something changes
/// or takes longer than usual.
void RailBalance::plan_next(double longest, bool changed) {
  constexpr int calm = 8, longest_period = 4;
  const bool rises = usual_ > 0 && longest > hysteresis_ * usual_;
  usual_ = usual_ > 0 ? 0.75 * usual_ + 0.25 * longest : longest;
  if (changed || rises) {
    period_ = 1;
    quiet_ = 0;
  } else if (++quiet_ >= calm) {
    period_ = std::min(2 * period_, longest_period);
    quiet_ = 0;
  }
  if (changed) usual_ = 0;
  next_measured_ = period_ - 1;
}

}  // namespace weft
