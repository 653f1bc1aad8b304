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

/// Whether FFTW's estimate takes longer for contiguous lines than for those that lie side by side: of 36, 54,
/// 90, 108 and 144 points up to twice as long, of 40, 64, 72 and 96 points half as long.
bool are_rows_slow(Index n) {
  return n % 8 != 0 || n % 144 == 0;
}

/// The memory that a pass reads or writes: the user's two arrays, or a half of work memory.
enum class Place { input, output, first, second };

/// An axis of the block: a dimension of the transform or a loop.
struct Axis {
  FftDimension user;
  Index n;  ///< complex numbers
  bool real = false;
};

struct Pass {
  std::unique_ptr<const LocalFft> fft;
  Place from, to;
};

class Passes final : public LocalFft {
 public:
  std::vector<Pass> passes;
  std::vector<FftDimension> outer;  ///< over blocks, strides in bytes, the outermost first
  std::optional<PermuteCopy> last;  ///< from work memory to the output
  Place copied = Place::first;
  Index half = 0;  ///< bytes of a half of work memory
  int halves = 1;

  Index work_bytes() const override { return half * halves; }
  void execute(void* from, void* to, std::byte* work) const override {
    const auto block = [&](std::byte* read, std::byte* write) {
      const auto at = [&](Place p) {
        return p == Place::input ? read : p == Place::output ? write : p == Place::first ? work : work + half;
      };
      for (const Pass& pass : passes) pass.fft->execute(at(pass.from), at(pass.to), nullptr);
      if (last) last->run(at(copied), write);
    };
    for_each_index(std::span<const FftDimension>(outer), static_cast<std::byte*>(from),
                   static_cast<std::byte*>(to), block);
  }
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
    if (p_.in_place && !lies_alike()) return false;
    if (dimensions_ == 1) {
      const Index n = axes_[0].user.n;
      if (!p_.in_place || p_.kind == FftKind::real || axes_[0].user.to_stride == 1 || n % 9 != 0 ||
          !are_rows_slow(n))
        return false;
    }
    return cut();
  }

  std::shared_ptr<const LocalFft> write(
      const std::function<std::unique_ptr<const LocalFft>(const FftProblem&)>& make) {
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
    const bool turned = dimensions_ == 2 && p_.kind == FftKind::c2c && are_rows_slow(rows.user.n);
    const std::vector<Index> between = turned ? dense(order.back()) : natural;
    elements_ = elements + room_;
    Place place = Place::input;
    std::vector<Index> strides = users(true);
    for (std::size_t k = 0; k < dimensions_; ++k) {
      const bool is_last = k + 1 == dimensions_;
      const Axis& axis = axes_[order[k]];
      Place next = place == Place::first ? Place::second : Place::first;
      if (is_last && k > 0 && (p_.in_place || axis.user.to_stride == 1)) next = Place::output;
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
      all->passes.push_back({make(f), place, next});
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
      all->last.emplace(extents, from, to, static_cast<int>(complex_bytes_));
      all->copied = place;
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

  /// Whether in place every line is where it was.
  bool lies_alike() const {
    const auto stays = [&](const FftDimension& d) {
      return d.from_stride * unit(true) == d.to_stride * unit(false);
    };
    const auto axis_stays = [&](const Axis& a) {
      return a.real ? a.user.from_stride == 1 && a.user.to_stride == 1 : stays(a.user);
    };
    return std::ranges::all_of(axes_, axis_stays) && std::ranges::all_of(p_.loops, stays);
  }

  /// Chooses which loops belong to a block. Loops over neighbours do, and slower ones as long as a block is
  /// small.
  bool cut() {
    constexpr Index small_block = 32 << 10;
    const Index most = second_cache_bytes() / 4;
    Index slowest = 0, slowest_from = 0, bytes = complex_bytes_;
    for (const Axis& a : axes_) {
      slowest = std::max(slowest, a.user.to_stride);
      slowest_from = std::max(slowest_from, a.user.from_stride * unit(true) / unit(false));
      bytes *= a.n;
    }
    aligned_ = p_.aligned;
    for (const FftDimension& d : merge_loops(p_.loops)) {
      const bool slower = d.to_stride > slowest && d.from_stride * unit(true) / unit(false) > slowest_from;
      const bool alone = slower && outer_.empty();
      if (alone && bytes * d.n > small_block) {
        outer_.push_back({d.n, d.from_stride * unit(true), d.to_stride * unit(false)});
      } else if (!outer_.empty()) {
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

}  // namespace

std::shared_ptr<const LocalFft> plan_in_passes(
    const FftProblem& problem,
    const std::function<std::unique_ptr<const LocalFft>(const FftProblem&)>& make) {
  Writer writer(problem);
  return writer.suits() ? writer.write(make) : nullptr;
}

}  // namespace weft::fftw
