#include "fft/threads/resized_fft.hpp"

#include <algorithm>
#include <complex>
#include <cstring>
#include <functional>

#include "base/arithmetic.hpp"
#include "fft/loops.hpp"
#include "geometry/grid.hpp"
#include "geometry/transform.hpp"

namespace weft {

namespace {

using Place = ResizedFft::Place;
using Side = ResizedFft::Side;
using Plan = PlannedFft (*)(std::span<const FftRow* const>, const FftProblem&);

/// Work memory of a block, for each thread: as much as stays in the second-level cache with what is read and
/// written beside it.
constexpr Index block_bytes = 128 << 10;
constexpr Index line_bytes = 64;
/// Of neighbours in memory that a block takes.
constexpr Index shortest_run = 4 * line_bytes;

/// Kept modes that lie together, by their index among all modes and among the kept ones.
struct Kept {
  Index first, n, among_kept;
};

/// An axis of a block in work memory: one that is transformed, or a loop.
struct BlockAxis {
  Index n = 1;       ///< in work memory: all modes
  Index points = 1;  ///< of the array; the others are zero
  Index points_stride, modes_stride, work_stride = 0;
  const ResizedAxis* transformed = nullptr;
  std::vector<Kept> kept;  ///< none: a loop
};

/// A box in work memory that has only kept modes along some axes.
struct WorkPart {
  Shape extents;
  Index work = 0, modes = 0;  ///< where it begins, in elements
};

Index all_modes(const ResizedAxis& a) {
  return a.transform == Transform::r2c ? a.length / 2 + 1 : a.length;
}

std::vector<Kept> kept_modes(const ResizedAxis& a) {
  const Index positive = divided_up<Index>(a.modes, 2), negative = a.modes / 2;
  if (a.transform != Transform::c2c || a.modes == a.length || negative == 0) return {{0, a.modes, 0}};
  return {{0, positive, 0}, {a.length - negative, negative, positive}};
}

bool has_r2c(const ResizedProblem& p) {
  return std::ranges::any_of(p.axes, [](const auto& a) { return a.transform == Transform::r2c; });
}

/// Whether the last kept mode stands for two of all.
bool folds(const ResizedAxis& a, ModesNyquist nyquist) {
  if (a.modes == all_modes(a) || a.modes < 2) return false;
  if (a.transform == Transform::r2c) return nyquist == ModesNyquist::shared;
  return a.transform == Transform::c2c && a.modes % 2 == 0 && nyquist != ModesNyquist::single;
}

/// Writes the steps of one block.
class BlockWriter {
 public:
  /// `loops`: those of a block. Offsets of blocks are multiples of 16 bytes if `aligned`.
  BlockWriter(const ResizedProblem& p, const std::vector<FftDimension>& loops, bool aligned,
              std::span<const FftRow* const> rows, int threads, Plan plan)
      : p_(p), aligned_(aligned), rows_(rows), threads_(threads), plan_(plan) {
    forward_ = p.direction == Direction::forward;
    complex_modes_ = has_r2c(p) || p.points == Element::complex;
    element_ = (complex_modes_ ? 2 : 1) * real_bytes(p.precision);
    for (const ResizedAxis& a : p.axes) {
      order_.push_back(static_cast<int>(axes_.size()));
      axes_.push_back({all_modes(a), a.points, forward_ ? a.from_stride : a.to_stride,
                       forward_ ? a.to_stride : a.from_stride, 0, &a, kept_modes(a)});
    }
    for (const FftDimension& d : loops)
      axes_.push_back({d.n,
                       d.n,
                       forward_ ? d.from_stride : d.to_stride,
                       forward_ ? d.to_stride : d.from_stride,
                       0,
                       nullptr,
                       {}});
    // Real data first become complex, then rows come first.
    std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) {
      const bool ra = is_r2c(a), rb = is_r2c(b);
      return ra != rb ? ra : axis(a).points_stride < axis(b).points_stride;
    });
    place_work();
    const BlockAxis& first = axis(order_.front());
    const bool in_rows = std::ranges::all_of(
        axes_, [&](const BlockAxis& a) { return a.n == 1 || a.points_stride >= first.points_stride; });
    direct_ = first.points == first.transformed->length && (in_rows || is_r2c(order_.front()));
  }

  std::vector<ResizedFft::Step> run() {
    forward_ ? forward() : backward();
    return std::move(steps_);
  }
  Index work_bytes() const { return work_ * element_; }
  const FftRow* row() const { return row_; }

 private:
  BlockAxis& axis(int i) { return at(axes_, i); }
  bool is_r2c(int i) const {
    const BlockAxis& a = at(axes_, i);
    return a.transformed != nullptr && a.transformed->transform == Transform::r2c;
  }

  /// Dense in the order of the points, but for some room where strides would meet in few cache sets. Lines of
  /// real data are contiguous.
  void place_work() {
    std::vector<BlockAxis*> sorted;
    for (BlockAxis& a : axes_) sorted.push_back(&a);
    std::ranges::stable_sort(sorted, {}, &BlockAxis::points_stride);
    std::stable_partition(sorted.begin(), sorted.end(), [](const BlockAxis* a) {
      return a->transformed != nullptr && a->transformed->transform == Transform::r2c;
    });
    work_ = 1;
    for (BlockAxis* a : sorted) {
      a->work_stride = work_;
      work_ *= a->n;
      if (work_ * element_ % (4 * line_bytes) == 0) work_ += line_bytes / element_;
    }
  }

  /// The boxes of the points along the axes but `done` ones, of which the kept modes are there; `without` is
  /// left out.
  std::vector<WorkPart> parts(const std::vector<int>& done, int without = -1) {
    std::vector<WorkPart> all(1);
    all[0].extents = Shape(static_cast<int>(axes_.size()), 1);
    for (int i = 0; i < static_cast<int>(axes_.size()); ++i)
      if (i != without)
        for (WorkPart& p : all) p.extents[i] = axis(i).points;
    for (const int i : done) {
      std::vector<WorkPart> finer;
      for (const WorkPart& p : all)
        for (const Kept& k : axis(i).kept) {
          finer.push_back(p);
          finer.back().extents[i] = k.n;
          finer.back().work += k.first * axis(i).work_stride;
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
      if (first && !direct_) copy_points();
      for (const WorkPart& part : parts(done, i)) clear_points(i, part);
      for (const WorkPart& part : parts(done, i)) transform(i, part, first && direct_);
      if (folds(*axis(i).transformed, p_.nyquist))
        for (const WorkPart& part : parts(done, i)) fold(i, part);
      done.push_back(i);
    }
    for (const WorkPart& part : parts(done)) copy_modes(part);
  }

  void backward() {
    std::vector<int> left = order_;
    for (const WorkPart& part : parts(left)) copy_modes(part);
    while (!left.empty()) {
      const int i = left.back();
      left.pop_back();
      const bool last = left.empty();
      for (const WorkPart& part : parts(left, i)) {
        clear_modes(i, part);
        if (folds(*axis(i).transformed, p_.nyquist)) fold(i, part);
        transform(i, part, last && direct_);
      }
      if (last && !direct_) copy_points();
    }
  }

  /// One axis of a part, in place in work memory, or between the points of the user and there.
  void transform(int i, const WorkPart& part, bool direct) {
    const ResizedAxis& a = *axis(i).transformed;
    FftProblem f;
    f.precision = p_.precision;
    f.direction = p_.direction;
    f.effort = p_.effort;
    f.planning_seconds = p_.planning_seconds;
    f.in_place = !direct;
    f.may_destroy_input = !direct || !forward_;
    f.kind = is_r2r(a.transform) ? FftKind::r2r : is_r2c(i) ? FftKind::real : FftKind::c2c;
    const Index unit = f.kind == FftKind::r2r && complex_modes_ ? 2 : 1;
    const auto dimension = [&](int b, Index n) {
      const Index points = direct ? axis(b).points_stride : is_r2c(i) ? real_stride(b) : axis(b).work_stride;
      const Index from = forward_ ? points : axis(b).work_stride,
                  to = forward_ ? axis(b).work_stride : points;
      return FftDimension{n, from * unit, to * unit};
    };
    f.dimensions.push_back(dimension(i, a.length));
    if (f.kind == FftKind::r2r)
      f.dimensions.back().transform = forward_ ? a.transform : opposite(a.transform);
    for (int b = 0; b < static_cast<int>(axes_.size()); ++b)
      if (b != i && part.extents[b] > 1) f.loops.push_back(dimension(b, part.extents[b]));
    if (unit == 2) f.loops.push_back({2, 1, 1});
    const Place work{Side::work, part.work * element_}, points{forward_ ? Side::input : Side::output, 0};
    f.aligned = work.offset % 16 == 0 && (!direct || aligned_);
    auto fft = std::make_shared<const ParallelFft>(f, rows_, threads_, plan_);
    row_ = &fft->row();
    steps_.emplace_back(ResizedFft::FftOfLines{std::move(fft), direct && forward_ ? points : work,
                                               direct && !forward_ ? points : work});
  }

  /// The step along an axis in work memory, in real numbers, while the r2c axis has real ones.
  Index real_stride(int b) const { return is_r2c(b) ? 1 : 2 * at(axes_, b).work_stride; }

  void copy_points() {
    const bool reals = is_r2c(order_.front());
    Strides users, works;
    for (int b = 0; b < static_cast<int>(axes_.size()); ++b) {
      users.push_back(axis(b).points_stride);
      works.push_back(reals ? real_stride(b) : axis(b).work_stride);
    }
    copy(parts({}).front().extents, users, works, reals ? element_ / 2 : element_,
         {forward_ ? Side::input : Side::output, 0}, {Side::work, 0}, forward_, 1);
  }

  void copy_modes(const WorkPart& part) {
    Strides users, works;
    for (const BlockAxis& b : axes_) {
      users.push_back(b.modes_stride);
      works.push_back(b.work_stride);
    }
    copy(part.extents, users, works, element_, {forward_ ? Side::output : Side::input, part.modes * element_},
         {Side::work, part.work * element_}, !forward_, p_.scale);
  }

  void copy(const Shape& extents, const Strides& users, const Strides& works, Index element, Place user,
            Place work, bool in, double scale) {
    const CopyManner manner{scale, static_cast<int>(real_bytes(p_.precision))};
    steps_.emplace_back(ResizedFft::Copy{
        PermuteCopy(extents, in ? users : works, in ? works : users, static_cast<int>(element), manner),
        in ? user : work, in ? work : user});
  }

  /// Loops over a part, with `n` elements along axis `i`.
  std::vector<FftDimension> loops_over(int i, const WorkPart& part, Index n) {
    std::vector<FftDimension> loops;
    for (int b = 0; b < static_cast<int>(axes_.size()); ++b) {
      const Index extent = b == i ? n : part.extents[b], stride = axis(b).work_stride * element_;
      if (extent > 1) loops.push_back({extent, stride, stride});
    }
    std::ranges::sort(loops, std::greater{}, &FftDimension::from_stride);
    return loops;
  }

  /// The modes along axis `i` that are not there.
  void clear_modes(int i, const WorkPart& part) {
    const BlockAxis& a = axis(i);
    const Index first = a.kept.front().n;
    clear(i, part, first, (a.kept.size() == 2 ? a.kept[1].first : a.n) - first, element_);
  }
  /// The points along axis `i` that are not there.
  void clear_points(int i, const WorkPart& part) {
    const BlockAxis& a = axis(i);
    clear(i, part, a.points, a.transformed->length - a.points, is_r2c(i) ? element_ / 2 : element_);
  }
  void clear(int i, const WorkPart& part, Index first, Index n, Index element) {
    if (n == 0) return;
    const BlockAxis& a = axis(i);
    const bool along = a.work_stride == 1;  // in runs
    std::vector<FftDimension> loops = loops_over(i, part, along ? 1 : n);
    Index run = along ? n : 1;
    if (!along && !loops.empty() && loops.back().from_stride == element) {
      run = loops.back().n;
      loops.pop_back();
    }
    loops.push_back({run * element, 1, 1});
    steps_.emplace_back(
        ResizedFft::Zero{std::move(loops), part.work * element_ + first * a.work_stride * element});
  }

  void fold(int i, const WorkPart& part) {
    const BlockAxis& a = axis(i);
    const Index positive = is_r2c(i) ? a.transformed->modes - 1 : a.kept.front().n;
    const Index other = is_r2c(i) ? 0 : a.kept.back().first - positive;
    steps_.emplace_back(ResizedFft::Nyquist{loops_over(i, part, 1),
                                            (part.work + positive * a.work_stride) * element_,
                                            other * a.work_stride * element_});
  }

  const ResizedProblem& p_;
  bool aligned_, forward_ = true, complex_modes_ = true, direct_ = false;
  std::span<const FftRow* const> rows_;
  int threads_;
  Plan plan_;
  Index element_ = 16, work_ = 1;
  std::vector<BlockAxis> axes_;
  std::vector<int> order_;  ///< in which forward transforms
  std::vector<ResizedFft::Step> steps_;
  const FftRow* row_ = nullptr;
};

/// Calls f(begin of a slice) for one of `parts` slices of the outermost loop.
template <class F>
void each_of_part(std::span<const FftDimension> loops, std::byte* at, int part, int parts, const F& f) {
  if (loops.empty()) {
    if (part == 0) f(at);
    return;
  }
  const FftDimension& outer = loops.front();
  const Range slice = split(outer.n, parts, part);
  for (Index i = slice.lo; i < slice.hi; ++i) {
    std::byte* const start = at + i * outer.from_stride;
    for_each_index(loops.subspan(1), start, start, [&](std::byte* here, std::byte*) { f(here); });
  }
}

}  // namespace

ResizedFft::ResizedFft(const ResizedProblem& problem, std::span<const FftRow* const> rows, int threads,
                       Plan plan)
    : precision_(problem.precision), direction_(problem.direction), threads_(threads) {
  const bool forward = direction_ == Direction::forward;
  const Index unit = 2 * real_bytes(precision_);
  const Index points_unit = problem.points == Element::complex ? unit : unit / 2;
  const Index modes_unit = has_r2c(problem) ? unit : points_unit;
  const auto bytes = [&](const FftDimension& d, Index n, Index times) {
    return FftDimension{n, d.from_stride * times * (forward ? points_unit : modes_unit),
                        d.to_stride * times * (forward ? modes_unit : points_unit)};
  };
  // Blocks take whole loops, those over neighbours in memory first, and part of the first one that is too
  // long.
  std::vector<FftDimension> loops = problem.loops, block, places;
  std::ranges::stable_sort(loops, {}, forward ? &FftDimension::from_stride : &FftDimension::to_stride);
  Index size = unit, rest = 0;
  std::size_t cut = loops.size();
  for (const ResizedAxis& a : problem.axes) size *= all_modes(a);
  for (std::size_t i = 0; i < loops.size(); ++i) {
    const FftDimension& d = loops[i];
    // Of neighbours in memory at least so many that runs are not short.
    const bool neighbours = d.from_stride == 1 || d.to_stride == 1;
    const Index least = neighbours ? std::max<Index>(1, shortest_run / unit) : 1;
    const Index most = std::clamp<Index>(threads * block_bytes / size, std::min(least, d.n), d.n);
    const Index pieces = divided_up(d.n, most), even = divided_up(d.n, pieces);
    const Index n = std::min(d.n, neighbours ? rounded_up<Index>(even, line_bytes / unit) : even);
    block.push_back(d);
    block.back().n = n;
    size *= n;
    if (n == d.n) continue;
    if (cut == loops.size()) {
      cut = i;
      rest = d.n % n;
      places.push_back(bytes(d, d.n / n, n));
    } else {
      places.push_back(bytes(d, d.n, 1));
    }
    if (n > 1) size = std::max(size, threads * block_bytes);  // slower loops are left outside
  }
  std::ranges::reverse(places);
  const auto add = [&](const std::vector<FftDimension>& part, std::vector<FftDimension> where, Index from,
                       Index to) {
    const auto on_16 = [&](Index offset) { return offset % 16 == 0; };
    const bool aligned =
        problem.aligned && on_16(from) && on_16(to) && std::ranges::all_of(where, [&](const FftDimension& d) {
          return d.n == 1 || (on_16(d.from_stride) && on_16(d.to_stride));
        });
    BlockWriter writer(problem, part, aligned, rows, threads, plan);
    blocks_.push_back({writer.run(), std::move(where), from, to});
    work_bytes_ = std::max(work_bytes_, writer.work_bytes());
    row_ = writer.row();
  };
  add(block, places, 0, 0);
  if (rest == 0) return;
  block[cut].n = rest;
  const FftDimension behind = bytes(loops[cut], 1, loops[cut].n - rest);
  places.pop_back();  // that of the cut loop is the innermost
  add(block, places, behind.from_stride, behind.to_stride);
}

template <class Real>
void ResizedFft::fold(const Nyquist& step, std::byte* work, int part, int parts) const {
  using Complex = std::complex<Real>;
  const bool forward = direction_ == Direction::forward;
  each_of_part(step.loops, work + step.offset, part, parts, [&](std::byte* at) {
    Complex& positive = *reinterpret_cast<Complex*>(at);
    Complex& negative = *reinterpret_cast<Complex*>(at + step.other);
    if (step.other == 0) {
      positive = forward ? 2 * positive.real() : positive.real() / 2;
    } else if (forward) {
      negative += positive;
    } else {
      positive = negative = negative / Real{2};
    }
  });
}

void ResizedFft::run(const Blocks& blocks, std::byte* from, std::byte* to, std::byte* work,
                     ThreadPool* pool) const {
  const auto address = [&](const Place& p) {
    return (p.side == Side::work ? work : p.side == Side::input ? from : to) + p.offset;
  };
  const auto in_parts = [&](const auto& f) {
    if (pool == nullptr) {
      f(0, 1);
    } else {
      pool->run(threads_, [&](int part) { f(part, threads_); });
    }
  };
  for (const Step& step : blocks.steps) {
    if (const auto* fft = std::get_if<FftOfLines>(&step)) {
      fft->fft->execute(address(fft->from), address(fft->to), nullptr, pool);
    } else if (const auto* copy = std::get_if<Copy>(&step)) {
      const std::byte* const read = address(copy->from);
      std::byte* const write = address(copy->to);
      in_parts([&](int part, int parts) { copy->copy.run_part(read, write, part, parts); });
    } else if (const auto* nothing = std::get_if<Zero>(&step)) {
      const std::span<const FftDimension> runs(nothing->loops.data(), nothing->loops.size() - 1);
      const auto bytes = static_cast<std::size_t>(nothing->loops.back().n);
      in_parts([&](int part, int parts) {
        each_of_part(runs, work + nothing->offset, part, parts,
                     [&](std::byte* run) { std::memset(run, 0, bytes); });
      });
    } else {
      const auto& nyquist = std::get<Nyquist>(step);
      in_parts([&](int part, int parts) {
        precision_ == Precision::float64 ? fold<double>(nyquist, work, part, parts)
                                         : fold<float>(nyquist, work, part, parts);
      });
    }
  }
}

void ResizedFft::execute(std::byte* from, std::byte* to, std::byte* work, ThreadPool* pool) const {
  for (const Blocks& b : blocks_)
    for_each_index(std::span<const FftDimension>(b.places), from + b.from_offset, to + b.to_offset,
                   [&](std::byte* f, std::byte* t) { run(b, f, t, work, pool); });
}

}  // namespace weft
