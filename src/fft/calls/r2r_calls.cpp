#include "fft/calls/r2r_calls.hpp"

#include <algorithm>

#include "fft/loops.hpp"
#include "geometry/transform.hpp"
#include "weft/error.hpp"

namespace weft {

namespace {

R2rMethod method_of(Transform transform, Index n) {
  switch (transform) {
    case Transform::dct1:
    case Transform::dst1:
      return R2rMethod::type1;
    case Transform::dct2:
    case Transform::dst2:
      return R2rMethod::type2;
    case Transform::dct3:
    case Transform::dst3:
      return R2rMethod::type3;
    case Transform::dct4:
    case Transform::dst4:
      return n % 2 == 0 ? R2rMethod::type4_even : R2rMethod::type4_odd;
    default:
      throw Error("plan: local FFT", std::string("axis with ") + name_of(transform), "a DCT or DST");
  }
}

/// With at least so many adjacent lines in the array, lines aside are interleaved: point k of all lines is
/// contiguous. Threads then read and write long runs in both places.
constexpr Index wide_run = 16;

class AxisBuilder {
 public:
  AxisBuilder(const FftProblem& problem, std::size_t axis)
      : p_(problem),
        axis_(problem.dimensions[axis]),
        first_(axis == 0),
        last_(axis + 1 == problem.dimensions.size()),
        method_(method_of(axis_.transform, axis_.n)),
        folds_(method_ == R2rMethod::type4_even) {
    std::vector<FftDimension> all = problem.loops;
    for (std::size_t i = 0; i < problem.dimensions.size(); ++i)
      if (i != axis) all.push_back(problem.dimensions[i]);
    for (FftDimension& d : all) d.from_stride = from_stride(d);
    for (const FftDimension& d : merge_loops(all)) loops_.push_back({d.n, d.from_stride, d.to_stride});
    if (!folds_) pair_lines();
    points_ = folds_                        ? axis_.n / 2
              : method_ == R2rMethod::type1 ? logical_length(axis_.transform, axis_.n)
                                            : axis_.n;
    lay_out();
  }

  R2rCalls run() const {
    R2rCalls e;
    e.before = step(true);
    e.after = step(false);
    e.elements = lines_ * points_;
    if (points_ > 1) e.call = call();
    return e;
  }

 private:
  struct Loop {
    Index n, from, to, aside = 0;
  };

  /// The first axis reads the problem's input, the others its output.
  Index from_stride(const FftDimension& d) const { return first_ ? d.from_stride : d.to_stride; }

  /// Pairs each line of the first half of a loop with one of the second half. The longest loop of even length
  /// is chosen, else the longest one, which leaves one line without a partner.
  void pair_lines() {
    if (loops_.empty()) loops_.push_back({1, 0, 0});
    const auto loop = std::max_element(loops_.begin(), loops_.end(), [](const Loop& a, const Loop& b) {
      return std::pair(a.n % 2 == 0, a.n) < std::pair(b.n % 2 == 0, b.n);
    });
    paired_ = static_cast<int>(loop - loops_.begin());
    leaves_one_ = loop->n % 2 != 0;
    loop->n = (loop->n + 1) / 2;
    mate_from_ = loop->n * loop->from;
    mate_to_ = loop->n * loop->to;
  }

  void lay_out() {
    Index run = 1;
    for (const Loop& loop : loops_) {
      lines_ *= loop.n;
      if (loop.to < axis_.to_stride) run *= loop.n;
    }
    wide_ = run >= wide_run;
    Index next = wide_ ? 1 : points_;
    for (Loop& loop : loops_) {
      loop.aside = next;
      next *= loop.n;
    }
  }

  CufftCall call() const {
    CufftCall c;
    c.direction = method_ == R2rMethod::type3 ? Direction::backward : Direction::forward;
    c.precision = p_.precision;
    c.axes = 1;
    c.n[0] = points_;
    c.from.embed[0] = points_;
    c.from.stride = wide_ ? lines_ : 1;
    c.from.distance = wide_ ? 1 : points_;
    c.to = c.from;
    c.batch = lines_;
    return c;
  }

  R2rStep step(bool to_aside) const {
    R2rStep s;
    s.method = method_;
    s.sine = axis_.transform >= Transform::dst1;
    s.to_aside = to_aside;
    s.n = axis_.n;
    s.real_bytes = static_cast<int>(real_bytes(p_.precision));
    if (!to_aside && last_) s.factor = p_.scale;
    const Index stride = to_aside ? from_stride(axis_) : axis_.to_stride;
    s.first_step = stride;
    s.second = to_aside ? mate_from_ : mate_to_;
    s.second_step = stride;
    if (folds_) {
      s.first_step = 2 * stride;
      s.second = (axis_.n - 1) * stride;
      s.second_step = -2 * stride;
    }
    const Index along = to_aside || folds_ ? points_ : axis_.n;
    add_loops(s, {along, stride, wide_ ? lines_ : 1});
    return s;
  }

  /// Adds the loops in the order of their strides in the array.
  void add_loops(R2rStep& s, const R2rLoop& along) const {
    if (loops_.size() + 1 > s.loops.size())
      throw Error("plan: local FFT", std::to_string(loops_.size() + 1) + " axes of a DCT or DST",
                  "at most " + std::to_string(s.loops.size()));
    std::vector<std::pair<R2rLoop, int>> all{{along, R2rStep::none}};
    for (std::size_t i = 0; i < loops_.size(); ++i) {
      const Loop& loop = loops_[i];
      all.push_back({{loop.n, s.to_aside ? loop.from : loop.to, loop.aside}, static_cast<int>(i)});
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.first.array < b.first.array; });
    for (const auto& [loop, number] : all) {
      if (number == R2rStep::none) s.along = s.count;
      if (number != R2rStep::none && number == paired_ && leaves_one_) s.odd = s.count;
      s.loops[static_cast<std::size_t>(s.count++)] = loop;
    }
  }

  const FftProblem& p_;
  const FftDimension& axis_;
  bool first_, last_;
  R2rMethod method_;
  bool folds_;  ///< a complex line holds one line of the array, folded to half its length, and not two
  std::vector<Loop> loops_;  ///< over the lines, or pairs of them
  int paired_ = R2rStep::none;
  bool leaves_one_ = false;
  Index mate_from_ = 0, mate_to_ = 0;
  Index points_ = 1, lines_ = 1;  ///< of the FFT
  bool wide_ = false;
};

}  // namespace

std::vector<R2rCalls> r2r_calls(const FftProblem& problem) {
  std::vector<R2rCalls> axes;
  for (std::size_t i = 0; i < problem.dimensions.size(); ++i) axes.push_back(AxisBuilder(problem, i).run());
  return axes;
}

}  // namespace weft
