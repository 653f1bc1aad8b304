#include "support/local_problem.hpp"
#include "weft/buffer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

namespace weft::test {

namespace {

bool is_half(const FftProblem& p, bool from) {
  return p.kind == FftKind::real && (p.direction == Direction::backward) == from;
}

bool is_complex(const FftProblem& p, bool from) {
  return p.kind == FftKind::c2c || is_half(p, from);
}

/// Loops, then dimensions.
std::vector<FftDimension> axes_of(const FftProblem& p) {
  std::vector<FftDimension> axes = p.loops;
  axes.insert(axes.end(), p.dimensions.begin(), p.dimensions.end());
  return axes;
}

std::vector<Index> extents_of(const FftProblem& p, bool half) {
  std::vector<Index> n;
  for (const FftDimension& d : axes_of(p)) n.push_back(d.n);
  if (half) n.back() = n.back() / 2 + 1;
  return n;
}

/// The position in memory of every logical element of a side, in elements.
std::vector<Index> positions(const FftProblem& p, bool from) {
  std::vector<Index> at{0};
  const std::vector<Index> n = extents_of(p, is_half(p, from));
  const std::vector<FftDimension> axes = axes_of(p);
  for (std::size_t a = 0; a < axes.size(); ++a) {
    std::vector<Index> next;
    for (const Index base : at)
      for (Index i = 0; i < n[a]; ++i)
        next.push_back(base + i * (from ? axes[a].from_stride : axes[a].to_stride));
    at = std::move(next);
  }
  return at;
}

/// Strides of a permuted, sometimes padded box; of a length of one any stride.
std::vector<Index> random_strides(const std::vector<Index>& n, std::mt19937_64& random) {
  std::vector<std::size_t> order(n.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), random);
  std::vector<Index> strides(n.size());
  Index stride = random() % 4 == 0 ? 2 : 1;
  for (const std::size_t a : order) {
    strides[a] = n[a] == 1 ? static_cast<Index>(1 + random() % 9) : stride;
    stride *= n[a] + (random() % 4 == 0 ? static_cast<Index>(random() % 3) : 0);
  }
  return strides;
}

/// The layout for real transforms in place: the last axis innermost, its lines padded.
void lay_out_padded(FftProblem& p, std::mt19937_64& random) {
  std::vector<Index> n = extents_of(p, true);
  const Index line = n.back() + static_cast<Index>(random() % 2);
  n.pop_back();
  const std::vector<Index> strides = random_strides(n, random);
  const auto set = [&](FftDimension& d, Index stride) {
    const Index real = 2 * line * stride, complex = line * stride;
    d.from_stride = p.direction == Direction::forward ? real : complex;
    d.to_stride = p.direction == Direction::forward ? complex : real;
  };
  for (std::size_t a = 0; a < n.size(); ++a)
    set(a < p.loops.size() ? p.loops[a] : p.dimensions[a - p.loops.size()], strides[a]);
  p.dimensions.back().from_stride = p.dimensions.back().to_stride = 1;
}

void lay_out(FftProblem& p, std::mt19937_64& random, bool stays) {
  if (p.in_place && p.kind == FftKind::real) return lay_out_padded(p, random);
  const std::vector<Index> from = random_strides(extents_of(p, is_half(p, true)), random);
  const bool alike = p.in_place && (stays || p.kind != FftKind::r2r);  // r2r may read all before it writes
  const std::vector<Index> to = alike ? from : random_strides(extents_of(p, is_half(p, false)), random);
  for (std::size_t a = 0; a < from.size(); ++a) {
    FftDimension& d = a < p.loops.size() ? p.loops[a] : p.dimensions[a - p.loops.size()];
    d.from_stride = from[a];
    d.to_stride = to[a];
  }
}

FftProblem random_layout(std::mt19937_64& random, bool r2r) {
  const auto below = [&](std::uint64_t n) { return random() % n; };
  FftProblem p;
  p.precision = below(2) == 0 ? Precision::float64 : Precision::float32;
  p.kind = r2r ? FftKind::r2r : below(2) == 0 ? FftKind::c2c : FftKind::real;
  p.direction = below(2) == 0 ? Direction::forward : Direction::backward;
  p.in_place = below(3) == 0;
  p.may_destroy_input = p.in_place || below(2) == 0;
  p.scale = below(2) == 0 ? 1 : 0.37;
  const bool many = below(10) == 0;
  const std::size_t dimensions = many ? 7 : 1 + below(4), loops = many ? below(2) : below(4);
  const std::uint64_t longest = dimensions + loops > 5 ? 4 : dimensions + loops > 3 ? 6 : 17;
  for (std::size_t i = 0; i < dimensions; ++i)
    p.dimensions.push_back({static_cast<Index>(1 + below(longest)), 1, 1});
  for (std::size_t i = 0; i < loops; ++i) p.loops.push_back({static_cast<Index>(1 + below(longest)), 1, 1});
  for (FftDimension& d : p.dimensions) {
    if (r2r)
      d.transform = static_cast<Transform>(static_cast<int>(Transform::dct1) + static_cast<int>(below(8)));
    if (d.transform == Transform::dct1) ++d.n;
  }
  lay_out(p, random, false);
  return p;
}

FftProblem random_cosines(std::mt19937_64& random) {
  const auto below = [&](std::uint64_t n) { return random() % n; };
  constexpr std::array types{Transform::dct2, Transform::dct3, Transform::dst2, Transform::dst3};
  FftProblem p;
  p.precision = below(2) == 0 ? Precision::float64 : Precision::float32;
  p.kind = FftKind::r2r;
  p.in_place = below(3) == 0;
  p.may_destroy_input = p.in_place || below(2) == 0;
  p.scale = below(2) == 0 ? 1 : 0.37;
  p.effort = below(4) == 0 ? Effort::measure : Effort::estimate;
  p.planning_seconds = 0.01;
  const std::size_t dimensions = 1 + below(2), loops = below(3);
  for (std::size_t i = 0; i < dimensions; ++i)
    p.dimensions.push_back({static_cast<Index>(16 + below(dimensions > 1 ? 9 : 49)), 1, 1, types[below(4)]});
  const std::uint64_t longest = dimensions > 1 ? 4 : loops > 1 ? 9 : 40;
  for (std::size_t i = 0; i < loops; ++i) p.loops.push_back({static_cast<Index>(1 + below(longest)), 1, 1});
  if (below(3) == 0) p.loops.push_back({2, 1, 1});  // real and imaginary parts
  lay_out(p, random, true);
  return p;
}

/// The transform by definition of a whole logical array.
std::vector<Exact> exact_transform(const FftProblem& p, std::vector<Exact> values) {
  Shape shape;
  AxisVector<Transform> transforms;
  for (const FftDimension& d : axes_of(p)) shape.push_back(d.n);
  for (std::size_t a = 0; a < p.loops.size(); ++a) transforms.push_back(Transform::none);
  for (const FftDimension& d : p.dimensions) transforms.push_back(d.transform);
  if (p.kind == FftKind::real) transforms[shape.size() - 1] = Transform::r2c;
  const bool conjugate = p.kind == FftKind::c2c && p.direction == Direction::backward;
  if (conjugate)
    for (Exact& v : values) v = std::conj(v);
  values = direct_sum(shape, transforms, values);
  if (conjugate)
    for (Exact& v : values) v = std::conj(v);
  return values;
}

/// What a plan is given and what it must give, of values and their transform forward, or c2c backward.
LocalProblem problem_of(const FftProblem& p, std::vector<Exact> values, std::vector<Exact> transformed) {
  LocalProblem problem{p, std::move(values), std::move(transformed)};
  long double factor = p.scale;
  if (p.kind == FftKind::real && p.direction == Direction::backward) {
    // The spectrum of a real array, whose c2r is that array times the number of its points.
    std::swap(problem.input, problem.expected);
    for (const FftDimension& d : p.dimensions) factor *= static_cast<long double>(d.n);
  }
  for (Exact& v : problem.expected) v *= factor;
  return problem;
}

template <class Real>
LocalResult compute_in(const LocalFft& plan, const LocalProblem& problem) {
  const FftProblem& p = problem.fft;
  const auto memory = [&](bool from) {
    const std::vector<Index> at = positions(p, from);
    const Index elements = 1 + *std::max_element(at.begin(), at.end());
    return std::vector<Real>(static_cast<std::size_t>(elements * (is_complex(p, from) ? 2 : 1)), Real(-7.5));
  };
  std::vector<Real> from = memory(true), to = memory(false);
  if (p.in_place) from.resize(std::max(from.size(), to.size()), Real(-7.5));
  const auto visit = [&](bool of_from, std::vector<Real>& data, const auto& f) {
    const std::vector<Index> at = positions(p, of_from);
    const bool complex = is_complex(p, of_from);
    for (std::size_t i = 0; i < at.size(); ++i) f(i, data.data() + at[i] * (complex ? 2 : 1), complex);
  };
  visit(true, from, [&](std::size_t i, Real* v, bool complex) {
    v[0] = static_cast<Real>(problem.input[i].real());
    if (complex) v[1] = static_cast<Real>(problem.input[i].imag());
  });
  const std::vector<Real> before = from;
  std::vector<Real>& out = p.in_place ? from : to;
  Buffer<std::byte> work(static_cast<std::size_t>(plan.work_bytes()));
  plan.execute(from.data(), out.data(), work.data());

  LocalResult result;
  result.input_kept = std::memcmp(before.data(), from.data(), before.size() * sizeof(Real)) == 0;
  long double difference = 0, norm = 0;
  visit(false, out, [&](std::size_t i, Real* v, bool complex) {
    const Exact got(v[0], complex ? v[1] : Real(0));
    result.output.push_back(got);
    difference += std::norm(got - problem.expected[i]);
    norm += std::norm(problem.expected[i]);
    v[0] = Real(-7.5);
    if (complex) v[1] = Real(-7.5);
  });
  result.error = static_cast<double>(std::sqrt(difference / norm));
  result.gaps_kept =
      p.in_place || std::all_of(out.begin(), out.end(), [](Real v) { return v == Real(-7.5); });
  return result;
}

}  // namespace

LocalProblem random_local_problem(std::mt19937_64& random) {
  return with_values(random_layout(random, false), random);
}

LocalProblem random_r2r_problem(std::mt19937_64& random) {
  return with_values(random_layout(random, true), random);
}

LocalProblem random_cosines_problem(std::mt19937_64& random) {
  return with_values(random_cosines(random), random);
}

LocalProblem with_values(const FftProblem& p, std::mt19937_64& random) {
  std::uniform_real_distribution<float> value(-1, 1);
  std::size_t points = 1;
  for (const FftDimension& d : axes_of(p)) points *= static_cast<std::size_t>(d.n);
  std::vector<Exact> whole(points);
  for (Exact& v : whole) v = Exact(value(random), p.kind == FftKind::c2c ? value(random) : 0.0f);
  std::vector<Exact> transformed = exact_transform(p, whole);
  return problem_of(p, std::move(whole), std::move(transformed));
}

LocalProblem with_products(const FftProblem& p, std::mt19937_64& random) {
  std::vector<Exact> whole{Exact(1)}, whole_transformed{Exact(1)};
  const std::vector<FftDimension> axes = axes_of(p);
  for (std::size_t a = 0; a < axes.size(); ++a) {
    // Multiples of 1/64, of which products are exact in single precision. None is zero.
    const auto part = [&] {
      const int i = static_cast<int>(random() % 128);
      return static_cast<long double>(i < 64 ? i - 64 : i - 63) / 64;
    };
    std::vector<Exact> values(static_cast<std::size_t>(axes[a].n));
    for (Exact& v : values) v = Exact(part(), p.kind == FftKind::c2c ? part() : 0);
    FftProblem line = p;
    line.loops.clear();
    line.dimensions = {axes[a]};
    if (p.kind == FftKind::real) line.direction = Direction::forward;
    if (a + 1 < axes.size()) line.kind = FftKind::c2c;
    const std::vector<Exact> transformed = a < p.loops.size() ? values : exact_transform(line, values);
    const auto multiply = [](std::vector<Exact>& all, const std::vector<Exact>& by) {
      std::vector<Exact> products;
      for (const Exact& v : all)
        for (const Exact& w : by) products.push_back(v * w);
      all = std::move(products);
    };
    multiply(whole, values);
    multiply(whole_transformed, transformed);
  }
  return problem_of(p, std::move(whole), std::move(whole_transformed));
}

LocalResult compute(const LocalFft& plan, const LocalProblem& problem) {
  return problem.fft.precision == Precision::float64 ? compute_in<double>(plan, problem)
                                                     : compute_in<float>(plan, problem);
}

double local_bound(const LocalProblem& problem) {
  Problem whole;
  for (const FftDimension& d : problem.fft.dimensions) {
    whole.shape.push_back(d.n);
    whole.transforms.push_back(d.transform);
  }
  whole.precision = problem.fft.precision;
  return 2 * error_bound(whole, 0);
}

}  // namespace weft::test
