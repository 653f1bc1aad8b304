#include "fft/calls/cufft_calls.hpp"

#include <algorithm>
#include <utility>

#include "base/arithmetic.hpp"
#include "fft/calls/strided_lines.hpp"
#include "fft/loops.hpp"

namespace weft {

namespace {

using Dimensions = std::vector<FftDimension>;
using Sides = CallStep::Sides;

constexpr auto from_stride = &FftDimension::from_stride, to_stride = &FftDimension::to_stride;

/// The input or output of a call: which strides it has, and the length of its last axis there.
struct SideView {
  Index FftDimension::*stride;
  Index last;
};

/// Whether the axes, from slowest to fastest, are nested in one array on this side: each stride is a multiple
/// of the next one, and long enough for the axis inside.
bool nests(const Dimensions& axes, const SideView& side) {
  for (std::size_t i = 1; i < axes.size(); ++i) {
    const Index outer = axes[i - 1].*side.stride, inner = axes[i].*side.stride;
    const Index n = i + 1 == axes.size() ? side.last : axes[i].n;
    if (inner < 1 || outer % inner != 0 || outer / inner < n) return false;
  }
  return true;
}

/// Input and output of a call along these axes. In a real transform the last axis has n/2+1 points on the
/// complex side.
std::array<SideView, 2> sides_of(const Dimensions& axes, FftKind kind, Direction direction) {
  const Index n = axes.back().n, half = kind == FftKind::real ? n / 2 + 1 : n;
  const bool forward = direction == Direction::forward;
  return {SideView{from_stride, forward ? n : half}, SideView{to_stride, forward ? half : n}};
}

/// Whether so many lines lie side by side that each axis is better a call of its own. A call along two axes
/// of 512 x 512 x 256 points, the last axis being the batch, takes cuFFT 9 ms on an H200, and one for each
/// axis 0.6 and 0.8.
bool side_by_side(const FftDimension& fastest) {
  constexpr Index many = 32;
  return std::min(fastest.from_stride, fastest.to_stride) >= many;
}

/// A real axis of one point. In a call along other axes as well, cuFFT takes one of these for the real axis,
/// so that modes which are not those of real data give another result than a call for each axis does.
bool is_one_real(const FftDimension* last) {
  return last != nullptr && last->n == 1;
}

/// The axes of one call, as many as possible, at most three if `many` allows it, but one where lines lie side
/// by side, and with a real axis of one point. `last`, if given, is the real axis, which the call must have
/// as its fastest.
Dimensions choose_axes(Dimensions axes, const FftDimension* last, Direction direction, AxesOf many) {
  std::stable_sort(axes.begin(), axes.end(), [](const FftDimension& a, const FftDimension& b) {
    return a.from_stride > b.from_stride;
  });
  Dimensions best;
  const std::size_t most = std::size_t{1} << axes.size();
  for (std::size_t chosen = last != nullptr ? 0 : 1; chosen < most; ++chosen) {
    Dimensions some;
    for (std::size_t i = 0; i < axes.size(); ++i)
      if ((chosen >> i & 1) != 0) some.push_back(axes[i]);
    if (last != nullptr) some.push_back(*last);
    const bool is_alone = many != AxesOf::together || is_one_real(last);
    if (some.size() > (is_alone ? 1U : 3U) || some.size() <= best.size()) continue;
    if (some.size() > 1 && side_by_side(some.back())) continue;
    const auto sides = sides_of(some, last != nullptr ? FftKind::real : FftKind::c2c, direction);
    if (nests(some, sides[0]) && nests(some, sides[1])) best = some;
  }
  return best;
}

/// Whether input and output have no gaps, except that real lines may be padded to the length of complex ones.
/// In a real transform of several axes with other gaps, cuFFT writes into the gaps.
bool is_plain_real(const Dimensions& axes, Direction direction) {
  const auto sides = sides_of(axes, FftKind::real, direction);
  const Index padded = 2 * (axes.back().n / 2 + 1);
  for (const SideView& side : sides) {
    if (axes.back().*side.stride != 1) return false;
    for (std::size_t i = 1; i < axes.size(); ++i) {
      const bool line = i + 1 == axes.size();
      const Index n = line ? side.last : axes[i].n, embed = axes[i - 1].*side.stride / (axes[i].*side.stride);
      const bool real_line = line && side.last == axes.back().n;
      if (embed != n && !(real_line && embed == padded)) return false;
    }
  }
  return true;
}

void remove(Dimensions& axes, const Dimensions& done) {
  for (const FftDimension& d : done)
    if (const auto found = std::find(axes.begin(), axes.end(), d); found != axes.end()) axes.erase(found);
}

/// A batch of one gets the length of the array as its distance, because cuFFT refuses 0.
CallSide side_of(const Dimensions& axes, const SideView& side, const FftDimension& batch) {
  CallSide s;
  s.stride = axes.back().*side.stride;
  s.embed[0] = axes.size() == 1 ? side.last : axes.front().n;
  for (std::size_t i = 1; i < axes.size(); ++i)
    s.embed[i] = axes[i - 1].*side.stride / (axes[i].*side.stride);
  s.distance = batch.*side.stride;
  if (batch.n == 1) {
    s.distance = s.stride;
    for (std::size_t i = 0; i < axes.size(); ++i) s.distance *= s.embed[i];
  }
  return s;
}

/// The loop that becomes the batch of a call: the longest, of equal ones that of the shortest stride. But for
/// lines along one axis whose points are not contiguous it is the loop over adjacent lines, which a GPU reads
/// at full speed, if it is long enough and does not make many more calls.
Dimensions::iterator choose_batch(Dimensions& loops, FftKind kind, const Dimensions& axes) {
  constexpr Index enough = 16, times_as_many_calls = 16;
  const auto longest = std::ranges::max_element(loops, {}, &FftDimension::n);
  const FftDimension& line = axes.back();
  if (kind != FftKind::c2c || axes.size() > 1 || line.from_stride == 1 || line.to_stride == 1) return longest;
  const auto side_by_side = std::find_if(loops.begin(), loops.end(), [&](const FftDimension& d) {
    return d.from_stride == 1 && d.to_stride == 1 && d.n >= enough && d.n * times_as_many_calls >= longest->n;
  });
  return side_by_side != loops.end() ? side_by_side : longest;
}

CallStep step_of(const FftProblem& p, FftKind kind, Sides sides, const Dimensions& axes, Dimensions loops) {
  CallStep s;
  s.sides = sides;
  // Where other steps store has no say in how loops merge. No step along one axis stores in cells.
  const bool diverted = axes.size() == 1 && axes[0].diverted && !p.cells;
  for (FftDimension& d : loops) {
    d.diverted = false;
    if (!diverted) d.diverted_stride = 0;
  }
  s.loops = merge_loops(std::move(loops));
  FftDimension batch{1, 0, 0};
  const auto chosen = choose_batch(s.loops, kind, axes);
  if (chosen != s.loops.end()) {
    batch = *chosen;
    s.loops.erase(chosen);
  }
  s.call.kind = kind;
  s.call.direction = p.direction;
  s.call.precision = p.precision;
  s.call.axes = static_cast<int>(axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) s.call.n[i] = axes[i].n;
  const auto views = sides_of(axes, kind, p.direction);
  s.call.from = side_of(axes, views[0], batch);
  s.call.to = side_of(axes, views[1], batch);
  s.call.batch = batch.n;
  if (diverted) {
    s.diverted = p.diverted;
    s.diverted_stride = axes[0].diverted_stride;
    s.diverted_distance = batch.diverted_stride;
  }
  return s;
}

/// The axes with the strides of one side on both sides.
Dimensions in_place(Dimensions axes, Index FftDimension::*stride) {
  for (FftDimension& d : axes) d.from_stride = d.to_stride = d.*stride;
  return axes;
}

class CallsBuilder {
 public:
  CallsBuilder(const FftProblem& problem, AxesOf most)
      : p_(problem),
        most_(most),
        real_(problem.kind == FftKind::real),
        forward_(problem.direction == Direction::forward) {
    if (real_) last_ = p_.dimensions.back();
    if (last_.n == 1) last_.from_stride = last_.to_stride = 1;
    for (std::size_t i = 0; i + (real_ ? 1 : 0) < p_.dimensions.size(); ++i)
      if (p_.dimensions[i].n > 1) axes_.push_back(p_.dimensions[i]);
    loops_ = p_.loops;
  }

  CufftCalls run() {
    if (!real_) {
      if (!axes_.empty()) add_steps();
      return std::move(e_);
    }
    if (!p_.aligned) put_aside(forward_);
    add_steps();
    const bool must_spare_input = !forward_ && !p_.may_destroy_input;
    if (must_spare_input && !(kernels_spare_copies() && e_.steps.size() == 1)) {
      e_.steps.clear();
      put_aside(true);
      add_steps();
    }
    if (reals_start_anywhere() || (library_needs_rows_aside() && !kernels_spare_copies())) {
      e_.steps.clear();
      put_aside(forward_);
      add_steps();
    }
    gather_calls();
    e_.steps.back().by_kernels =
        (library_needs_rows_aside() && e_.to.bytes == 0) || (must_spare_input && e_.from.bytes == 0);
    return std::move(e_);
  }

 private:
  bool library_needs_rows_aside() const { return !forward_ && !p_.in_place && writes_into_gaps(); }
  /// Whether kernels do the real step without the copy that the library would need. Of long rows a block of
  /// threads has few, which takes longer than a copy does.
  bool kernels_spare_copies() const {
    constexpr Index longest = 2048;
    return last_.n <= longest && kernels_can_real_rows(forward_ ? e_.steps.front() : e_.steps.back());
  }

  /// Where the axes of both sides have different orders, lines along the real axis make many small calls.
  /// With the complex side aside, in the order of the real one, there are few, and a copy takes less than
  /// they do. It takes more than one launch of kernels.
  void gather_calls() {
    if (e_.steps.size() == 1 && kernels_spare_copies()) return;
    constexpr Index enough = 16, times_fewer = 4, most_bytes = Index{2} << 30;
    const Index calls = calls_of(e_);
    if (calls < enough || (forward_ ? e_.to : e_.from).bytes != 0) return;
    const CallsBuilder before = *this;
    put_aside(!forward_);
    e_.steps.clear();
    add_steps();
    const bool worth = times_fewer * calls_of(e_) <= calls &&
                       (forward_ ? e_.to : e_.from).bytes <= most_bytes && !reals_start_anywhere() &&
                       (forward_ || p_.in_place || !writes_into_gaps());
    if (worth) return;
    e_ = before.e_;
    axes_ = before.axes_;
    loops_ = before.loops_;
    last_ = before.last_;
  }

  static Index calls_of(const CufftCalls& all) {
    Index calls = 0;
    for (const CallStep& step : all.steps) {
      Index of_step = 1;
      for (const FftDimension& d : step.loops) of_step *= d.n;
      calls += of_step;
    }
    return calls;
  }

  /// A step from input to output, r2c together with as many axes as possible, then the other axes in place on
  /// the output. For c2r in reverse order, with the other axes in place on the input.
  void add_steps() {
    Dimensions chosen = choose(axes_, real_ ? &last_ : nullptr);
    if (real_ && !is_plain_real(chosen, p_.direction)) chosen = {last_};
    Dimensions others = axes_;
    remove(others, chosen);
    Dimensions loops = loops_;
    loops.insert(loops.end(), others.begin(), others.end());
    e_.steps.push_back(step_of(p_, p_.kind, Sides::from_to, chosen, loops));
    const bool before = real_ && !forward_;
    const auto stride = before ? from_stride : to_stride;
    Dimensions box = axes_;
    if (real_)
      box.push_back(
          {last_.n / 2 + 1, last_.from_stride, last_.to_stride, Transform::c2c, last_.diverted_stride});
    box.insert(box.end(), loops_.begin(), loops_.end());
    box = in_place(box, stride);
    std::size_t at = before ? 0 : 1;
    for (Dimensions left = in_place(others, stride); !left.empty(); ++at) {
      const Dimensions now = choose(left, nullptr);
      loops = box;
      remove(loops, now);
      e_.steps.insert(e_.steps.begin() + static_cast<std::ptrdiff_t>(at),
                      step_of(p_, FftKind::c2c, before ? Sides::from_only : Sides::to_only, now, loops));
      remove(left, now);
    }
  }

  /// The axes of the next call. Axes that are done apart end with the one of which modes are stored
  /// elsewhere.
  Dimensions choose(Dimensions axes, const FftDimension* last) const {
    if (most_ == AxesOf::apart && axes.size() > 1)
      std::erase_if(axes, [](const FftDimension& d) { return d.diverted; });
    return choose_axes(axes, last, p_.direction, most_);
  }

  /// Whether c2r calls write lines with gaps between them. cuFFT then writes into the gaps as if lines were
  /// padded to complex ones.
  bool writes_into_gaps() const {
    const CufftCall& call = e_.steps.back().call;
    const Index line = call.axes > 1 ? call.to.embed[static_cast<std::size_t>(call.axes - 1)]
                                     : call.to.distance / call.to.stride;
    return call.to.stride != 1 || ((call.axes > 1 || call.batch > 1) && line != last_.n);
  }

  /// Whether calls of the real step start at real elements that are not multiples of a complex element.
  bool reals_start_anywhere() const {
    const CallStep& real = forward_ ? e_.steps.front() : e_.steps.back();
    return std::any_of(real.loops.begin(), real.loops.end(), [&](const FftDimension& d) {
      return (forward_ ? d.from_stride : d.to_stride) % 2 != 0;
    });
  }

  /// Copies one side aside in a dense layout. Lines of real numbers are padded to an even length, or, if c2r
  /// writes them, to the length of complex lines. The other axes keep the order of the opposite side.
  void put_aside(bool from) {
    AsideCopy& aside = from ? e_.from : e_.to;
    if (aside.bytes != 0) return;
    const auto mine = from ? from_stride : to_stride;
    const auto theirs = from ? to_stride : from_stride;
    const bool complex = from != forward_;
    const auto real = static_cast<int>(real_bytes(p_.precision));
    const int element = complex ? 2 * real : real;
    std::vector<FftDimension*> order;
    for (FftDimension& d : axes_) order.push_back(&d);
    for (FftDimension& d : loops_) order.push_back(&d);
    std::stable_sort(order.begin(), order.end(),
                     [&](const FftDimension* a, const FftDimension* b) { return a->*theirs < b->*theirs; });
    const Index line = complex ? last_.n / 2 + 1 : last_.n;
    Index next = complex ? line : forward_ ? rounded_up<Index>(line, 2) : 2 * (last_.n / 2 + 1);
    Shape extents{line};
    Strides given{last_.*mine}, dense{1};
    last_.*mine = 1;
    for (FftDimension* d : order) {
      extents.push_back(d->n);
      given.push_back(std::exchange(d->*mine, next));
      dense.push_back(next);
      next *= d->n;
    }
    aside.copy = {from ? copy_loops(extents, given, dense) : copy_loops(extents, dense, given), element, 1,
                  real};
    aside.bytes = next * element;
    aside.alike = true;
    for (int i = 0; i < extents.size(); ++i) aside.alike &= extents[i] == 1 || given[i] == dense[i];
  }

  const FftProblem& p_;
  AxesOf most_;
  bool real_, forward_;
  FftDimension last_{1, 1, 1};
  Dimensions axes_, loops_;
  CufftCalls e_;
};

}  // namespace

std::string unable_in_calls(const FftProblem& p) {
  if (p.kind == FftKind::r2r) return unable_r2r(p);
  if (!p.in_place || p.kind == FftKind::real) return "";
  for (const auto* all : {&p.dimensions, &p.loops})
    for (const FftDimension& d : *all)
      if (d.n > 1 && d.from_stride != d.to_stride) return "in place, input and output need equal strides";
  return "";
}

Index from_bytes(const CufftCall& call) {
  const Index real = real_bytes(call.precision);
  return call.kind == FftKind::real && call.direction == Direction::forward ? real : 2 * real;
}

Index to_bytes(const CufftCall& call) {
  const Index real = real_bytes(call.precision);
  return call.kind == FftKind::real && call.direction == Direction::backward ? real : 2 * real;
}

std::string to_string(const CufftCall& call) {
  const auto lengths = [&](const std::array<Index, 3>& n) {
    std::string text;
    for (std::size_t i = 0; i < static_cast<std::size_t>(call.axes); ++i)
      text += (i > 0 ? "x" : "") + std::to_string(n[i]);
    return text;
  };
  const auto side = [&](const CallSide& s) {
    return lengths(s.embed) + " stride " + std::to_string(s.stride) + " distance " +
           std::to_string(s.distance);
  };
  const bool forward = call.direction == Direction::forward;
  const std::string kind = call.kind == FftKind::c2c ? "c2c" : forward ? "r2c" : "c2r";
  return std::string(forward ? "forward " : "backward ") + kind + " of " + lengths(call.n) + ", batch " +
         std::to_string(call.batch) + ", from " + side(call.from) + ", to " + side(call.to);
}

CufftCalls cufft_calls(const FftProblem& problem, AxesOf axes) {
  return CallsBuilder(problem, axes).run();
}

}  // namespace weft
