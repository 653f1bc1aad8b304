#include "fft/fftw/passes.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include "base/arithmetic.hpp"
#include "base/cache.hpp"
#include "fft/loops.hpp"
#include "kernels/cpu/permute_copy.hpp"

namespace weft::fftw {

namespace {

constexpr Index shortest_line = 16;

bool is_power_of_two(Index n) {
  return std::has_single_bit(static_cast<std::uint64_t>(n));
}

/// Whether in place every line is where it was.
bool lies_alike(const FftProblem& p) {
  const bool forward = p.direction == Direction::forward;
  const auto reals = [&](bool input) { return p.kind == FftKind::real && input == forward; };
  const auto stays = [&](const FftDimension& d) {
    return d.from_stride * (reals(true) ? 1 : 2) == d.to_stride * (reals(false) ? 1 : 2);
  };
  for (std::size_t i = 0; i < p.dimensions.size(); ++i) {
    const FftDimension& d = p.dimensions[i];
    const bool real = p.kind == FftKind::real && i + 1 == p.dimensions.size();
    if (real ? d.from_stride != 1 || d.to_stride != 1 : !stays(d)) return false;
  }
  return std::ranges::all_of(p.loops, stays);
}

/// The memory that a pass reads or writes: the user's two arrays, or a half of work memory.
enum class Place { input, output, first, second };

/// An axis of the block: a dimension of the transform or a loop.
struct Axis {
  FftDimension user;
  Index n;  ///< complex numbers
  bool real = false;
};

/// A transform along one axis, or a copy.
struct Pass {
  std::unique_ptr<const LocalFft> fft;
  std::optional<PermuteCopy> copy;
  Place from, to;
};

/// What is done with each of some blocks.
class Passes final : public LocalFft {
 public:
  std::vector<Pass> passes;
  std::vector<FftDimension> outer;  ///< over blocks, strides in bytes, the outermost first
  Index begin = 0;                  ///< bytes to the first block on either side
  Index half = 0;                   ///< bytes of a half of work memory
  int halves = 1;

  Index work_bytes() const override { return half * halves; }
  void execute(void* from, void* to, std::byte* work) const override {
    const auto block = [&](std::byte* read, std::byte* write) {
      const auto at = [&](Place p) {
        return p == Place::input ? read : p == Place::output ? write : p == Place::first ? work : work + half;
      };
      for (const Pass& pass : passes) {
        if (pass.copy)
          pass.copy->run(at(pass.from), at(pass.to));
        else
          pass.fft->execute(at(pass.from), at(pass.to), nullptr);
      }
    };
    for_each_index(std::span<const FftDimension>(outer), static_cast<std::byte*>(from) + begin,
                   static_cast<std::byte*>(to) + begin, block);
  }
};

/// Transforms one after the other, some of them in place on one side.
class Stages final : public LocalFft {
 public:
  enum class Sides { both, input, output };

  void add(std::shared_ptr<const LocalFft> fft, Sides sides) {
    work_bytes_ = std::max(work_bytes_, fft->work_bytes());
    stages_.emplace_back(std::move(fft), sides);
  }
  Index work_bytes() const override { return work_bytes_; }
  void execute(void* from, void* to, std::byte* work) const override {
    for (const auto& [fft, sides] : stages_)
      fft->execute(sides == Sides::output ? to : from, sides == Sides::input ? from : to, work);
  }

 private:
  std::vector<std::pair<std::shared_ptr<const LocalFft>, Sides>> stages_;
  Index work_bytes_ = 0;
};

/// Plans the passes of a problem.
class Writer {
 public:
  explicit Writer(const FftProblem& p) : p_(p), complex_bytes_(2 * real_bytes(p.precision)) {
    forward_ = p.direction == Direction::forward;
    for (std::size_t i = 0; i < p.dimensions.size(); ++i) {
      const bool real = p.kind == FftKind::real && i + 1 == p.dimensions.size();
      const FftDimension& d = p.dimensions[i];
      axes_.push_back({d, real ? d.n / 2 + 1 : d.n, real});
    }
    dimensions_ = axes_.size();
  }

  /// Whether passes are faster, and possible.
  bool suits() {
    if (p_.effort != Effort::estimate || p_.kind == FftKind::r2r || dimensions_ > 2) return false;
    const auto fits = [&](const Axis& a) { return a.user.n >= shortest_line; };
    if (!std::ranges::all_of(axes_, fits)) return false;
    const auto power = [](const Axis& a) { return is_power_of_two(a.user.n); };
    if (std::ranges::all_of(axes_, power)) return false;
    if (p_.in_place && !lies_alike(p_)) return false;
    if (dimensions_ == 1) {
      const Index n = axes_[0].user.n;
      if (!p_.in_place || p_.kind == FftKind::real || axes_[0].user.to_stride == 1 || n % 9 != 0 ||
          !is_slow_in_rows(n))
        return false;
    }
    return cut();
  }

  std::shared_ptr<const LocalFft> write(const Make& make) {
    auto all = std::make_shared<Passes>();
    all->outer = outer_;
    std::vector<std::size_t> order;  // of the transforms: rows first, but where they become real
    for (std::size_t i = 0; i < dimensions_; ++i) order.push_back(i);
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
      if (axes_[a].real != axes_[b].real) return axes_[a].real == forward_;
      return axes_[a].user.from_stride < axes_[b].user.from_stride;
    });
    Index elements = 1;
    for (const Axis& a : axes_) elements *= a.n;
    const std::vector<Index> natural = dense(axes_.size());
    // Between two passes rows are those of the second one, if FFTW takes longer to write those of the first.
    const Axis& rows = axes_[order.front()];
    const bool turned = dimensions_ == 2 && p_.kind == FftKind::c2c && is_slow_in_rows(rows.user.n);
    const std::vector<Index> between = turned ? dense(order.back()) : natural;
    elements_ = elements + room_;
    Place place = Place::input;
    std::vector<Index> strides = users(true);
    for (std::size_t k = 0; k < dimensions_; ++k) {
      const bool is_last = k + 1 == dimensions_;
      const Axis& axis = axes_[order[k]];
      Place next = place == Place::first ? Place::second : Place::first;
      const bool becomes_real = axis.real && !forward_;
      if (is_last && k > 0 && (p_.in_place || becomes_real || axis.user.to_stride == 1)) next = Place::output;
      const std::vector<Index> to = next == Place::output ? users(false) : k == 0 ? between : natural;
      FftProblem f = p_;
      f.dimensions = {{axis.user.n, strides[order[k]], to[order[k]]}};
      f.loops.clear();
      for (std::size_t i = 0; i < axes_.size(); ++i)
        if (i != order[k] && axes_[i].n > 1) f.loops.push_back({axes_[i].n, strides[i], to[i]});
      f.kind = axis.real ? FftKind::real : FftKind::c2c;
      f.in_place = false;
      f.may_destroy_input = k > 0 || p_.in_place || p_.may_destroy_input;
      f.aligned = (place != Place::input && next != Place::output) || aligned_;
      f.scale = is_last ? p_.scale : 1;
      all->passes.push_back({make(f), std::nullopt, place, next});
      all->halves = std::max(all->halves, next == Place::second ? 2 : 1);
      place = next;
      strides = to;
    }
    if (place != Place::output) {
      Shape extents;
      Strides from, to;
      const std::vector<Index> users_strides = users(false);
      for (std::size_t i = 0; i < axes_.size(); ++i) {
        extents.push_back(axes_[i].n);
        from.push_back(strides[i]);
        to.push_back(users_strides[i]);
      }
      const PermuteCopy copy(extents, from, to, static_cast<int>(complex_bytes_));
      all->passes.push_back({nullptr, copy, place, Place::output});
    }
    all->half = rounded_up<Index>(elements_ * complex_bytes_, 64);
    return all;
  }

 private:
  /// Of the units of a stride on either side.
  Index unit(bool input) const {
    const bool real = p_.kind == FftKind::real && input == forward_;
    return real ? complex_bytes_ / 2 : complex_bytes_;
  }

  /// Chooses which loops belong to a block. Loops over neighbours do, and slower ones as long as a block is
  /// small.
  bool cut() {
    const Index most = second_cache_bytes() / 4, small_block = std::min<Index>(32 << 10, most);
    Index slowest = 0, slowest_from = 0, bytes = complex_bytes_;
    for (const Axis& a : axes_) {
      slowest = std::max(slowest, a.user.to_stride);
      slowest_from = std::max(slowest_from, a.user.from_stride * unit(true) / unit(false));
      bytes *= a.n;
    }
    aligned_ = p_.aligned;
    for (const FftDimension& d : merge_loops(p_.loops)) {
      const bool slower = d.to_stride > slowest && d.from_stride * unit(true) / unit(false) > slowest_from;
      if (!outer_.empty() || (slower && bytes * d.n > small_block)) {
        outer_.push_back({d.n, d.from_stride * unit(true), d.to_stride * unit(false)});
      } else {
        axes_.push_back({d, d.n});
        bytes *= d.n;
      }
    }
    for (const FftDimension& d : outer_)
      aligned_ = aligned_ && d.from_stride % 16 == 0 && d.to_stride % 16 == 0;
    std::ranges::reverse(outer_);
    return bytes <= most;
  }

  /// Strides of work memory, in complex numbers, in the order of the user's array; axis `first` comes first
  /// if it is one. Rows do not begin where few sets of the cache are.
  std::vector<Index> dense(std::size_t first) {
    constexpr Index line = 64, spread = 512;
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < axes_.size(); ++i) order.push_back(i);
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
      if ((a == first) != (b == first)) return a == first;
      const bool of_input = p_.kind == FftKind::real && !forward_;
      const auto stride = [&](std::size_t i) {
        return of_input ? axes_[i].user.from_stride : axes_[i].user.to_stride;
      };
      return stride(a) < stride(b);
    });
    std::vector<Index> strides(axes_.size());
    Index next = 1;
    for (const std::size_t i : order) {
      strides[i] = next;
      next *= axes_[i].n;
      if (next * complex_bytes_ % spread == 0) next += line / complex_bytes_;
    }
    Index last = 1;
    for (std::size_t i = 0; i < axes_.size(); ++i) last += (axes_[i].n - 1) * strides[i];
    Index elements = 1;
    for (const Axis& a : axes_) elements *= a.n;
    room_ = std::max(room_, last - elements);
    return strides;
  }

  std::vector<Index> users(bool input) const {
    std::vector<Index> strides;
    for (const Axis& a : axes_) strides.push_back(input ? a.user.from_stride : a.user.to_stride);
    return strides;
  }

  const FftProblem& p_;
  Index complex_bytes_;
  bool forward_ = true, aligned_ = true;
  std::size_t dimensions_ = 0;
  std::vector<Axis> axes_;  ///< of the block: the dimensions, then loops
  std::vector<FftDimension> outer_;
  Index room_ = 0, elements_ = 0;
};

/// Lines side by side, in place, that the cache does not hold together: some neighbours at a time are copied
/// to work memory, transformed there and copied back. Null where they are no neighbours.
std::shared_ptr<const LocalFft> plan_columns(const FftProblem& p, const Make& make) {
  constexpr Index block_bytes = 128 << 10, line = 64, spread = 512;
  const Index bytes = 2 * real_bytes(p.precision), few = line / bytes, n = p.dimensions[0].n;
  std::vector<FftDimension> loops = merge_loops(p.loops);
  if (loops.empty() || loops[0].to_stride != 1 || loops[0].n < few) return nullptr;
  const FftDimension near = loops[0];
  const Index most = std::max(few, block_bytes / (n * bytes) / few * few), width = std::min(near.n, most);
  auto all = std::make_shared<Stages>();
  const auto add = [&](Index first, Index lines, Index blocks) {
    if (lines * blocks == 0) return;
    auto part = std::make_shared<Passes>();
    for (auto d = loops.rbegin(); d + 1 != loops.rend(); ++d)
      part->outer.push_back({d->n, d->from_stride * bytes, d->to_stride * bytes});
    if (blocks > 1) part->outer.push_back({blocks, lines * bytes, lines * bytes});
    part->begin = first * bytes;
    const Index row = lines * bytes % spread == 0 ? lines + few : lines;
    FftProblem f = p;
    f.dimensions = {{n, row, row}};
    f.loops = {{lines, 1, 1}};
    f.in_place = false;
    f.may_destroy_input = f.aligned = true;
    const Index step = p.dimensions[0].to_stride;
    const auto copy = [&](Index from, Index to) {
      return PermuteCopy({n, lines}, {from, 1}, {to, 1}, static_cast<int>(bytes));
    };
    part->passes.push_back({nullptr, copy(step, row), Place::input, Place::first});
    part->passes.push_back({make(f), std::nullopt, Place::first, Place::second});
    part->passes.push_back({nullptr, copy(row, step), Place::second, Place::output});
    part->half = rounded_up<Index>(n * row * bytes, line);
    part->halves = 2;
    all->add(part, Stages::Sides::output);
  };
  const Index blocks = near.n / width, rest = near.n % width;
  add(0, width, blocks);
  add(blocks * width, rest, 1);
  return all;
}

/// A transform along three axes or more, of which the cache holds planes along the fastest two: these planes,
/// then the other axes one by one, in place in the output. Of a transform back to real numbers these come
/// first, in place in the input. Null where that cannot be, or FFTW is as fast, as it is with larger planes.
std::shared_ptr<const LocalFft> plan_in_stages(const FftProblem& p, const Make& make) {
  if (p.effort != Effort::estimate || p.kind == FftKind::r2r || p.dimensions.size() < 3) return nullptr;
  const auto power = [](const FftDimension& d) { return is_power_of_two(d.n); };
  const auto short_line = [](const FftDimension& d) { return d.n < shortest_line; };
  if (std::ranges::all_of(p.dimensions, power) || std::ranges::any_of(p.dimensions, short_line))
    return nullptr;
  const bool real = p.kind == FftKind::real, back = real && p.direction == Direction::backward;
  if (p.in_place ? !lies_alike(p) : back && !p.may_destroy_input) return nullptr;
  const auto inside = back ? &FftDimension::from_stride : &FftDimension::to_stride;
  std::vector<FftDimension> axes = p.dimensions;
  if (real) axes.pop_back();
  std::ranges::stable_sort(axes, {}, inside);
  if (real) axes.insert(axes.begin(), p.dimensions.back());
  if (axes[0].*inside != 1) return nullptr;
  const Index bytes = 2 * real_bytes(p.precision);
  const Index row = real ? axes[0].n / 2 + 1 : axes[0].n;
  constexpr std::size_t together = 2;
  if (row * axes[1].n * bytes > second_cache_bytes() / 4) return nullptr;
  FftProblem near = p;
  near.scale = 1;
  near.dimensions.assign(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(together));
  std::ranges::reverse(near.dimensions);
  for (std::size_t i = together; i < axes.size(); ++i) near.loops.push_back(axes[i]);
  if (back) near.may_destroy_input = true;
  auto all = std::make_shared<Stages>();
  const auto add_near = [&] {
    Writer writer(near);
    all->add(writer.suits() ? writer.write(make) : make(near), Stages::Sides::both);
  };
  if (!back) add_near();
  for (std::size_t i = together; i < axes.size(); ++i) {
    FftProblem far = p;
    far.kind = FftKind::c2c;
    far.in_place = true;
    far.may_destroy_input = true;
    far.scale = 1;
    const auto here = [&](FftDimension d) { return FftDimension{d.n, d.*inside, d.*inside}; };
    far.dimensions = {here(axes[i])};
    far.loops.clear();
    for (const FftDimension& d : p.loops) far.loops.push_back(here(d));
    for (std::size_t j = 0; j < axes.size(); ++j)
      if (j != i)
        far.loops.push_back(here({j == 0 ? row : axes[j].n, axes[j].from_stride, axes[j].to_stride}));
    if (!back && i + 1 == axes.size()) far.scale = p.scale;
    const auto columns = plan_columns(far, make);
    if (!columns) return nullptr;
    all->add(columns, back ? Stages::Sides::input : Stages::Sides::output);
  }
  if (back) {
    near.scale = p.scale;
    add_near();
  }
  return all;
}

}  // namespace

bool is_slow_in_place(Index n) {
  return n >= shortest_line && !is_power_of_two(n);
}

bool is_slow_in_rows(Index n) {
  return n % 8 != 0 || n % 144 == 0;
}

std::shared_ptr<const LocalFft> plan_in_passes(const FftProblem& problem, const Make& make) {
  Writer writer(problem);
  return writer.suits() ? writer.write(make) : plan_in_stages(problem, make);
}

}  // namespace weft::fftw
