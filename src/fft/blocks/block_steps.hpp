// What is done with one block of a local transform that is longer along some axes than its arrays
// (Problem::points, Problem::modes), or that is followed by an operator and its own inverse
// (Problem::between): the steps, in work memory of the block. Pure data: threads/resized_fft.hpp runs them on
// the host, calls/resized_calls.hpp on a stream.
#pragma once

#include <variant>
#include <vector>

#include "fft/local_fft.hpp"
#include "geometry/mode_columns.hpp"
#include "geometry/transform.hpp"
#include "weft/block.hpp"

namespace weft {

/// Strides are in elements of their side; modes are counted as `Problem::modes` says.
struct ResizedAxis {
  int axis = 0;                          ///< of the global array
  Transform transform = Transform::c2c;  ///< of the forward direction
  Index length = 1;                      ///< of the transform
  Index points = 1, modes = 1;           ///< of the arrays: the first of all points; the kept modes
  Index from_stride = 1, to_stride = 1;
  friend auto operator<=>(const ResizedAxis&, const ResizedAxis&) = default;
};

struct ResizedLoop {
  int axis = 0;
  Index from = 1, to = 1;  ///< how many on either side: they differ in the arrays of a batch alone
  Index from_stride = 1, to_stride = 1;
  Index most() const { return from > to ? from : to; }
  friend auto operator<=>(const ResizedLoop&, const ResizedLoop&) = default;
};

/// Of a call that splits or joins the halves of a real line, of which the array has two in so many elements'
/// distance.
struct HalvesOfLine {
  Halves stage = Halves::none;
  Index stride = 0;
  int first_axis = -1, second_axis = -1;  ///< of the line
  friend auto operator<=>(const HalvesOfLine&, const HalvesOfLine&) = default;
};

struct ResizedProblem {
  Precision precision = Precision::float64;
  Direction direction = Direction::forward;  ///< with an operator, of the transform before it
  Element points = Element::complex;         ///< modes are complex if these are, or an axis is r2c
  ModesNyquist nyquist = ModesNyquist::shared;
  bool aligned = true;  ///< both sides start on multiples of 16 bytes at every execution
  Effort effort = Effort::estimate;
  double planning_seconds = 0;
  double scale = 1;
  std::vector<ResizedAxis> axes;
  std::vector<ResizedLoop> loops;
  /// Whether the transform is followed by an operator and its own inverse. Strides of both sides are then
  /// those of points, or, backward, of modes.
  bool has_operator = false;
  double scale_between = 1;  ///< what the operator is given is multiplied by
  int ndim = 0;              ///< of the global array
  int batch_axis = -1;       ///< the loop over the arrays of a batch, which the operator gets together, or -1
  ColumnsPart columns_part = ColumnsPart::none;  ///< of lines, the array of columns is given as a whole
  ModeColumnsPtr columns = {};
  HalvesOfLine halves = {};
  bool store_past = false;  ///< what is copied to the array goes past the cache
  friend auto operator<=>(const ResizedProblem&, const ResizedProblem&) = default;
};

/// Where a step finds its data.
struct BlockPlace {
  enum class Side { input, output, work } side = Side::work;
  Index offset = 0;  ///< in bytes
};
struct LinesStep {
  FftProblem fft;
  BlockPlace from, to;
};
struct CopyStep {
  Shape extents;
  Strides from_strides, to_strides;  ///< in elements
  int element_bytes = 0;
  double scale = 1;
  bool store_past = false;
  BlockPlace from, to;
};
/// Sets elements of the work memory to zero.
struct ZeroStep {
  std::vector<FftDimension> loops;  ///< strides in bytes, the innermost one a run of bytes
  Index offset = 0;
};
/// What the mode m/2 of an even number m of kept modes stands for: of c2c the mode m/2 and the mode -m/2 of
/// all, which lies `other` bytes behind it; of r2c, where they are conjugates, both in one. Forward adds them
/// up, backward gives each one half.
struct NyquistStep {
  std::vector<FftDimension> loops;  ///< strides in bytes, over complex numbers
  Index offset = 0, other = 0;      ///< 0: r2c
  bool forward = true;
};
/// Copies complex numbers to another place, in reverse order along loops whose `from_stride` is negative.
struct MirrorStep {
  std::vector<FftDimension> loops;  ///< strides in bytes, the outermost first
  BlockPlace from, to;              ///< of the first number
  bool conjugates = false;
  double scale = 1;
  int only_at_zero = -1;  ///< left out unless the block begins at index 0 of this axis; -1: never left out
};
/// Between the modes of columns in the user's array and in work memory. Modes of lines that are in no column
/// become zero there.
struct ColumnsStep {
  bool in = true;                   ///< from the array to work memory
  double scale = 1;                 ///< of what goes to the array
  Index offset = 0;                 ///< of work memory, in bytes
  std::vector<FftDimension> loops;  ///< strides in bytes, of the array and of work memory
  /// Of planes: from one column to the next in the array, and where each is in work memory; in bytes.
  Index column_stride = 0;
  std::vector<Index> places = {};
  /// Of lines: how many of the columns, the points of a line, and strides in work memory in bytes. The first
  /// column is the one with the global index where the block begins.
  ModeColumnsPtr columns = {};
  Index count = 0, length = 0, work_column = 0, work_mode = 0;
};
/// An axis of a block with columns: one that is transformed, or a loop. Strides in bytes.
struct ColumnsAxis {
  int number;                      ///< of the global array
  const ResizedAxis* transformed;  ///< null: a loop
  Index n;                         ///< elements in work memory
  Index user_stride, work_stride;
};
/// The step of all columns, without scale and offset.
ColumnsStep columns_step(const ResizedProblem& problem, bool in, const std::vector<ColumnsAxis>& axes);
/// Calls the operator for a box in work memory.
struct OperatorStep {
  Index offset = 0;  ///< in bytes
  Box box;           ///< its global indices, but for where the block and its call begin
  Strides strides;   ///< in elements
  Index fields = 1, results = 1, field_stride = 0;
  Element element = Element::complex;
  double before = 1, after = 1;  ///< what elements are multiplied by
};
using BlockStep =
    std::variant<LinesStep, CopyStep, ZeroStep, NyquistStep, MirrorStep, ColumnsStep, OperatorStep>;

/// The steps of a block, and the bytes of work memory that they need.
struct BlockSteps {
  std::vector<BlockStep> steps;
  Index work_bytes = 0;
};

/// How elements lie in work memory.
struct WorkManner {
  bool spread = false;    ///< rows are some way apart where strides would meet in few sets of a cache
  bool is_apart = false;  ///< transforms go from one half of work memory to the other, else they are in place
  bool turns = false;     ///< two complex transforms read rows, and write lines that lie side by side
};

/// `loops`: those of the block. Both sides of the block start on multiples of 16 bytes if `aligned`.
BlockSteps write_block(const ResizedProblem& problem, const std::vector<ResizedLoop>& loops, bool aligned,
                       const WorkManner& manner);

/// The same for processors whose FFT libraries are fast where the lines of a call lie together: axes that are
/// cut are transformed as rows, copied from order to order in between without what is zero or left out. Needs
/// twice the work memory.
BlockSteps write_rows(const ResizedProblem& problem, const std::vector<ResizedLoop>& loops, bool aligned);

/// How many modes a transform has, kept or not.
Index all_modes(const ResizedAxis& axis);
bool has_r2c(const ResizedProblem& problem);
/// Whether the last kept mode stands for two of all.
bool folds(const ResizedAxis& axis, ModesNyquist nyquist);

/// Kept modes that lie together, by their index among all modes and among the kept ones.
struct Kept {
  Index first, n, among_kept;
};
std::vector<Kept> kept_modes(const ResizedAxis& axis);

inline constexpr Index cache_line_bytes = 64;

}  // namespace weft
