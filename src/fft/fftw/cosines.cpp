// After Makhoul: the points of even index in order, then those of odd index in reverse, have an FFT V of
// which the DCT-II is w^k V(k) + w^-k V(n - k) with w = exp(-i pi / 2n). The DCT-III does the inverse steps
// in reverse. The DSTs are the DCTs of x(0), -x(1), x(2), ..., with the result in reverse order. A block of
// lines that lie side by side is gathered, transformed and stored while it is in the cache.
#include "fft/fftw/cosines.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <numbers>
#include <type_traits>

#include "base/arithmetic.hpp"
#include "fft/fftw/names.hpp"
#include "fft/fftw/wisdom.hpp"
#include "fft/loops.hpp"
#include "weft/error.hpp"

namespace weft::fftw {

namespace {

constexpr Index least_points = 16, most_points = 4096, most_lines = 16;
// Of real numbers in a block, and of its spectra: n/2+1 complex ones a line.
constexpr std::size_t most_reals = most_points + most_lines, most_parts = most_points + 4 * most_lines;

bool is_sine(Transform t) {
  return t == Transform::dst2 || t == Transform::dst3;
}
bool is_second(Transform t) {
  return t == Transform::dct2 || t == Transform::dst2;
}

/// Along one axis.
template <class Real>
class Lines final : public LocalFft {
 public:
  using F = Fftw<Real>;
  using Complex = typename F::Complex;

  Lines(const FftDimension& axis, const std::vector<FftDimension>& loops, double scale, double seconds,
        unsigned flags)
      : axis_(axis), n_(axis.n), sine_(is_sine(axis.transform)), second_(is_second(axis.transform)) {
    std::vector<FftDimension> merged = merge_loops(loops);
    if (!merged.empty()) {
      side_ = merged.front();
      outer_.assign(merged.rbegin(), merged.rend() - 1);
    }
    lines_ = std::clamp(most_points / n_, Index{1}, std::clamp(side_.n, Index{1}, most_lines));
    for (Index k = 0; 2 * k <= n_; ++k) {
      const double angle = std::numbers::pi * static_cast<double>(k) / static_cast<double>(2 * n_);
      const double factor = second_ ? 2 * scale : scale;
      cosines_.push_back(static_cast<Real>(factor * std::cos(angle)));
      sines_.push_back(static_cast<Real>(factor * std::sin(angle)));
    }
    middle_ = static_cast<Real>(scale * std::numbers::sqrt2);
    first_ = static_cast<Real>(second_ ? 2 * scale : scale);
    Block block{};
    block_ = make(block, lines_, seconds, flags);
    if (lines_ > 1) single_ = make(block, 1, seconds, flags);
    if (block_ == nullptr || (lines_ > 1 && single_ == nullptr))
      throw Error("plan: local FFT", "FFTW made no plan for lines of " + std::to_string(n_) + " points",
                  "memory for planning, or another back end");
  }

  void execute(void* from, void* to, std::byte* /*work*/) const override {
    Block block;
    for_each_index(std::span<const FftDimension>(outer_), static_cast<const Real*>(from),
                   static_cast<Real*>(to), [&](const Real* x, Real* y) {
                     Index line = 0;
                     for (; line + lines_ <= side_.n; line += lines_)
                       run(block, block_.get(), lines_, x + line * side_.from_stride,
                           y + line * side_.to_stride);
                     for (; line < side_.n; ++line)
                       run(block, single_.get(), 1, x + line * side_.from_stride, y + line * side_.to_stride);
                   });
  }

 private:
  struct Block {
    alignas(64) std::array<Real, most_reals> reals;
    alignas(64) std::array<Real, most_parts> spectra;  // real and imaginary parts in turn
  };

  struct Destroyed {
    void operator()(typename F::Plan plan) const {
      const std::lock_guard lock(planner_mutex());
      F::destroy(plan);
    }
  };
  using Plan = std::unique_ptr<std::remove_pointer_t<typename F::Plan>, Destroyed>;

  Index parts() const { return 2 * (n_ / 2 + 1); }

  Plan make(Block& block, Index lines, double seconds, unsigned flags) const {
    const typename F::Dim line{n_, 1, 1};
    auto* spectra = reinterpret_cast<Complex*>(block.spectra.data());
    const std::lock_guard lock(planner_mutex());
    const PlanningLimit<Real> limit(seconds);
    if (second_) {
      const typename F::Dim loop{lines, n_, parts() / 2};
      return Plan(F::r2c(1, &line, 1, &loop, block.reals.data(), spectra, flags));
    }
    const typename F::Dim loop{lines, parts() / 2, n_};
    return Plan(F::c2r(1, &line, 1, &loop, spectra, block.reals.data(), flags));
  }

  void run(Block& block, typename F::Plan plan, Index lines, const Real* x, Real* y) const {
    auto* spectra = reinterpret_cast<Complex*>(block.spectra.data());
    if (second_) {
      gather(x, lines, block, [this](Index i) { return shuffled(i); });
      F::run_r2c(plan, block.reals.data(), spectra);
      for (Index line = 0; line < lines; ++line)
        to_cosines(&block.spectra[usize(line * parts())], &block.reals[usize(line * n_)]);
      store(
          y, lines, block, [this](Index k) { return sine_ ? n_ - 1 - k : k; }, false);
    } else {
      gather(
          x, lines, block, [this](Index k) { return sine_ ? n_ - 1 - k : k; }, false);
      for (Index line = 0; line < lines; ++line)
        from_cosines(&block.reals[usize(line * n_)], &block.spectra[usize(line * parts())]);
      F::run_c2r(plan, spectra, block.reals.data());
      store(y, lines, block, [this](Index i) { return shuffled(i); });
    }
  }

  static std::size_t usize(Index i) { return static_cast<std::size_t>(i); }
  /// Where point i of the array is in the FFT's line.
  Index shuffled(Index i) const { return i % 2 == 0 ? i / 2 : n_ - 1 - i / 2; }

  /// `alternates`: whether points of odd index of a DST change their sign.
  template <class Place>
  void gather(const Real* x, Index lines, Block& block, const Place& place, bool alternates = true) const {
    for (Index i = 0; i < n_; ++i) {
      const Real sign = alternates && sine_ && i % 2 == 1 ? Real(-1) : Real(1);
      const Real* points = x + i * axis_.from_stride;
      Real* to = &block.reals[usize(place(i))];
      for (Index line = 0; line < lines; ++line) to[line * n_] = sign * points[line * side_.from_stride];
    }
  }

  template <class Place>
  void store(Real* y, Index lines, const Block& block, const Place& place, bool alternates = true) const {
    for (Index i = 0; i < n_; ++i) {
      const Real sign = alternates && sine_ && i % 2 == 1 ? Real(-1) : Real(1);
      Real* points = y + i * axis_.to_stride;
      const Real* from = &block.reals[usize(place(i))];
      for (Index line = 0; line < lines; ++line) points[line * side_.to_stride] = sign * from[line * n_];
    }
  }

  void to_cosines(const Real* v, Real* y) const {
    y[0] = first_ * v[0];
    for (Index k = 1; 2 * k < n_; ++k) {
      const Real c = cosines_[usize(k)], s = sines_[usize(k)], re = v[2 * k], im = v[2 * k + 1];
      y[k] = c * re + s * im;
      y[n_ - k] = s * re - c * im;
    }
    if (n_ % 2 == 0) y[n_ / 2] = middle_ * v[n_];
  }

  void from_cosines(const Real* y, Real* v) const {
    v[0] = first_ * y[0];
    v[1] = 0;
    for (Index k = 1; 2 * k < n_; ++k) {
      const Real c = cosines_[usize(k)], s = sines_[usize(k)], here = y[k], there = y[n_ - k];
      v[2 * k] = c * here + s * there;
      v[2 * k + 1] = s * here - c * there;
    }
    if (n_ % 2 == 0) {
      v[n_] = middle_ * y[n_ / 2];
      v[n_ + 1] = 0;
    }
  }

  FftDimension axis_, side_{1, 0, 0};  ///< the line, and the loop over lines of a block
  std::vector<FftDimension> outer_;
  Index n_, lines_ = 1;
  bool sine_, second_;
  std::vector<Real> cosines_, sines_;
  Real middle_ = 0, first_ = 0;
  Plan block_, single_;  ///< of `lines_` lines, and of one
};

/// The axes one after the other: the first from input to output, the others in place.
class Axes final : public LocalFft {
 public:
  explicit Axes(std::vector<std::unique_ptr<const LocalFft>> axes) : axes_(std::move(axes)) {}
  void execute(void* from, void* to, std::byte* /*work*/) const override {
    axes_.front()->execute(from, to, nullptr);
    for (std::size_t i = 1; i < axes_.size(); ++i) axes_[i]->execute(to, to, nullptr);
  }

 private:
  std::vector<std::unique_ptr<const LocalFft>> axes_;
};

bool suitable(const FftProblem& p) {
  const auto one = [](const FftDimension& d) {
    return (is_second(d.transform) || d.transform == Transform::dct3 || d.transform == Transform::dst3) &&
           d.n >= least_points && d.n <= most_points;
  };
  const auto stays = [&](const FftDimension& d) { return !p.in_place || d.from_stride == d.to_stride; };
  return p.kind == FftKind::r2r && !p.dimensions.empty() && std::ranges::all_of(p.dimensions, one) &&
         std::ranges::all_of(p.dimensions, stays) && std::ranges::all_of(p.loops, stays);
}

template <class Real>
std::unique_ptr<const LocalFft> lines(const FftProblem& p, std::size_t axis, unsigned flags) {
  const bool first = axis == 0;
  const auto seen = [&](FftDimension d) {
    if (!first) d.from_stride = d.to_stride;
    return d;
  };
  std::vector<FftDimension> loops;
  for (const FftDimension& d : p.loops) loops.push_back(seen(d));
  for (std::size_t i = 0; i < p.dimensions.size(); ++i)
    if (i != axis) loops.push_back(seen(p.dimensions[i]));
  // Of each axis there are two plans.
  const double seconds = p.planning_seconds / (2 * static_cast<double>(p.dimensions.size()));
  return std::make_unique<Lines<Real>>(seen(p.dimensions[axis]), loops, first ? p.scale : 1.0, seconds,
                                       flags);
}

}  // namespace

std::shared_ptr<const LocalFft> plan_cosines(const FftProblem& p, unsigned flags) {
  if (!suitable(p)) return nullptr;
  std::vector<std::unique_ptr<const LocalFft>> axes;
  for (std::size_t axis = 0; axis < p.dimensions.size(); ++axis)
    axes.push_back(p.precision == Precision::float64 ? lines<double>(p, axis, flags)
                                                     : lines<float>(p, axis, flags));
  if (axes.size() == 1) return std::move(axes.front());
  return std::make_shared<Axes>(std::move(axes));
}

}  // namespace weft::fftw
