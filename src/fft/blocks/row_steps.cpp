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
  bool reals = false;      ///< real numbers that become complex, or came of them
  std::vector<int> cuts;   ///< axes of which `extents` count kept modes, or points, with others between them
  std::vector<int> whole;  ///< axes that have room for all modes or points, as their transform left them
};

/// A box of what there is: along axes that are cut one run of kept modes, or the points.
struct Part {
  std::vector<Index> first, among_kept, extents;  ///< where it begins among all, and among what is kept
};

/// Axes that are transformed together.
struct Group {
  std::vector<int> axes;
  bool rows;  ///< one axis, in rows of work memory
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
    groups_ = groups();
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

  /// Axes are transformed together, modes that are cut included, as long as more than half of what the next
  /// one goes through is kept. What has to be copied because of a cut, or of points that are not there, is
  /// copied to rows.
  std::vector<Group> groups() const {
    constexpr double worth = 0.5;
    std::vector<Group> all;
    bool cut = false;
    for (std::size_t k = 0; k < order_.size(); ++k) {
      const int i = order_[k];
      const auto has_points = [&](int j) {
        return axis(j).transformed->points == axis(j).transformed->length;
      };
      if (cut || !has_points(i)) {
        all.push_back({{i}, true});
        cut = is_cut(i);
        continue;
      }
      all.push_back({{i}, false});
      double kept = kept_share(i);
      cut = is_cut(i);
      // A folded mode of r2c is real along its axis alone: that comes before other axes.
      const bool alone = axis(i).is_r2c() && folds(*axis(i).transformed, p_.nyquist);
      for (; k + 1 < order_.size() && kept > worth && !alone; ++k) {
        const int next = order_[k + 1];
        if (!has_points(next) || is_dct(next) != is_dct(i)) break;
        all.back().axes.push_back(next);
        kept *= kept_share(next);
        cut = cut || is_cut(next);
      }
    }
    return all;
  }
  bool is_cut(int i) const { return axis(i).transformed->modes != all_modes(*axis(i).transformed); }
  double kept_share(int i) const {
    const ResizedAxis& a = *axis(i).transformed;
    return static_cast<double>(a.modes) / static_cast<double>(all_modes(a));
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
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (groups_[g].rows)
        forward_rows(groups_[g].axes.front());
      else
        forward_whole(groups_[g].axes, g + 1 == groups_.size());
    }
    if (!is_last_half()) return;
    if (p_.columns) return columns(false);
    leave(false);
  }

  void go_backward() {
    if (p_.columns && !is_second_) columns(true);
    for (std::size_t g = groups_.size(); g-- > 0;) {
      if (groups_[g].rows)
        backward_rows(groups_[g].axes.front(), g == 0);
      else
        backward_whole(groups_[g].axes, g == 0);
    }
    if (is_last_half()) leave(true);
  }

  /// Copies what there is to the output of the block, unless it is there.
  void leave(bool points) {
    if (now_.place.side == Side::output) return;
    copy({Side::output, 0}, users(points));
  }

  /// Copies what there is, compact along axes that are cut.
  void copy(const Place& to, const std::vector<Index>& strides) {
    const double scale = std::exchange(scale_, 1);
    for (const Part& part : parts()) copy_part(part, part.first, part.among_kept, to, strides, scale);
    now_.place = to;
    now_.strides = strides;
    now_.cuts = now_.whole = {};
  }
  /// Copies modes to where they are among all of some axes.
  void spread(const std::vector<int>& axes, const Place& to, const std::vector<Index>& strides) {
    const double scale = std::exchange(scale_, 1);
    now_.cuts = {};  // points begin at 0
    for (const Part& part : parts_of(axes)) copy_part(part, part.among_kept, part.first, to, strides, scale);
    now_.place = to;
    now_.strides = strides;
  }
  void copy_part(const Part& part, const std::vector<Index>& from, const std::vector<Index>& to,
                 const Place& target, const std::vector<Index>& strides, double scale) {
    const Index bytes = unit(now_.reals);
    CopyStep step;
    Index read = now_.place.offset, written = target.offset;
    for (int i = 0; i < count(); ++i) {
      read += at(from, i) * at(now_.strides, i) * bytes;
      written += at(to, i) * at(strides, i) * bytes;
      if (at(part.extents, i) == 1) continue;
      step.extents.push_back(at(part.extents, i));
      step.from_strides.push_back(at(now_.strides, i));
      step.to_strides.push_back(at(strides, i));
    }
    step.element_bytes = static_cast<int>(bytes);
    step.scale = scale;
    step.from = {now_.place.side, read};
    step.to = {target.side, written};
    steps_.emplace_back(std::move(step));
  }

  /// What there is: of axes with cut modes their runs; points begin at 0.
  std::vector<Part> parts() const { return parts_of(cut_modes_ ? now_.cuts : std::vector<int>{}); }
  /// The runs of kept modes along some axes.
  std::vector<Part> parts_of(const std::vector<int>& axes) const {
    const std::vector<Index> zeros(axes_.size(), 0);
    std::vector<Part> all{{zeros, zeros, now_.extents}};
    for (const int i : axes) {
      std::vector<Part> finer;
      for (const Part& p : all)
        for (const Kept& k : kept_modes(*axis(i).transformed)) {
          finer.push_back(p);
          at(finer.back().first, i) = k.first;
          at(finer.back().among_kept, i) = k.among_kept;
          at(finer.back().extents, i) = k.n;
        }
      all = std::move(finer);
    }
    return all;
  }

  /// A transform along axes that have all points, to the output of the block if it is the last one and keeps
  /// all modes.
  void forward_whole(const std::vector<int>& axes, bool is_last) {
    const bool cut = std::ranges::any_of(axes, [&](int i) { return is_cut(i); });
    transform_whole(axes, true, is_last && !cut && !p_.columns);
    for (const int i : axes)
      if (folds(*axis(i).transformed, p_.nyquist)) fold(i, true);
    for (const int i : axes) {
      at(now_.extents, i) = axis(i).transformed->modes;
      if (is_cut(i)) now_.cuts.push_back(i);
    }
    cut_modes_ = true;
  }

  void backward_whole(const std::vector<int>& axes, bool is_last) {
    const bool cut = std::ranges::any_of(axes, [&](int i) { return is_cut(i); });
    const auto has_room = [&](int i) { return std::ranges::find(now_.whole, i) != now_.whole.end(); };
    if (!std::ranges::all_of(axes, has_room) && (cut || !now_.cuts.empty())) {
      std::vector<Index> extents = now_.extents;
      for (const int i : axes) at(extents, i) = all_modes(*axis(i).transformed);
      const Place to = free_half();
      Where like = now_;
      like.strides = users(true);  // an order that suits the points
      std::swap(now_.strides, like.strides);
      const std::vector<Index> strides = dense(extents);
      std::swap(now_.strides, like.strides);
      spread(axes, to, strides);
    }
    for (const int i : axes) at(now_.extents, i) = all_modes(*axis(i).transformed);
    now_.cuts = {};
    std::vector<int> before;
    for (const int i : axes) {
      for (const Part& part : parts_of(before)) clear_modes(i, part);
      before.push_back(i);
    }
    for (const int i : axes)
      if (folds(*axis(i).transformed, p_.nyquist)) fold(i, false);
    transform_whole(axes, false, is_last);
  }

  void transform_whole(const std::vector<int>& axes, bool forward, bool may_leave) {
    const bool r2c = std::ranges::any_of(axes, [&](int i) { return axis(i).is_r2c(); });
    const bool direct = may_leave && is_last_half() && now_.place.side != Side::input;
    Where to = now_;
    to.whole = axes;
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
    if (!is_in_rows(i)) copy(free_half(), dense(now_.extents, i, row_of(i, now_.reals)));
    clear(i, a.points, a.length - a.points);
    Where to = now_;
    if (axis(i).is_r2c())
      for (int b = 0; b < count(); ++b)
        if (b != i) at(to.strides, b) /= 2;
    to.reals = false;
    at(to.extents, i) = a.modes;
    to.cuts = is_cut(i) ? std::vector<int>{i} : std::vector<int>{};
    to.whole = {i};
    cut_modes_ = true;
    add_lines({i}, to, true);
    if (folds(a, p_.nyquist)) fold(i, true);
  }
  /// Whether whole lines along an axis are there, of which only some may be cut.
  bool is_in_rows(int i) const {
    return now_.place.side == Side::work && now_.whole == std::vector<int>{i} && at(now_.strides, i) == 1;
  }

  void backward_rows(int i, bool is_last) {
    const ResizedAxis& a = *axis(i).transformed;
    if (!is_in_rows(i)) spread({i}, free_half(), dense(now_.extents, i, row_of(i, false)));
    now_.cuts = {};
    clear_modes(i, parts_of({}).front());
    if (folds(a, p_.nyquist)) fold(i, false);
    Where to = now_;
    to.reals = axis(i).is_r2c();
    at(to.extents, i) = a.points;
    to.cuts = to.reals || a.points != a.length ? std::vector<int>{i} : std::vector<int>{};
    to.whole = {i};
    if (to.reals)
      for (int b = 0; b < count(); ++b)
        if (b != i) at(to.strides, b) *= 2;
    if (is_last && is_last_half() && a.points == a.length && (p_.has_operator || scale_ == 1)) {
      Where out = to;
      out.place = {Side::output, 0};
      out.strides = users(true);
      if (at(out.strides, i) == 1 && in_one_call(i, out)) {
        out.cuts = {};
        to = out;
      }
    }
    cut_modes_ = false;
    add_lines({i}, to, false);
  }

  /// Whether all lines back along an axis are one call, from where they are to there.
  bool in_one_call(int i, const Where& to) const {
    return merge_loops(problem_of({i}, now_, to, false).loops).size() <= 1;
  }

  /// Some elements of each line along an axis.
  void clear(int i, Index first, Index n) { clear_part(i, first, n, parts_of({}).front()); }
  void clear_part(int i, Index first, Index n, const Part& part) {
    if (n == 0) return;
    const Index bytes = unit(now_.reals);
    Index offset = now_.place.offset;
    std::vector<FftDimension> loops;
    for (int b = 0; b < count(); ++b) {
      const Index begin = b == i ? first : at(part.first, b), extent = b == i ? n : at(part.extents, b);
      const Index stride = at(now_.strides, b) * bytes;
      offset += begin * stride;
      if (extent > 1) loops.push_back({extent, stride, stride});
    }
    std::ranges::sort(loops, std::greater{}, &FftDimension::from_stride);
    // The innermost loop is a run of bytes.
    if (!loops.empty() && loops.back().from_stride == bytes)
      loops.back() = {loops.back().n * bytes, 1, 1};
    else
      loops.push_back({bytes, 1, 1});
    steps_.emplace_back(ZeroStep{std::move(loops), offset});
  }
  /// The modes along an axis that are not kept, of part of the others.
  void clear_modes(int i, const Part& part) {
    const ResizedAxis& a = *axis(i).transformed;
    Index first = 0;
    for (const Kept& k : kept_modes(a)) {
      clear_part(i, first, k.first - first, part);
      first = k.first + k.n;
    }
    clear_part(i, first, all_modes(a) - first, part);
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
    const Index step = at(now_.strides, i) * element_;
    const Index positive = axis(i).is_r2c() ? a.modes - 1 : kept.front().n;
    const Index other = axis(i).is_r2c() ? 0 : kept.back().first - positive;
    steps_.emplace_back(
        NyquistStep{others(i, element_), now_.place.offset + positive * step, other * step, forward});
  }

  /// All kept modes of the block, or all points.
  void operate() {
    const Index bytes = unit(now_.reals);
    for (const Part& part : parts()) {
      OperatorStep step;
      step.offset = now_.place.offset;
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
        step.offset += at(part.first, b) * at(now_.strides, b) * bytes;
        step.box.lo[a] = at(part.among_kept, b);
        step.box.hi[a] = at(part.among_kept, b) + at(part.extents, b);
        step.strides[a] = at(now_.strides, b);
      }
      steps_.emplace_back(std::move(step));
    }
    for (int b = 0; b < count(); ++b)
      if (axis(b).loop != nullptr) at(now_.extents, b) = axis(b).loop->to;
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
  std::vector<Group> groups_;
  Where now_;
  std::vector<BlockStep> steps_;
};

}  // namespace

BlockSteps write_rows(const ResizedProblem& problem, const std::vector<ResizedLoop>& loops, bool aligned) {
  return RowWriter(problem, loops, aligned).run();
}

}  // namespace weft
