// Chooses the schedule: a shortest path over states (distribution, axes already transformed). The
// distributions are the user's own and the regular grids of the allowed decompositions. Costs are compared in
// this order: ranks without points (in sixteenths of all), reshapes, messages per rank, points sent per rank.
// So slabs win over pencils while there are enough planes, and grids are lined up with the user's. Bricks, if
// asked for, are put between the pencils afterwards.
#pragma once

#include <string>
#include <vector>

#include "schedule/fft_stages.hpp"
#include "schedule/schedule.hpp"

namespace weft {

enum class Decomposition { automatic, slab, pencil, brick };

struct ScheduleRequest {
  Shape shape;  ///< the lengths of the transforms
  AxisVector<Transform> transforms;
  AxisVector<int> line{};   ///< as `Problem::line`
  Shape points{}, modes{};  ///< before and after forward; empty: all
  ModesNyquist nyquist = ModesNyquist::shared;
  /// As `Problem::between`; then input and output are both points or both modes, with as many arrays as the
  /// batch has before the operator, and `results` behind it.
  Between between = Between::none;
  Index results = 1;
  /// If modes are given by columns, which are then the output, or with points `between` both sides; the
  /// tiling of that side is null.
  ColumnsOfModes columns = {};
  Element element = Element::complex;  ///< of the input; real anyway if an axis is r2c
  int ranks = 1;
  /// The number of ranks, from the first, that transform and hold points between input and output; 0: all
  /// (grid shrinking, multi-gpu-fft-performance, Algorithm 1).
  int computing_ranks = 0;
  TilingPtr input, output;  ///< null: fastest
  int batch_axis = -1;  ///< the axis that stands for the batch; input and output must not cut it; -1: none
  bool whole_batch = false;  ///< nor may anything between them
  int halves_axis = -1;  ///< the axis of the halves of a real line (`splits_line`), of one point; -1: none
  std::vector<Order> input_orders,
      output_orders;  ///< one for all, one per rank, or empty (only with fastest)
  Decomposition decomposition = Decomposition::automatic;
  /// The parts of the two axes that pencils cut, in either order. Empty: near-square, as the user's own
  /// pencils, or so that all ranks have points.
  AxisVector<int> pencil_grid;
  /// By rule axes meet whole rows (bricks of 256^3 on two ranks 90 ms to 65, of 512^3 on two H100 7.8
  /// to 5.3).
  FftStage fft_stage = FftStage::automatic;
  /// Whether a reshape makes the axes of the local FFT after it the fastest ones in memory.
  bool contiguous = true;
  /// Of an operator between two transforms that one rank has whole: how many elements stay in the cache. More
  /// are passed over three times.
  Index cached_elements = 1 << 17;
  /// If not `contiguous`: whether a reshape makes the axes that are cut among ranks the slowest ones, so that
  /// lines across planes touch few pages and cache sets. GPUs are faster without, with long runs of equal
  /// lines.
  bool shared_axes_first = true;
};

/// The forward schedule. Throws `weft::Error` if there is none: for a one-dimensional array over several
/// ranks, or pencils of an array with fewer than three axes.
Schedule make_schedule(const ScheduleRequest& request);

/// The memory order of a field that a reshape leaves, before the FFT of `axes`, from that of the input.
Order order_after_reshape(const ScheduleRequest& request, const Order& order, const AxisVector<int>& axes,
                          const Tiling& tiling);

/// The tiling of a named distribution, which `what` names in messages; null for other kinds. Throws
/// `weft::Error` for an axis out of range, too few axes, or a grid that does not fit.
TilingPtr named_tiling(const Distribution& distribution, const Shape& shape, int ranks, const char* what);

/// The schedule with a grid of bricks, which cuts the first three axes, put into every reshape between two
/// fields that are not the user's: twice the reshapes, each among few ranks (multi-gpu-fft-performance,
/// "bricks decomposition"). Needs at least three axes, as `make_schedule` has checked.
Schedule through_bricks(const Schedule& schedule, const ScheduleRequest& request);

}  // namespace weft
