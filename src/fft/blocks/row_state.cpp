#include "fft/blocks/row_state.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "geometry/transform.hpp"

namespace weft {

RowState::RowState(const ResizedProblem& p, const std::vector<ResizedLoop>& loops, bool aligned)
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
    return ra != rb ? ra : at(users(true), a) < at(users(true), b);
  });
  groups_ = groups();
}

std::vector<Index> RowState::users(bool points) const {
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
Index RowState::loop_extent(const RowAxis& a) const {
  const bool after = p_.has_operator && is_second_;
  return after ? a.loop->to : a.loop->from;
}

void RowState::begin(bool points) {
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
std::vector<RowGroup> RowState::groups() const {
  constexpr double worth = 0.5;
  std::vector<RowGroup> all;
  bool cut = false;
  for (std::size_t k = 0; k < order_.size(); ++k) {
    const int i = order_[k];
    const auto has_points = [&](int j) { return axis(j).transformed->points == axis(j).transformed->length; };
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
bool RowState::is_cut(int i) const {
  return axis(i).transformed->modes != all_modes(*axis(i).transformed);
}
double RowState::kept_share(int i) const {
  const ResizedAxis& a = *axis(i).transformed;
  return static_cast<double>(a.modes) / static_cast<double>(all_modes(a));
}
bool RowState::is_dct(int i) const {
  return is_r2r(axis(i).transformed->transform);
}

BlockPlace RowState::free_half() {
  const bool second = now_.place.side == Side::work && now_.place.offset == 0;
  if (second) halves_ = 2;
  return {Side::work, second ? half_ : 0};
}

/// The axes of the block from the one with the shortest stride; the arrays of a batch come last, as an
/// operator may change their number.
std::vector<int> RowState::by_stride(const std::vector<Index>& strides) const {
  std::vector<int> all(axes_.size());
  std::iota(all.begin(), all.end(), 0);
  std::stable_sort(all.begin(), all.end(), [&](int a, int b) {
    const bool batch = is_batch(a), other = is_batch(b);
    return batch != other ? other : at(strides, a) < at(strides, b);
  });
  return all;
}
bool RowState::is_batch(int i) const {
  return p_.has_operator && axis(i).number() == p_.batch_axis;
}

std::vector<Index> RowState::dense(const std::vector<Index>& extents, int first, Index row) const {
  return dense_in(by_stride(now_.strides), extents, first, row);
}
std::vector<Index> RowState::dense_like(const std::vector<Index>& strides,
                                        const std::vector<Index>& extents) const {
  return dense_in(by_stride(strides), extents, -1, 0);
}
std::vector<Index> RowState::dense_in(const std::vector<int>& order, const std::vector<Index>& extents,
                                      int first, Index row) const {
  std::vector<Index> strides(axes_.size(), 1);
  Index next = first < 0 ? 1 : row;
  for (const int i : order) {
    if (i == first) continue;
    at(strides, i) = next;
    next *= is_batch(i) ? axis(i).loop->most() : at(extents, i);
  }
  return strides;
}

bool RowState::is_in_rows(int i) const {
  return now_.place.side == Side::work && now_.whole == std::vector<int>{i} && at(now_.strides, i) == 1;
}

std::vector<RowPart> RowState::parts_of(const std::vector<int>& axes) const {
  const std::vector<Index> zeros(axes_.size(), 0);
  std::vector<RowPart> all{{zeros, zeros, now_.extents}};
  for (const int i : axes) {
    std::vector<RowPart> finer;
    for (const RowPart& p : all)
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

FftProblem RowState::problem_of(const std::vector<int>& axes, const RowsNow& to, bool forward) const {
  FftProblem f;
  f.precision = p_.precision;
  f.direction = forward ? Direction::forward : Direction::backward;
  f.effort = p_.effort;
  f.planning_seconds = p_.planning_seconds;
  f.in_place = now_.place.side == to.place.side && now_.place.offset == to.place.offset;
  f.may_destroy_input = now_.place.side == Side::work;
  const auto aligned = [&](const Place& p) {
    return p.offset % 16 == 0 && (p.side == Side::work || aligned_);
  };
  f.aligned = aligned(now_.place) && aligned(to.place);
  const bool dct = is_dct(axes.front());
  f.kind = dct ? FftKind::r2r : FftKind::c2c;
  const Index parts = dct && complex_modes_ ? 2 : 1;
  const auto dimension = [&](int i, Index n) {
    return FftDimension{n, at(now_.strides, i) * parts, at(to.strides, i) * parts};
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
    if (std::ranges::find(axes, i) == axes.end() && at(now_.extents, i) > 1)
      f.loops.push_back(dimension(i, at(now_.extents, i)));
  if (parts == 2) f.loops.push_back({2, 1, 1});
  return f;
}

Index RowState::row_of(int i, bool reals) const {
  const ResizedAxis& a = *axis(i).transformed;
  return reals ? 2 * all_modes(a) : a.transform == Transform::r2c ? all_modes(a) : a.length;
}

std::vector<FftDimension> RowState::others(int i, Index bytes) const {
  std::vector<FftDimension> loops;
  for (int b = 0; b < count(); ++b)
    if (b != i && at(now_.extents, b) > 1)
      loops.push_back({at(now_.extents, b), at(now_.strides, b) * bytes, at(now_.strides, b) * bytes});
  std::ranges::sort(loops, std::greater{}, &FftDimension::from_stride);
  return loops;
}

}  // namespace weft
