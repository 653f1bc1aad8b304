// Where the elements of a block are while its steps are written (`write_rows`), and what follows from that:
// orders in memory, runs of kept modes, the problems of its transforms.
#pragma once

#include <vector>

#include "base/arithmetic.hpp"
#include "fft/blocks/block_steps.hpp"

namespace weft {

/// An axis of a block: one that is transformed, or a loop.
struct RowAxis {
  const ResizedAxis* transformed = nullptr;
  const ResizedLoop* loop = nullptr;
  int number() const { return transformed != nullptr ? transformed->axis : loop->axis; }
  bool is_r2c() const { return transformed != nullptr && transformed->transform == Transform::r2c; }
};

/// Where the elements of the block are now. By axis of the block, strides in elements.
struct RowsNow {
  BlockPlace place;
  std::vector<Index> strides, extents;
  bool reals = false;      ///< real numbers that become complex, or came of them
  std::vector<int> cuts;   ///< axes of which `extents` count kept modes, or points, with others between them
  std::vector<int> whole;  ///< axes that have room for all modes or points, as their transform left them
};

/// A box of what there is: along axes that are cut one run of kept modes, or the points.
struct RowPart {
  std::vector<Index> first, among_kept, extents;  ///< where it begins among all, and among what is kept
};

/// Axes that are transformed together.
struct RowGroup {
  std::vector<int> axes;
  bool rows;  ///< one axis, in rows of work memory
};

class RowState {
 public:
  RowState(const ResizedProblem& problem, const std::vector<ResizedLoop>& loops, bool aligned);

 protected:
  using Place = BlockPlace;
  using Side = BlockPlace::Side;

  int count() const { return static_cast<int>(axes_.size()); }
  const RowAxis& axis(int i) const { return at(axes_, i); }
  Index unit(bool reals) const { return reals ? element_ / 2 : element_; }
  bool is_last_half() const { return !p_.has_operator || is_second_; }
  bool is_dct(int i) const;
  bool is_cut(int i) const;
  /// Strides of the user's array of points, or of modes.
  std::vector<Index> users(bool points) const;
  /// Of a loop, in the half of the steps that is being written.
  Index loop_extent(const RowAxis& axis) const;
  /// The input of the block.
  void begin(bool points);
  /// A half of work memory that nothing is in now.
  Place free_half();
  /// Dense strides in the order of memory now, axis `first` before all others with rows of `row` elements.
  std::vector<Index> dense(const std::vector<Index>& extents, int first = -1, Index row = 0) const;
  /// Dense strides in the order of others.
  std::vector<Index> dense_like(const std::vector<Index>& strides, const std::vector<Index>& extents) const;
  /// Elements of a row of an axis: of real numbers those of its complex modes.
  Index row_of(int i, bool reals) const;
  /// Whether whole lines along an axis are there, of which only some may be cut.
  bool is_in_rows(int i) const;
  /// What there is: of axes with cut modes their runs; points begin at 0.
  std::vector<RowPart> parts() const { return parts_of(cut_modes_ ? now_.cuts : std::vector<int>{}); }
  /// The runs of kept modes along some axes.
  std::vector<RowPart> parts_of(const std::vector<int>& axes) const;
  /// A transform along some axes from where elements are to where they go.
  FftProblem problem_of(const std::vector<int>& axes, const RowsNow& to, bool forward) const;
  /// Loops over the lines along an axis, strides in bytes.
  std::vector<FftDimension> others(int i, Index bytes) const;

  const ResizedProblem& p_;
  bool aligned_, complex_modes_ = true;
  bool is_second_ = false;  ///< behind the operator
  bool cut_modes_ = true;   ///< what is cut are modes, not points
  Index element_ = 16;
  Index half_ = 0;    ///< bytes of work memory: elements are copied from one half to the other
  Index halves_ = 1;  ///< how many of them
  std::vector<RowAxis> axes_;
  std::vector<int> order_;  ///< in which forward transforms
  std::vector<RowGroup> groups_;
  RowsNow now_;

 private:
  std::vector<RowGroup> groups() const;
  double kept_share(int i) const;
  std::vector<int> by_stride(const std::vector<Index>& strides) const;
  std::vector<Index> dense_in(const std::vector<int>& order, const std::vector<Index>& extents, int first,
                              Index row) const;
  bool is_batch(int i) const;
};

}  // namespace weft
