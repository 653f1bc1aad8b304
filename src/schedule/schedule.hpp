// A schedule: the local FFTs and reshapes that make a distributed transform, as plain data. Every rank
// computes the same schedule from the boxes of all ranks, without a communicator. The backward transform is
// its mirror, or has the same stages in their order.
#pragma once

#include <string>
#include <vector>

#include "geometry/mode_columns.hpp"
#include "geometry/tiling.hpp"
#include "geometry/transform.hpp"
#include "weft/plan_types.hpp"
#include "weft/problem.hpp"

namespace weft {

/// The array between two stages: its global shape, the boxes of the ranks, and their memory orders.
struct Field {
  Shape shape;
  Element element = Element::complex;
  TilingPtr tiling;
  std::vector<Order> orders;  ///< one for all ranks, or one per rank
  /// Of the modes of columns: axis 1 counts columns, and axis 0 the modes of one of mean length, but in the
  /// array each column is as long as it is.
  bool columns = false;

  Box box(int rank) const { return tiling->box(rank); }
  const Order& order(int rank) const {
    return orders.size() == 1 ? orders.front() : orders[static_cast<std::size_t>(rank)];
  }
  friend bool operator==(const Field& a, const Field& b) {
    return a.shape == b.shape && a.element == b.element && *a.tiling == *b.tiling && a.orders == b.orders &&
           a.columns == b.columns;
  }
};

struct Stage {
  enum class Kind { fft, reshape } kind = Kind::fft;
  AxisVector<int> axes;  ///< of an FFT: axes of one local transform, ascending; empty: a copy
  int real_axis = -1;    ///< of an FFT: the axis that is r2c (forward) or c2r (backward), or -1
  Direction direction = Direction::forward;
  /// Of an FFT that is followed by an operator and its own inverse (`Problem::between`): the global shape
  /// where the operator is; else empty. `direction` is that of the first of both FFTs, and what the fields
  /// before and after it hold are both points or both modes; `real_axis` is -1, as no element changes, and
  /// `axes` has the batch as well, whose arrays the operator gets together.
  Shape between{};
  /// If not `none`, `axes` has the axis of the halves as well.
  Halves halves = Halves::none;
  friend bool operator==(const Stage&, const Stage&) = default;
};

/// Modes that are given column by column, or none. Equal if what they point to is.
struct ColumnsOfModes {
  ModeColumnsPtr given;
  explicit operator bool() const { return given != nullptr; }
  const ModeColumns* operator->() const { return given.get(); }
  friend bool operator==(const ColumnsOfModes& a, const ColumnsOfModes& b) {
    return a.given == b.given || (a.given && b.given && *a.given == *b.given);
  }
};

struct Schedule {
  Direction direction = Direction::forward;
  /// The reshapes are those of the opposite direction, the last one first (`inverse`). What options and rules
  /// say of a reshape there goes for the one that mirrors it.
  bool mirrored = false;
  int ranks = 1;
  AxisVector<Transform> transforms;             ///< per axis, of the forward direction
  Shape lengths;                                ///< of the transform along each axis, in points
  AxisVector<int> line;                         ///< the axes of `Problem::line`, or none
  ModesNyquist nyquist = ModesNyquist::shared;  ///< where not all modes are kept
  int batch_axis = -1;                          ///< the axis that stands for the batch (ADR 0009), or -1
  int halves_axis = -1;                         ///< the axis of the halves of a real line, or -1
  /// If modes are given by columns: a stage transforms along axis 0, and one the planes across it, behind
  /// which axis 1 counts columns and the others have one point.
  ColumnsOfModes columns;
  std::vector<Stage> stages;
  std::vector<Field> fields;  ///< fields[i] before stages[i], fields[i + 1] after it
  std::string reason;         ///< why this decomposition was chosen

  const Field& input() const { return fields.front(); }
  const Field& output() const { return fields.back(); }
  friend bool operator==(const Schedule&, const Schedule&) = default;
};

/// The schedule of the opposite direction: stages in reverse order, transforms inverted.
Schedule inverse(const Schedule& schedule);
/// The number of the reshape of the opposite direction that is like this one, as tiles, exchanges and codecs
/// go: the one it mirrors, or that of the same number. Its own inverse.
int reshape_like(const Schedule& schedule, int reshape);

/// Whether the opposite direction can have the stages in the same order, too, and gains by it: a schedule
/// that begins with an FFT and ends with a reshape, to what ranks had in the beginning. The inverse begins
/// with a reshape of what no FFT has packed.
bool serves_both_ways(const Schedule& schedule);
/// The schedule of the opposite direction with the stages in the same order, of a transform that is c2c along
/// all axes.
Schedule in_same_order(const Schedule& schedule);

/// Moves axes behind the only reshape of a c2c schedule before it, if ranks have them whole there, as long as
/// one axis remains behind it.
void transform_early(Schedule& schedule);

/// Moves the axes of a c2c schedule with two reshapes, so that right before each of them the axes are
/// transformed that it cuts, and all others in the end. False, and nothing is changed, if ranks do not have
/// the axes whole there.
bool transform_what_is_cut(Schedule& schedule);

/// Divides the last stage in two, of which the first transforms some of its axes, and the second the others.
void divide_last(Schedule& schedule, const AxisVector<int>& first_axes);

/// Of a line: which of its axes is transformed first in the direction of the schedule, so that the factors
/// between both (twiddles) follow its FFT. -1: there is no line.
int twiddled_axis(const Schedule& schedule);

/// What one rank sends to other ranks in the reshape between two fields.
struct Traffic {
  Index messages = 0;
  Index sent_points = 0;
};
Traffic traffic(const Tiling& from, const Tiling& to, int rank);

/// The exchange groups of a reshape: the connected sets of ranks that exchange data. For every rank the
/// number of its group, which is the group's lowest rank.
std::vector<int> exchange_groups(const Tiling& from, const Tiling& to);
/// Those of a reshape of the schedule, by its number among the reshapes.
std::vector<int> exchange_groups(const Schedule& schedule, int reshape);

/// Positions of the reshapes among the stages.
std::vector<int> reshape_stages(const Schedule& schedule);

/// The stage with an operator between two FFTs, or -1.
int stage_of_operator(const Schedule& schedule);

/// Whether a stage leaves out modes or points, or adds zeros for those that are not there, has an operator
/// between two FFTs, or splits or joins halves: each call of it works on blocks in memory of its own.
bool resizes(const Schedule& schedule, int stage);
/// Whether calls of a stage, if it keeps its elements, can store their results where they have read: no block
/// stores anything before it has read all of its points, and none stores other points than it reads.
bool works_in_place(const Schedule& schedule, int stage);

/// Whether some of what a stage computes is not stored: modes (forward) or points (backward) that are left
/// out.
bool leaves_out(const Schedule& schedule, int stage);
/// Whether a kept mode of the axis is the sum of two modes forward, and each of them a half of it backward
/// (`ModesNyquist`), in the transform of this stage.
bool adds_modes_up(const Schedule& schedule, int stage, int axis);

/// The axes that stage number `stage` transforms: none for a reshape, or where there is no such stage.
AxisVector<int> axes_of(const Schedule& schedule, int stage);

/// The name of an axis in printed plans: "axis 2", or "the batch".
std::string name_of_axis(const Schedule& schedule, int axis);

/// One line per stage.
std::string to_string(const Schedule& schedule);

}  // namespace weft
