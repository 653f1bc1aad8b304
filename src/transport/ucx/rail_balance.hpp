// Which rail carries which transfers, from the times that executions have taken on each rail (paper
// multi-rail-multi-gpu-fft, section III.B). A function of values: ranks that tell it the same, in the same
// order, have the same table.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "transport/ucx/rail_table.hpp"

namespace weft {

/// What a rail has done in an execution.
struct RailTime {
  double seconds = 0;    ///< from the beginning of the exchange to its last transfer; 0: it had none
  int slowest_step = 0;  ///< the ring step of the transfer that took longest, from 1; 0: none
  bool failed = false;

  /// As one number, so that the maximum of the ranks' numbers is the time of the rank that took longest, with
  /// the step that is slowest there. Seconds are rounded to an eighth of a microsecond.
  double to_number() const;
  static RailTime of_number(double number);
};

class RailBalance {
 public:
  /// `loads`: bytes, by step and number, as the table has them; what counts is how they compare.
  /// `hysteresis`: so many times sooner a transfer has to be done on another rail, to be moved there.
  RailBalance(RailTable table, int steps, int rails, std::vector<Index> loads, double hysteresis);

  const RailTable& table() const { return table_; }
  /// Whether the execution that begins now, or is under way, is measured: at first all, later one in four.
  bool measures() const { return next_measured_ == 0; }
  bool has_left(int rail) const { return at(rails_, rail).left; }

  /// The execution has ended, and was not measured.
  void ended();
  /// It was measured; the longest of all ranks, by rail. Whether the table is another one now.
  bool ended(const std::vector<RailTime>& times);

 private:
  struct Rail {
    Index load = 0;                      ///< of the transfers that it has
    std::array<double, 2> seconds = {};  ///< per load, in the last two executions that it had any in
    int slowest_step = 0;
    bool left = false;                        ///< it has failed
    int idle = 0, probe_after = first_probe;  ///< measured executions without load; after how many it has one

    /// Of the two, the less: a disturbance in one execution is no reason to change anything. 0: not known
    /// yet.
    double per_load() const;
  };
  struct Cell {
    int step = 0, number = 0;
  };
  static constexpr int first_probe = 16, last_probe = 256;

  Index load(const Cell& cell) const {
    return at(loads_, (cell.step - 1) * table_.transfers() + cell.number);
  }
  double cost(int rail) const;
  /// When it would be done with so much more to carry.
  double end_with(int rail, Index more) const {
    return cost(rail) * static_cast<double>(at(rails_, rail).load + more);
  }
  double predicted(int rail) const { return end_with(rail, 0); }
  int slowest() const;
  int soonest(int other_than, Index more) const;
  Cell next_of(int rail) const;
  Cell first_of(int rail, int step) const;
  void move(const Cell& cell, int to);
  void note(const std::vector<RailTime>& times);
  bool leave_failed(const std::vector<RailTime>& times);
  bool balance();
  bool probe();
  void plan_next(double longest, bool changed);

  RailTable table_;
  int steps_;
  std::vector<Index> loads_;
  std::vector<int> order_;  ///< numbers, in the order in which a rail gives transfers of a step up
  double hysteresis_;
  std::vector<Rail> rails_;
  std::vector<int> moved_;  ///< per stage, the step that has moved in this decision; 0: none
  int period_ = 1, next_measured_ = 0, quiet_ = 0;
  double usual_ = 0;  ///< seconds of an execution, smoothed; 0: not known yet
};

}  // namespace weft
