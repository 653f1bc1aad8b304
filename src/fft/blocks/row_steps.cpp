#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "base/arithmetic.hpp"
#include "fft/blocks/block_steps.hpp"
#include "fft/loops.hpp"
#include "geometry/transform.hpp"

namespace weft {

namespace {

using Place = BlockPlace;
using Side = BlockPlace::Side;

/// An axis of a block: one that is transformed, or a loop.
struct RowAxis {
  const ResizedAxis* transformed = nullptr;
  const ResizedLoop* loop = nullptr;
  int number() const { return transformed != nullptr ? transformed->axis : loop->axis; }
  bool is_r2c() const { return transformed != nullptr && transformed->transform == Transform::r2c; }
};

/// Where the elements of the block are now. By axis of the block, strides in elements.
struct Where {
  Place place;
  std::vector<Index> strides, extents;
  bool reals = false;  ///< real numbers that become complex, or came of them
  int cut = -1;        ///< the axis of which only kept modes, or points, are there, with others between them
  int rows = -1;       ///< the axis of which whole lines are contiguous in work memory, for its transform
};

class RowWriter {
 public:
  RowWriter(const ResizedProblem& p, const std::vector<ResizedLoop>& loops, bool aligned)
      : p_(p), aligned_(aligned) {
    complex_modes_ = has_r2c(p) || p.points == Element::complex;
    element_ = (complex_modes_ ? 2 : 1) * real_bytes(p.precision);
    for (const ResizedAxis& a : p.axes) {
      order_.push_back(count());
      axes_.push_back({.transformed = &a});
    }
    for (const ResizedLoop& d : loops) axes_.push_back({.loop = &d});
    half_ = element_;
    for (const RowAxis& a : axes_) half_ *= a.loop != nullptr ? a.loop->most() : all_modes(*a.transformed);
    half_ = rounded_up<Index>(half_, 256);
    // Real data first become complex, then rows come first.
    std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) {
      const bool ra = axis(a).is_r2c(), rb = axis(b).is_r2c();
      return ra != rb ? ra
                      : users(true)[static_cast<std::size_t>(a)] < users(true)[static_cast<std::size_t>(b)];
    });
  }

  BlockSteps run() {
    const bool forward = p_.direction == Direction::forward;
    begin(forward);
    scale_ = p_.has_operator ? p_.scale_between : p_.scale;
    forward ? go_forward() : go_backward();
    if (p_.has_operator) {
      const std::size_t first = steps_.size();
      operate();
      const std::size_t last = steps_.size();
      is_second_ = true;
      scale_ = p_.scale;
      forward ? go_backward() : go_forward();
      for (std::size_t i = first; i < last; ++i) std::get<OperatorStep>(steps_[i]).after = scale_;
    }
    return {std::move(steps_), halves_ * half_};
  }

 private:
  int count() const { return static_cast<int>(axes_.size()); }
  const RowAxis& axis(int i) const { return at(axes_, i); }
  Index real_unit() const { return real_bytes(p_.precision); }
  Index unit(bool reals) const { return reals ? element_ / 2 : element_; }
  bool is_last_half() const { return !p_.has_operator || is_second_; }

  /// Strides of the user's array of points, or of modes.
  std::vector<Index> users(bool points) const {
    const bool points_first = p_.direction == Direction::forward;
    const bool from = p_.has_operator ? !is_second_ : points == points_first;
    std::vector<Index> strides;
    for (const RowAxis& a : axes_) {
      if (a.transformed != nullptr)
        strides.push_back(from ? a.transformed->from_stride : a.transformed->to_stride);
      else
        strides.push_back(from ? a.loop->from_stride : a.loop->to_stride);
    }
    return strides;
  }
  Index loop_extent(const RowAxis& a) const {
    const bool after = p_.has_operator && is_second_;
    return after ? a.loop->to : a.loop->from;
  }

  /// The input of the block.
  void begin(bool points) {
    now_ = {};
    now_.place = {Side::input, 0};
    now_.strides = users(points);
    now_.reals = points && has_r2c(p_);
    for (const RowAxis& a : axes_)
      now_.extents.push_back(a.loop != nullptr ? loop_extent(a)
                             : points          ? a.transformed->points
                                               : a.transformed->modes);
  }

  /// Whether a transform has all of its points and modes.
  bool is_whole(int i) const {
    const ResizedAxis& a = *axis(i).transformed;
    return a.points == a.length && a.modes == all_modes(a);
  }
  bool is_dct(int i) const { return is_r2r(axis(i).transformed->transform); }

  Place free_half() {
    const bool second = now_.place.side == Side::work && now_.place.offset == 0;
    if (second) halves_ = 2;
    return {Side::work, second ? half_ : 0};
  }

  /// The axes of the block from the fastest one where they are now; the arrays of a batch come last, as an
  /// operator may change their number.
  std::vector<int> by_stride() const {
    std::vector<int> all(axes_.size());
    std::iota(all.begin(), all.end(), 0);
    std::stable_sort(all.begin(), all.end(), [&](int a, int b) {
      const bool batch = is_batch(a), other = is_batch(b);
      return batch != other ? other : at(now_.strides, a) < at(now_.strides, b);
    });
    return all;
  }
  bool is_batch(int i) const { return p_.has_operator && axis(i).number() == p_.batch_axis; }

  /// Dense strides in that order, axis `first` before all others with rows of `row` elements.
  std::vector<Index> dense(const std::vector<Index>& extents, int first = -1, Index row = 0) const {
    std::vector<Index> strides(axes_.size(), 1);
    Index next = first < 0 ? 1 : row;
    for (const int i : by_stride()) {
      if (i == first) continue;
      at(strides, i) = next;
      next *= is_batch(i) ? axis(i).loop->most() : at(extents, i);
    }
    return strides;
  }

  void go_forward() {
    for (std::size_t k = 0; k < order_.size();) {
      const int i = order_[k];
      if (!is_whole(i) || now_.cut >= 0) {
        forward_rows(i);
        ++k;
        continue;
      }
      std::vector<int> together{i};
      while (++k < order_.size() && is_whole(order_[k]) && is_dct(order_[k]) == is_dct(i))
        together.push_back(order_[k]);
      transform_whole(together, true, k == order_.size());
    }
    if (!is_last_half()) return;
    if (p_.columns) return columns(false);
    leave(false);
  }

  void go_backward() {
    if (p_.columns && !is_second_) columns(true);
    for (std::size_t k = order_.size(); k > 0;) {
      const int i = order_[k - 1];
      if (!is_whole(i) || now_.cut >= 0) {
        backward_rows(i, k == 1);
        --k;
        continue;
      }
      std::vector<int> together{i};
      while (--k > 0 && is_whole(order_[k - 1]) && is_dct(order_[k - 1]) == is_dct(i))
        together.push_back(order_[k - 1]);
      transform_whole(together, false, k == 0);
    }
    if (is_last_half()) leave(true);
  }

  /// Copies what there is to the output of the block, unless it is there.
  void leave(bool points) {
    if (now_.place.side == Side::output) return;
    copy({Side::output, 0}, users(points));
  }

  /// Copies what there is, compact along the axis that is cut.
  void copy(const Place& to, const std::vector<Index>& strides) {
    const Index bytes = unit(now_.reals);
    const double scale = std::exchange(scale_, 1);
    for (const Kept& k : pieces()) {
      Where part = now_;
      if (now_.cut >= 0) at(part.extents, now_.cut) = k.n;
      const Index from_skip = now_.cut < 0 ? 0 : k.first * at(now_.strides, now_.cut);
      const Index to_skip = now_.cut < 0 ? 0 : k.among_kept * at(strides, now_.cut);
      copy_part(part.extents, {now_.place.side, now_.place.offset + from_skip * bytes},
                {to.side, to.offset + to_skip * bytes}, strides, scale);
    }
    now_.place = to;
    now_.strides = strides;
    now_.cut = now_.rows = -1;
  }
  void copy_part(const std::vector<Index>& extents, const Place& from, const Place& to,
                 const std::vector<Index>& strides, double scale) {
    CopyStep step;
    for (int i = 0; i < count(); ++i) {
      if (at(extents, i) == 1) continue;
      step.extents.push_back(at(extents, i));
      step.from_strides.push_back(at(now_.strides, i));
      step.to_strides.push_back(at(strides, i));
    }
    step.element_bytes = static_cast<int>(unit(now_.reals));
    step.scale = scale;
    step.from = from;
    step.to = to;
    steps_.emplace_back(std::move(step));
  }

  /// The kept modes, or the points, of the axis that is cut.
  std::vector<Kept> pieces() const {
    if (now_.cut < 0) return {{}};
    if (cut_modes_) return kept_modes(*axis(now_.cut).transformed);
    return {{0, at(now_.extents, now_.cut), 0}};
  }

  /// A transform along axes of which nothing is cut, to the output of the block if it is the last one.
  void transform_whole(const std::vector<int>& axes, bool forward, bool is_last) {
    const bool r2c = std::ranges::any_of(axes, [&](int i) { return axis(i).is_r2c(); });
    const bool direct =
        is_last && is_last_half() && !(forward && p_.columns) && now_.place.side != Side::input;
    Where to = now_;
    to.rows = -1;
    to.reals = r2c && !forward;
    for (const int i : axes)
      at(to.extents, i) = forward ? all_modes(*axis(i).transformed) : axis(i).transformed->length;
    if (direct) {
      to.place = {Side::output, 0};
      to.strides = users(!forward);
    } else if (now_.place.side != Side::work || r2c) {
      to.place = free_half();
      to.strides = dense(to.extents);
    }
    add_lines(axes, to, forward, direct && !p_.has_operator ? std::exchange(scale_, 1) : 1);
  }

  void add_lines(const std::vector<int>& axes, const Where& to, bool forward, double scale = 1) {
    LinesStep step{problem_of(axes, now_, to, forward), now_.place, to.place};
    step.fft.scale = scale;
    now_ = to;
    steps_.emplace_back(std::move(step));
  }

  FftProblem problem_of(const std::vector<int>& axes, const Where& from, const Where& to,
                        bool forward) const {
    FftProblem f;
    f.precision = p_.precision;
    f.direction = forward ? Direction::forward : Direction::backward;
    f.effort = p_.effort;
    f.planning_seconds = p_.planning_seconds;
    f.in_place = from.place.side == to.place.side && from.place.offset == to.place.offset;
    f.may_destroy_input = from.place.side == Side::work;
    const auto aligned = [&](const Place& p) {
      return p.offset % 16 == 0 && (p.side == Side::work || aligned_);
    };
    f.aligned = aligned(from.place) && aligned(to.place);
    const bool dct = is_dct(axes.front());
    f.kind = dct ? FftKind::r2r : FftKind::c2c;
    const Index parts = dct && complex_modes_ ? 2 : 1;
    const auto dimension = [&](int i, Index n) {
      return FftDimension{n, at(from.strides, i) * parts, at(to.strides, i) * parts};
    };
    for (const int i : axes) {
      const ResizedAxis& a = *axis(i).transformed;
      FftDimension d = dimension(i, a.length);
      if (dct) d.transform = forward ? a.transform : opposite(a.transform);
      if (!axis(i).is_r2c()) f.dimensions.push_back(d);
    }
    for (const int i : axes)
      if (axis(i).is_r2c()) {
        f.kind = FftKind::real;
        f.dimensions.push_back(dimension(i, axis(i).transformed->length));
      }
    for (int i = 0; i < count(); ++i)
      if (std::ranges::find(axes, i) == axes.end() && at(from.extents, i) > 1)
        f.loops.push_back(dimension(i, at(from.extents, i)));
    if (parts == 2) f.loops.push_back({2, 1, 1});
    return f;
  }

  /// Elements of a row of an axis: of real numbers those of its complex modes.
  Index row_of(int i, bool reals) const {
    const ResizedAxis& a = *axis(i).transformed;
    return reals ? 2 * all_modes(a) : a.transform == Transform::r2c ? all_modes(a) : a.length;
  }

  /// In rows: points that are not there become zero, modes that are not kept are left where they are.
  void forward_rows(int i) {
    const ResizedAxis& a = *axis(i).transformed;
    Where to = now_;
    if (now_.rows != i) {
      to.place = free_half();
      to.strides = dense(now_.extents, i, row_of(i, false));
      to.cut = -1;
      if (a.points != a.length || now_.cut >= 0 || !in_one_call(i, to, true)) {
        copy(to.place, dense(now_.extents, i, row_of(i, now_.reals)));
        to = now_;
      }
    }
    if (to.place.side == now_.place.side && to.place.offset == now_.place.offset) {
      clear(i, a.points, a.length - a.points);
      if (axis(i).is_r2c())
        for (int b = 0; b < count(); ++b)
          if (b != i) at(to.strides, b) = at(now_.strides, b) / 2;
    }
    to.reals = false;
    at(to.extents, i) = a.modes;
    to.cut = a.modes == all_modes(a) ? -1 : i;
    to.rows = i;
    cut_modes_ = true;
    add_lines({i}, to, true);
    if (folds(a, p_.nyquist)) fold(i, true);
  }

  void backward_rows(int i, bool is_last) {
    const ResizedAxis& a = *axis(i).transformed;
    const std::vector<Kept> kept = kept_modes(a);
    if (now_.rows != i) {
      std::vector<Index> extents = now_.extents;
      const std::vector<Index> strides = dense(extents, i, row_of(i, false));
      const Place to = free_half();
      const double scale = std::exchange(scale_, 1);
      for (const Kept& k : kept) {
        at(extents, i) = k.n;
        copy_part(extents,
                  {now_.place.side, now_.place.offset + k.among_kept * at(now_.strides, i) * element_},
                  {to.side, to.offset + k.first * element_}, strides, scale);
      }
      now_.place = to;
      now_.strides = strides;
      now_.cut = -1;
    }
    Index first = 0;
    for (const Kept& k : kept) {
      clear(i, first, k.first - first);
      first = k.first + k.n;
    }
    clear(i, first, all_modes(a) - first);
    if (folds(a, p_.nyquist)) fold(i, false);
    Where to = now_;
    to.reals = axis(i).is_r2c();
    at(to.extents, i) = a.points;
    to.cut = to.reals || a.points != a.length ? i : -1;
    to.rows = i;
    if (to.reals)
      for (int b = 0; b < count(); ++b)
        if (b != i) at(to.strides, b) *= 2;
    if (is_last && is_last_half() && a.points == a.length && (p_.has_operator || scale_ == 1)) {
      Where out = to;
      out.place = {Side::output, 0};
      out.strides = users(true);
      if (at(out.strides, i) == 1 && in_one_call(i, out, false)) {
        out.cut = -1;
        to = out;
      }
    }
    cut_modes_ = false;
    add_lines({i}, to, false);
  }

  /// Whether all lines along an axis are one call, from where they are to there.
  bool in_one_call(int i, const Where& to, bool forward) const {
    if (at(now_.strides, i) != 1 || at(to.strides, i) != 1) return false;
    return merge_loops(problem_of({i}, now_, to, forward).loops).size() <= 1;
  }

  /// Some elements of each row along an axis, which are contiguous.
  void clear(int i, Index first, Index n) {
    if (n == 0) return;
    const Index bytes = unit(now_.reals);
    std::vector<FftDimension> loops = others(i, bytes);
    loops.push_back({n * bytes, 1, 1});
    steps_.emplace_back(ZeroStep{std::move(loops), now_.place.offset + first * bytes});
  }
  /// Loops over the rows along an axis, strides in bytes.
  std::vector<FftDimension> others(int i, Index bytes) const {
    std::vector<FftDimension> loops;
    for (int b = 0; b < count(); ++b)
      if (b != i && at(now_.extents, b) > 1)
        loops.push_back({at(now_.extents, b), at(now_.strides, b) * bytes, at(now_.strides, b) * bytes});
    std::ranges::sort(loops, std::greater{}, &FftDimension::from_stride);
    return loops;
  }

  void fold(int i, bool forward) {
    const ResizedAxis& a = *axis(i).transformed;
    const std::vector<Kept> kept = kept_modes(a);
    const Index positive = axis(i).is_r2c() ? a.modes - 1 : kept.front().n;
    const Index other = axis(i).is_r2c() ? 0 : kept.back().first - positive;
    steps_.emplace_back(
        NyquistStep{others(i, element_), now_.place.offset + positive * element_, other * element_, forward});
  }

  /// All kept modes of the block, or all points.
  void operate() {
    const Index bytes = unit(now_.reals);
    for (const Kept& k : pieces()) {
      OperatorStep step;
      const Index skipped = now_.cut < 0 ? 0 : k.first * at(now_.strides, now_.cut);
      step.offset = now_.place.offset + skipped * bytes;
      step.element = now_.reals || !complex_modes_ ? Element::real : Element::complex;
      step.before = scale_;
      step.box = {Shape(p_.ndim, 0), Shape(p_.ndim, 1)};
      step.strides = Strides(p_.ndim, 1);
      for (int b = 0; b < count(); ++b) {
        const int a = axis(b).number();
        if (a == p_.batch_axis) {
          step.fields = axis(b).loop->from;
          step.results = axis(b).loop->to;
          step.field_stride = at(now_.strides, b);
          continue;
        }
        step.box.lo[a] = b == now_.cut ? k.among_kept : 0;
        step.box.hi[a] = step.box.lo[a] + (b == now_.cut ? k.n : at(now_.extents, b));
        step.strides[a] = at(now_.strides, b);
      }
      steps_.emplace_back(std::move(step));
    }
    for (int b = 0; b < count(); ++b)
      if (axis(b).loop != nullptr) at(now_.extents, b) = axis(b).loop->to;
    // What is cut along its rows is filled up by the transform back along them.
    if (now_.rows >= 0) now_.cut = -1;
  }

  /// Between the modes of all columns in the user's array and in work memory.
  void columns(bool in) {
    const bool planes = p_.columns_part == ColumnsPart::planes;
    const std::vector<Index> of_user = users(false);
    if (in) {
      std::vector<Index> extents;
      for (const RowAxis& a : axes_)
        extents.push_back(a.loop != nullptr ? loop_extent(a) : all_modes(*a.transformed));
      // In the order of the user's points, or in C order where there are none.
      now_.strides = users(true);
      for (int b = 0; p_.has_operator && b < count(); ++b) at(now_.strides, b) = p_.ndim - axis(b).number();
      now_.strides = dense(extents);
      now_.extents = extents;
      now_.place = {Side::work, 0};
      if (planes) {
        Index all = element_;
        for (const Index n : extents) all *= n;
        steps_.emplace_back(ZeroStep{{{all, 1, 1}}, 0});
      }
    }
    ColumnsStep step;
    step.in = in;
    step.scale = std::exchange(scale_, 1);
    step.offset = now_.place.offset;
    for (int b = 0; b < count(); ++b) {
      const RowAxis& a = axis(b);
      const Index user = at(of_user, b) * element_, work = at(now_.strides, b) * element_;
      if (planes && a.number() == 1) step.column_stride = user;
      if (a.transformed == nullptr && (planes || a.number() != 1)) {
        step.loops.push_back({at(now_.extents, b), user, work});
      } else if (!planes) {
        (a.number() == 1 ? step.work_column : step.work_mode) = work;
        (a.number() == 1 ? step.count : step.length) = at(now_.extents, b);
      }
    }
    if (planes) {
      for (const ModeColumn& c : p_.columns->all) {
        Index place = 0;
        for (int b = 0; b < count(); ++b)
          if (const ResizedAxis* const a = axis(b).transformed; a != nullptr)
            place += mode_index(c.first[a->axis], a->length) * at(now_.strides, b) * element_;
        step.places.push_back(place);
      }
    } else {
      step.columns = p_.columns;
      step.count = std::max<Index>(step.count, 1);  // one column is no loop
    }
    steps_.emplace_back(std::move(step));
  }

  const ResizedProblem& p_;
  bool aligned_, complex_modes_ = true, is_second_ = false;
  bool cut_modes_ = true;  ///< what is cut are modes, not points
  Index element_ = 16;
  double scale_ = 1;  ///< what nothing has multiplied by yet; the next copy does, as transforms are linear
  Index half_ = 0;    ///< bytes of work memory: elements are copied from one half to the other
  Index halves_ = 1;  ///< how many of them
  std::vector<RowAxis> axes_;
  std::vector<int> order_;  ///< in which forward transforms
  Where now_;
  std::vector<BlockStep> steps_;
};

}  // namespace

BlockSteps write_rows(const ResizedProblem& problem, const std::vector<ResizedLoop>& loops, bool aligned) {
  return RowWriter(problem, loops, aligned).run();
}

}  // namespace weft
