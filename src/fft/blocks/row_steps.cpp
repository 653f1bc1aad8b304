#include <algorithm>
#include <functional>
#include <utility>

#include "fft/blocks/line_halves.hpp"
#include "fft/blocks/row_state.hpp"
#include "fft/loops.hpp"

namespace weft {

namespace {

class RowWriter : RowState {
 public:
  using RowState::RowState;

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
  void go_forward() {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (groups_[g].rows)
        forward_rows(groups_[g].axes.front());
      else
        forward_whole(groups_[g].axes, g + 1 == groups_.size());
    }
    if (!is_last_half()) return;
    if (p_.columns) return columns(false);
    if (splits()) return halves(false);
    leave(false);
  }

  void go_backward() {
    if (p_.columns && !is_second_) columns(true);
    if (splits()) halves(true);
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
    for (const RowPart& part : parts()) copy_part(part, part.first, part.among_kept, to, strides, scale);
    now_.place = to;
    now_.strides = strides;
    now_.cuts = now_.whole = {};
  }
  /// Copies modes to where they are among all of some axes.
  void spread(const std::vector<int>& axes, const Place& to, const std::vector<Index>& strides) {
    const double scale = std::exchange(scale_, 1);
    now_.cuts = {};  // points begin at 0
    for (const RowPart& part : parts_of(axes))
      copy_part(part, part.among_kept, part.first, to, strides, scale);
    now_.place = to;
    now_.strides = strides;
  }
  void copy_part(const RowPart& part, const std::vector<Index>& from, const std::vector<Index>& to,
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
    steps_.emplace_back(step);
  }

  /// A transform along axes that have all points, to the output of the block if it is the last one and keeps
  /// all modes.
  void forward_whole(const std::vector<int>& axes, bool is_last) {
    const bool cut = std::ranges::any_of(axes, [&](int i) { return is_cut(i); });
    transform_whole(axes, true, is_last && !cut && !p_.columns && !splits());
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
      spread(axes, free_half(), dense_like(users(true), extents));  // an order that suits the points
    }
    for (const int i : axes) at(now_.extents, i) = all_modes(*axis(i).transformed);
    now_.cuts = {};
    std::vector<int> before;
    for (const int i : axes) {
      for (const RowPart& part : parts_of(before)) clear_modes(i, part);
      before.push_back(i);
    }
    for (const int i : axes)
      if (folds(*axis(i).transformed, p_.nyquist)) fold(i, false);
    transform_whole(axes, false, is_last);
  }

  void transform_whole(const std::vector<int>& axes, bool forward, bool may_leave) {
    const bool r2c = std::ranges::any_of(axes, [&](int i) { return axis(i).is_r2c(); });
    const bool direct = may_leave && is_last_half() && now_.place.side != Side::input;
    RowsNow to = now_;
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

  void add_lines(const std::vector<int>& axes, const RowsNow& to, bool forward, double scale = 1) {
    LinesStep step{problem_of(axes, to, forward), now_.place, to.place};
    step.fft.scale = scale;
    now_ = to;
    steps_.emplace_back(std::move(step));
  }

  /// In rows: points that are not there become zero, modes that are not kept are left where they are.
  void forward_rows(int i) {
    const ResizedAxis& a = *axis(i).transformed;
    if (!is_in_rows(i)) copy(free_half(), dense(now_.extents, i, row_of(i, now_.reals)));
    clear(i, a.points, a.length - a.points);
    RowsNow to = now_;
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
  void backward_rows(int i, bool is_last) {
    const ResizedAxis& a = *axis(i).transformed;
    if (!is_in_rows(i)) spread({i}, free_half(), dense(now_.extents, i, row_of(i, false)));
    now_.cuts = {};
    clear_modes(i, parts_of({}).front());
    if (folds(a, p_.nyquist)) fold(i, false);
    RowsNow to = now_;
    to.reals = axis(i).is_r2c();
    at(to.extents, i) = a.points;
    to.cuts = to.reals || a.points != a.length ? std::vector<int>{i} : std::vector<int>{};
    to.whole = {i};
    if (to.reals)
      for (int b = 0; b < count(); ++b)
        if (b != i) at(to.strides, b) *= 2;
    if (is_last && is_last_half() && a.points == a.length && (p_.has_operator || scale_ == 1)) {
      RowsNow out = to;
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
  bool in_one_call(int i, const RowsNow& to) const {
    return merge_loops(problem_of({i}, to, false).loops).size() <= 1;
  }

  /// Some elements of each line along an axis.
  void clear(int i, Index first, Index n) { clear_part(i, first, n, parts_of({}).front()); }
  void clear_part(int i, Index first, Index n, const RowPart& part) {
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
  void clear_modes(int i, const RowPart& part) {
    const ResizedAxis& a = *axis(i).transformed;
    Index first = 0;
    for (const Kept& k : kept_modes(a)) {
      clear_part(i, first, k.first - first, part);
      first = k.first + k.n;
    }
    clear_part(i, first, all_modes(a) - first, part);
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
    for (const RowPart& part : parts()) {
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
      steps_.emplace_back(step);
    }
    for (int b = 0; b < count(); ++b)
      if (axis(b).loop != nullptr) at(now_.extents, b) = axis(b).loop->to;
  }

  /// Strides of the user's points; where there are none, any in C order.
  std::vector<Index> order_of_points() const {
    if (!p_.has_operator) return users(true);
    std::vector<Index> strides;
    for (const RowAxis& a : axes_) strides.push_back(p_.ndim - a.number());
    return strides;
  }

  /// Between the modes of all columns in the user's array and in work memory.
  void columns(bool in) {
    const bool planes = p_.columns_part == ColumnsPart::planes;
    const std::vector<Index> of_user = users(false);
    if (in) {
      std::vector<Index> extents;
      for (const RowAxis& a : axes_)
        extents.push_back(a.loop != nullptr ? loop_extent(a) : all_modes(*a.transformed));
      now_.strides = dense_like(order_of_points(), extents);
      now_.extents = extents;
      now_.place = {Side::work, 0};
      if (planes) {
        Index all = element_;
        for (const Index n : extents) all *= n;
        steps_.emplace_back(ZeroStep{{{all, 1, 1}}, 0});
      }
    }
    std::vector<ColumnsAxis> all;
    for (int b = 0; b < count(); ++b)
      all.push_back({axis(b).number(), axis(b).transformed, at(now_.extents, b), at(of_user, b) * element_,
                     at(now_.strides, b) * element_});
    ColumnsStep step = columns_step(p_, in, all);
    step.scale = std::exchange(scale_, 1);
    step.offset = now_.place.offset;
    steps_.emplace_back(std::move(step));
  }

  bool splits() const { return p_.halves.stage == Halves::split; }

  /// Between the halves of a real line in the user's array and all modes in work memory.
  void halves(bool in) {
    const std::vector<Index> of_user = users(false);
    if (in) {
      now_.strides = dense_like(users(true), now_.extents);
      now_.place = free_half();
    }
    const double scale = std::exchange(scale_, 1);
    for (const RowPart& part : in ? parts_of({}) : parts()) {
      std::vector<HalvesAxis> axes;
      Index user = 0, work = now_.place.offset;
      for (int i = 0; i < count(); ++i) {
        axes.push_back({axis(i).number(), at(part.extents, i), at(of_user, i) * element_,
                        at(now_.strides, i) * element_, axis(i).number() == p_.halves.second_axis});
        user += at(part.among_kept, i) * axes.back().user_stride;
        work += at(part.first, i) * axes.back().work_stride;
      }
      split_halves(p_, in, axes, user, work, scale, steps_);
    }
  }

  double scale_ = 1;  ///< what nothing has multiplied by yet; the next copy does, as transforms are linear
  std::vector<BlockStep> steps_;
};

}  // namespace

BlockSteps write_rows(const ResizedProblem& problem, const std::vector<ResizedLoop>& loops, bool aligned) {
  return RowWriter(problem, loops, aligned).run();
}

}  // namespace weft
