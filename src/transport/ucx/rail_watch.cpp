#include "transport/ucx/rail_watch.hpp"

#include <algorithm>
#include <utility>

#include "comm/mpi_world.hpp"

namespace weft {

RailWatch::RailWatch(CommImpl& comm, const RailTable& table, int steps, int rails, std::vector<Index> loads,
                     double hysteresis)
    : rails_(rails),
      maximum_(comm.late_maximum()),
      balance_(table, steps, rails, comm.mpi()->most_of(std::move(loads)), hysteresis),
      times_(static_cast<std::size_t>(rails)),
      longest_(static_cast<std::size_t>(rails)),
      left_(static_cast<std::size_t>(rails)) {}

bool RailWatch::decided() {
  if (!given_) return true;
  if (!maximum_->complete()) return false;
  given_ = false;
  over_ = over_ || maximum_->is_last();
  if (over_) return true;
  const LateMaximum::Numbers& numbers = maximum_->maximum();
  for (int j = 0; j < rails_; ++j) at(times_, j) = RailTime::of_number(at(numbers, j));
  changed_ = balance_.ended(times_) || changed_;
  return true;
}

bool RailWatch::changed() {
  return std::exchange(changed_, false);
}

bool RailWatch::has_left_all() const {
  bool all = true;
  for (int j = 0; j < rails_; ++j) all = all && balance_.has_left(j);
  return all;
}

std::vector<int> RailWatch::newly_left() {
  std::vector<int> rails;
  for (int j = 0; j < rails_; ++j)
    if (balance_.has_left(j) && !at(left_, j)) {
      at(left_, j) = 1;
      rails.push_back(j);
    }
  return rails;
}

void RailWatch::begin() {
  measuring_ = !over_ && balance_.measures();
  std::fill(longest_.begin(), longest_.end(), Longest{});
  begin_ = seconds_now();
}

void RailWatch::end() {
  if (over_) return;
  if (!measuring_) return balance_.ended();
  measuring_ = false;
  LateMaximum::Numbers mine{};
  for (int j = 0; j < rails_; ++j) {
    Longest& l = at(longest_, j);
    l.time.seconds = std::max(0.0, l.end - begin_);
    at(mine, j) = l.time.to_number();
  }
  maximum_->give(mine);
  given_ = true;
}

void RailWatch::give_up() noexcept {
  if (over_) return;
  over_ = true;
  maximum_->leave();
}

}  // namespace weft
