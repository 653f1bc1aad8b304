#include "fft/blocks/block_steps.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <utility>

#include "base/arithmetic.hpp"
#include "fft/blocks/line_halves.hpp"
#include "geometry/transform.hpp"

namespace weft {

namespace {

using Place = BlockPlace;
using Side = BlockPlace::Side;

/// An axis of a block in work memory: one that is transformed, or a loop.
struct BlockAxis {
  Index n = 1;       ///< in work memory: all modes
  Index points = 1;  ///< of the array; the others are zero
  Index points_stride = 1, modes_stride = 1;
  std::array<Index, 2> work_strides = {1, 1};  ///< in either half of work memory
  const ResizedAxis* transformed = nullptr;
  std::vector<Kept> kept = {};  ///< none: a loop
  const ResizedLoop* loop = nullptr;
  int number() const { return transformed != nullptr ? transformed->axis : loop->axis; }
};

/// A box in work memory that has only kept modes along some axes.
struct WorkPart {
  Shape first, extents;       ///< among the kept modes, or the points
  Index work = 0, modes = 0;  ///< where it begins, in elements
};

/// The modes along an axis of planes of which there is a column, as few runs with some others between them:
/// each is a call of the FFT library.
std::vector<Kept> runs_of_columns(const ModeColumns& columns, const ResizedAxis& a) {
  constexpr std::size_t most_runs = 4;
  std::set<Index> modes;
  for (const ModeColumn& c : columns.all) modes.insert(mode_index(c.first[a.axis], a.length));
  std::vector<Kept> runs;
  for (const Index k : modes)
    if (!runs.empty() && runs.back().first + runs.back().n == k)
      ++runs.back().n;
    else
      runs.push_back({k, 1, 0});
  const auto end = [](const Kept& k) { return k.first + k.n; };
  while (runs.size() > most_runs) {
    std::size_t nearest = 1;
    for (std::size_t i = 2; i < runs.size(); ++i)
      if (runs[i].first - end(runs[i - 1]) < runs[nearest].first - end(runs[nearest - 1])) nearest = i;
    runs[nearest - 1].n = end(runs[nearest]) - runs[nearest - 1].first;
    runs.erase(runs.begin() + static_cast<std::ptrdiff_t>(nearest));
  }
  return runs;
}

/// Writes the steps of one block. Points are in the first half of work memory, and each forward transform
/// takes elements to the other half, if that is asked for; otherwise both halves are the same memory.
class BlockWriter {
 public:
  BlockWriter(const ResizedProblem& p, const std::vector<ResizedLoop>& loops, bool aligned,
              const WorkManner& manner)
      : p_(p), aligned_(aligned), manner_(manner) {
    forward_ = p.direction == Direction::forward;
    complex_modes_ = has_r2c(p) || p.points == Element::complex;
    element_ = (complex_modes_ ? 2 : 1) * real_bytes(p.precision);
    for (const ResizedAxis& a : p.axes) {
      order_.push_back(static_cast<int>(axes_.size()));
      axes_.push_back(
          {.n = all_modes(a),
           .points = a.points,
           .transformed = &a,
           .kept = p.columns_part == ColumnsPart::planes ? runs_of_columns(*p.columns, a) : kept_modes(a)});
    }
    for (const ResizedLoop& d : loops) axes_.push_back({.n = d.most(), .points = d.from, .loop = &d});
    for (BlockAxis& a : axes_) take_strides(a);
    is_turned_ = manner.turns && order_.size() == 2 && !has_r2c(p);
    take_order();
    place_work();
    decide_direct();
  }

  BlockSteps run() {
    forward_ ? forward() : backward();
    if (p_.has_operator) {
      operate();
      forward_ = !forward_;
      is_second_ = true;
      for (BlockAxis& a : axes_) {
        take_strides(a);
        if (a.loop != nullptr) a.points = a.loop->to;
      }
      take_order();
      decide_direct();
      forward_ ? forward() : backward();
    }
    return {std::move(steps_), (manner_.is_apart ? 2 : 1) * work_ * element_};
  }

 private:
  BlockAxis& axis(int i) { return at(axes_, i); }
  bool is_r2c(int i) const {
    const BlockAxis& a = at(axes_, i);
    return a.transformed != nullptr && a.transformed->transform == Transform::r2c;
  }

  /// Those of the arrays that the current transform reads or writes. Of a transform alone one is that of its
  /// input and one that of its output.
  void take_strides(BlockAxis& a) const {
    const auto take = [&](const auto& of) {
      const bool points_first = p_.direction == Direction::forward;
      a.points_stride = p_.has_operator ? (is_second_ ? of.to_stride : of.from_stride)
                        : points_first  ? of.from_stride
                                        : of.to_stride;
      a.modes_stride = p_.has_operator ? a.points_stride : points_first ? of.to_stride : of.from_stride;
    };
    if (a.transformed != nullptr) {
      take(*a.transformed);
    } else {
      take(*a.loop);
    }
  }

  /// The order of forward transforms: real data first become complex, then rows come first. Those that are
  /// turned read rows of one half and write them side by side into the other, in both directions.
  void take_order() {
    std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) {
      const bool ra = is_r2c(a), rb = is_r2c(b);
      return ra != rb ? ra : axis(a).points_stride < axis(b).points_stride;
    });
    if (is_turned_ && !forward_) std::ranges::reverse(order_);
  }

  /// Whether points, or modes, are in work memory alone.
  bool points_inside() const { return p_.has_operator && p_.direction == Direction::backward; }
  bool modes_inside() const { return p_.has_operator && p_.direction == Direction::forward; }

  /// Whether the transform along the first axis reads or writes the points of the user.
  void decide_direct() {
    const BlockAxis& first = axis(order_.front());
    const bool in_rows = std::ranges::all_of(
        axes_, [&](const BlockAxis& a) { return a.n == 1 || a.points_stride >= first.points_stride; });
    direct_ =
        !points_inside() && first.points == first.transformed->length && (in_rows || is_r2c(order_.front()));
  }

  /// Dense in the order of the points, but for some room where strides would meet in few cache sets. Lines of
  /// real data are contiguous. In the second half rows are of the other axis, if transforms are turned.
  void place_work() {
    std::vector<BlockAxis*> sorted;
    for (BlockAxis& a : axes_) sorted.push_back(&a);
    std::ranges::stable_sort(sorted, {}, &BlockAxis::points_stride);
    std::stable_partition(sorted.begin(), sorted.end(), [](const BlockAxis* a) {
      return a->transformed != nullptr && a->transformed->transform == Transform::r2c;
    });
    place_half(0, sorted);
    if (is_turned_) {
      const BlockAxis* const other = &axis(forward_ ? order_.back() : order_.front());
      std::stable_partition(sorted.begin(), sorted.end(), [&](const BlockAxis* a) { return a == other; });
    }
    place_half(1, sorted);
    work_ = rounded_up(work_, cache_line_bytes / element_);
  }
  void place_half(std::size_t half, const std::vector<BlockAxis*>& sorted) {
    Index next = 1;
    for (BlockAxis* a : sorted) {
      at(a->work_strides, half) = next;
      next *= a->n;
      if (manner_.spread && next * element_ % (4 * cache_line_bytes) == 0)
        next += cache_line_bytes / element_;
    }
    work_ = std::max(work_, next);
  }

  /// Where elements are while so many forward transforms have been done.
  void enter(std::size_t done) { half_ = manner_.is_apart ? done % 2 : 0; }
  Index stride(const BlockAxis& a) const { return at(a.work_strides, half_); }
  /// Of an element in the half where elements are, in bytes.
  Index offset(Index element) const { return (static_cast<Index>(half_) * work_ + element) * element_; }

  /// The boxes of the points along the axes but `done` ones, of which the kept modes are there; `without` is
  /// left out.
  std::vector<WorkPart> parts(const std::vector<int>& done, int without = -1) {
    std::vector<WorkPart> all(1);
    all[0].extents = Shape(static_cast<int>(axes_.size()), 1);
    all[0].first = Shape(static_cast<int>(axes_.size()), 0);
    for (int i = 0; i < static_cast<int>(axes_.size()); ++i)
      if (i != without)
        for (WorkPart& p : all) p.extents[i] = axis(i).points;
    for (const int i : done) {
      std::vector<WorkPart> finer;
      for (const WorkPart& p : all)
        for (const Kept& k : axis(i).kept) {
          finer.push_back(p);
          finer.back().extents[i] = k.n;
          finer.back().first[i] = k.among_kept;
          finer.back().work += k.first * stride(axis(i));
          finer.back().modes += k.among_kept * axis(i).modes_stride;
        }
      all = std::move(finer);
    }
    return all;
  }

  void forward() {
    std::vector<int> done;
    for (const int i : order_) {
      const bool first = done.empty();
      enter(done.size());
      if (first && !direct_ && !points_inside()) copy_points();
      for (const WorkPart& part : parts(done, i)) clear_points(i, part);
      transform(i, done, first && direct_);
      enter(done.size() + 1);
      if (folds(*axis(i).transformed, p_.nyquist))
        for (const WorkPart& part : parts(done, i)) fold(i, part);
      done.push_back(i);
    }
    if (modes_inside()) return;
    if (p_.columns) return columns(false);
    for (const WorkPart& part : parts(done)) move_modes(false, part);
  }

  void backward() {
    std::vector<int> left = order_;
    enter(left.size());
    if (p_.columns) {
      if (p_.columns_part == ColumnsPart::planes)
        for (const WorkPart& part : parts({left.begin(), left.end() - 1}, left.back()))
          clear(left.back(), part, 0, axis(left.back()).n, element_);
      columns(true);
    } else if (!modes_inside()) {
      for (const WorkPart& part : parts(left)) move_modes(true, part);
    }
    while (!left.empty()) {
      const int i = left.back();
      left.pop_back();
      const bool last = left.empty();
      enter(left.size() + 1);
      for (const WorkPart& part : parts(left, i)) {
        if (!p_.columns || left.size() + 1 < order_.size()) clear_modes(i, part);
        if (folds(*axis(i).transformed, p_.nyquist)) fold(i, part);
      }
      transform(i, left, last && direct_);
      enter(left.size());
      if (last && !direct_ && !points_inside()) copy_points();
    }
  }

  /// All kept modes of the block, or all points.
  void operate() {
    // In the half where the first transform left them.
    for (const WorkPart& part : parts(forward_ ? order_ : std::vector<int>{})) {
      const bool reals = !forward_ && is_r2c(order_.front());
      OperatorStep step;
      step.offset = offset(part.work);
      step.element = reals || !complex_modes_ ? Element::real : Element::complex;
      step.before = p_.scale_between;
      step.after = p_.scale;
      step.box = {Shape(p_.ndim, 0), Shape(p_.ndim, 1)};
      step.strides = Strides(p_.ndim, 1);
      for (int b = 0; b < static_cast<int>(axes_.size()); ++b) {
        const Index step_along = reals ? real_stride(b) : stride(axis(b));
        const int a = axis(b).number();
        if (a == p_.batch_axis) {
          step.fields = axis(b).loop->from;
          step.results = axis(b).loop->to;
          step.field_stride = step_along;
          continue;
        }
        step.box.lo[a] = part.first[b];
        step.box.hi[a] = part.first[b] + part.extents[b];
        step.strides[a] = step_along;
      }
      steps_.emplace_back(step);
    }
  }

  /// One axis of all parts along the axes that are `cut`: from one half of work memory to the other, in place
  /// there, or between the points of the user and there.
  void transform(int i, const std::vector<int>& cut, bool direct) {
    /// One side of the transform.
    struct SideOf {
      std::vector<WorkPart> parts;
      std::vector<Index> offsets, strides;
    };
    const ResizedAxis& a = *axis(i).transformed;
    const auto look = [&](std::size_t done, bool points) {
      enter(done);
      SideOf side{parts(cut, i), {}, {}};
      for (const WorkPart& part : side.parts) side.offsets.push_back(offset(part.work));
      for (int b = 0; b < static_cast<int>(axes_.size()); ++b)
        side.strides.push_back(points && direct      ? axis(b).points_stride
                               : points && is_r2c(i) ? real_stride(b)
                                                     : stride(axis(b)));
      return side;
    };
    const SideOf points = look(cut.size(), true), modes = look(cut.size() + 1, false);
    const SideOf &from = forward_ ? points : modes, &to = forward_ ? modes : points;
    FftProblem f;
    f.precision = p_.precision;
    f.direction = forward_ ? Direction::forward : Direction::backward;
    f.effort = p_.effort;
    f.planning_seconds = p_.planning_seconds;
    f.in_place = !direct && !manner_.is_apart;
    f.may_destroy_input = !direct || !forward_;
    f.kind = is_r2r(a.transform) ? FftKind::r2r : is_r2c(i) ? FftKind::real : FftKind::c2c;
    const Index unit = f.kind == FftKind::r2r && complex_modes_ ? 2 : 1;
    const auto dimension = [&](int b, Index n) {
      return FftDimension{n, at(from.strides, b) * unit, at(to.strides, b) * unit};
    };
    f.dimensions.push_back(dimension(i, a.length));
    if (f.kind == FftKind::r2r)
      f.dimensions.back().transform = forward_ ? a.transform : opposite(a.transform);
    for (std::size_t k = 0; k < points.parts.size(); ++k) {
      const WorkPart& part = at(points.parts, k);
      f.loops.clear();
      for (int b = 0; b < static_cast<int>(axes_.size()); ++b)
        if (b != i && part.extents[b] > 1) f.loops.push_back(dimension(b, part.extents[b]));
      if (unit == 2) f.loops.push_back({2, 1, 1});
      const Place users{forward_ ? Side::input : Side::output, 0};
      const Place near = direct ? users : Place{Side::work, at(points.offsets, k)};
      const Place far{Side::work, at(modes.offsets, k)};
      f.aligned = far.offset % 16 == 0 && (direct ? aligned_ : near.offset % 16 == 0);
      steps_.emplace_back(LinesStep{f, forward_ ? near : far, forward_ ? far : near});
    }
  }

  /// The step along an axis in work memory, in real numbers, while the r2c axis has real ones.
  Index real_stride(int b) const { return is_r2c(b) ? 1 : 2 * stride(at(axes_, b)); }

  void copy_points() {
    const bool reals = is_r2c(order_.front());
    Strides users, works;
    for (int b = 0; b < static_cast<int>(axes_.size()); ++b) {
      users.push_back(axis(b).points_stride);
      works.push_back(reals ? real_stride(b) : stride(axis(b)));
    }
    copy(parts({}).front().extents, users, works, reals ? element_ / 2 : element_,
         {forward_ ? Side::input : Side::output, 0}, {Side::work, offset(0)}, forward_, 1);
  }

  /// Between the user's array of modes and work memory.
  void move_modes(bool in, const WorkPart& part) {
    if (p_.halves.stage != Halves::split) return copy_modes(part);
    std::vector<HalvesAxis> axes;
    for (int i = 0; i < static_cast<int>(axes_.size()); ++i) {
      const BlockAxis& b = axis(i);
      axes.push_back({b.number(), part.extents[i], b.modes_stride * element_, stride(b) * element_,
                      b.number() == p_.halves.second_axis});
    }
    split_halves(p_, in, axes, part.modes * element_, offset(part.work), p_.scale, steps_);
  }
  void copy_modes(const WorkPart& part) {
    Strides users, works;
    for (const BlockAxis& b : axes_) {
      users.push_back(b.modes_stride);
      works.push_back(stride(b));
    }
    copy(part.extents, users, works, element_, {forward_ ? Side::output : Side::input, part.modes * element_},
         {Side::work, offset(part.work)}, !forward_, p_.has_operator ? 1 : p_.scale);
  }

  /// Between the modes of all columns in the user's array and in work memory.
  void columns(bool in) {
    std::vector<ColumnsAxis> all;
    for (const BlockAxis& b : axes_)
      all.push_back({b.number(), b.transformed,
                     b.loop == nullptr ? b.n
                     : in              ? b.loop->from
                                       : b.loop->to,
                     b.modes_stride * element_, stride(b) * element_});
    ColumnsStep step = columns_step(p_, in, all);
    step.offset = offset(0);
    if (!p_.has_operator) step.scale = p_.scale;
    steps_.emplace_back(std::move(step));
  }

  void copy(const Shape& extents, const Strides& users, const Strides& works, Index element, Place user,
            Place work, bool in, double scale) {
    steps_.emplace_back(CopyStep{extents, in ? users : works, in ? works : users, static_cast<int>(element),
                                 scale, !in && p_.store_past, in ? user : work, in ? work : user});
  }

  /// Loops over a part, with `n` elements along axis `i`.
  std::vector<FftDimension> loops_over(int i, const WorkPart& part, Index n) {
    std::vector<FftDimension> loops;
    for (int b = 0; b < static_cast<int>(axes_.size()); ++b) {
      const Index extent = b == i ? n : part.extents[b], bytes = stride(axis(b)) * element_;
      if (extent > 1) loops.push_back({extent, bytes, bytes});
    }
    std::ranges::sort(loops, std::greater{}, &FftDimension::from_stride);
    return loops;
  }

  /// The modes along axis `i` that are not there.
  void clear_modes(int i, const WorkPart& part) {
    const BlockAxis& a = axis(i);
    Index first = 0;
    for (const Kept& k : a.kept) {
      clear(i, part, first, k.first - first, element_);
      first = k.first + k.n;
    }
    clear(i, part, first, a.n - first, element_);
  }
  /// The points along axis `i` that are not there.
  void clear_points(int i, const WorkPart& part) {
    const BlockAxis& a = axis(i);
    clear(i, part, a.points, a.transformed->length - a.points, is_r2c(i) ? element_ / 2 : element_);
  }
  void clear(int i, const WorkPart& part, Index first, Index n, Index element) {
    if (n == 0) return;
    const BlockAxis& a = axis(i);
    const bool along = stride(a) == 1;  // in runs
    std::vector<FftDimension> loops = loops_over(i, part, along ? 1 : n);
    Index run = along ? n : 1;
    if (!along && !loops.empty() && loops.back().from_stride == element) {
      run = loops.back().n;
      loops.pop_back();
    }
    loops.push_back({run * element, 1, 1});
    steps_.emplace_back(ZeroStep{std::move(loops), offset(part.work) + first * stride(a) * element});
  }

  void fold(int i, const WorkPart& part) {
    const BlockAxis& a = axis(i);
    const Index positive = is_r2c(i) ? a.transformed->modes - 1 : a.kept.front().n;
    const Index other = is_r2c(i) ? 0 : a.kept.back().first - positive;
    steps_.emplace_back(NyquistStep{loops_over(i, part, 1), offset(part.work + positive * stride(a)),
                                    other * stride(a) * element_, forward_});
  }

  const ResizedProblem& p_;
  bool aligned_, forward_ = true, is_second_ = false, complex_modes_ = true, direct_ = false;
  bool is_turned_ = false;
  WorkManner manner_;
  std::size_t half_ = 0;           ///< of work memory, where elements are
  Index element_ = 16, work_ = 1;  ///< elements of a half
  std::vector<BlockAxis> axes_;
  std::vector<int> order_;  ///< in which forward transforms
  std::vector<BlockStep> steps_;
};

}  // namespace

std::vector<Kept> kept_modes(const ResizedAxis& a) {
  const Index positive = divided_up<Index>(a.modes, 2), negative = a.modes / 2;
  if (a.transform != Transform::c2c || a.modes == a.length || negative == 0) return {{0, a.modes, 0}};
  return {{0, positive, 0}, {a.length - negative, negative, positive}};
}

bool folds(const ResizedAxis& a, ModesNyquist nyquist) {
  if (a.modes == all_modes(a) || a.modes < 2) return false;
  if (a.transform == Transform::r2c) return nyquist == ModesNyquist::shared;
  return a.transform == Transform::c2c && a.modes % 2 == 0 && nyquist != ModesNyquist::single;
}

ColumnsStep columns_step(const ResizedProblem& p, bool in, const std::vector<ColumnsAxis>& axes) {
  ColumnsStep step;
  step.in = in;
  const bool planes = p.columns_part == ColumnsPart::planes;
  for (const ColumnsAxis& a : axes) {
    if (planes && a.number == 1) step.column_stride = a.user_stride;
    if (a.transformed == nullptr && (planes || a.number != 1)) {
      step.loops.push_back({a.n, a.user_stride, a.work_stride});
    } else if (!planes) {
      (a.number == 1 ? step.work_column : step.work_mode) = a.work_stride;
      (a.number == 1 ? step.count : step.length) = a.n;
    }
  }
  if (!planes) {
    step.columns = p.columns;
    step.count = std::max<Index>(step.count, 1);  // one column is no loop
    return step;
  }
  for (const ModeColumn& c : p.columns->all) {
    Index place = 0;
    for (const ColumnsAxis& a : axes)
      if (a.transformed != nullptr)
        place += mode_index(c.first[a.number], a.transformed->length) * a.work_stride;
    step.places.push_back(place);
  }
  return step;
}

Index all_modes(const ResizedAxis& a) {
  return a.transform == Transform::r2c ? a.length / 2 + 1 : a.length;
}

bool has_r2c(const ResizedProblem& p) {
  return std::ranges::any_of(p.axes, [](const auto& a) { return a.transform == Transform::r2c; });
}

BlockSteps write_block(const ResizedProblem& problem, const std::vector<ResizedLoop>& loops, bool aligned,
                       const WorkManner& manner) {
  return BlockWriter(problem, loops, aligned, manner).run();
}

}  // namespace weft
