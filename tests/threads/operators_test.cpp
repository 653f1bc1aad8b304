// Operators between two transforms (Problem::between): against direct sums, on all pipelines.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <complex>
#include <functional>
#include <numbers>
#include <random>
#include <stdexcept>

#include "api/plan_impl.hpp"
#include "geometry/layout.hpp"
#include "geometry/transform.hpp"
#include "support/expect_error.hpp"
#include "support/kept_modes.hpp"
#include "support/rank_counts.hpp"
#include "support/says.hpp"
#include "support/whole_arrays.hpp"
#include "weft/weft.hpp"

namespace weft::test {

namespace {

using C = std::complex<double>;
using Arrays = std::vector<std::vector<Exact>>;

Problem with_defaults(Problem p) {
  if (p.transforms.empty()) p.transforms = AxisVector<Transform>(p.shape.size(), Transform::c2c);
  const auto natural = [&] {
    const bool cosines = std::any_of(p.transforms.begin(), p.transforms.end(), is_r2r);
    return p.transforms.contains(Transform::r2c) || (cosines && !p.transforms.contains(Transform::c2c));
  };
  if (!p.element) p.element = natural() ? Element::real : Element::complex;
  return p;
}

/// What an operator of the tests does with the fields of an element: of modes a mixture by real factors that
/// are equal for k and -k, of points a product as well.
struct Mixture {
  const Problem& p;
  Index results;

  long double factor(const Shape& at) const {
    const Shape shape = p.between == Between::modes ? modes_of(p) : points_of(p);
    long double sum = 1;
    for (int a = 0; a < at.size(); ++a) {
      const bool both_signs = p.between == Between::modes && p.transforms[a] == Transform::c2c;
      const Index k = both_signs ? std::min(at[a], shape[a] - at[a]) : at[a];
      sum += static_cast<long double>(k) * 0.25L / static_cast<long double>(a + 1);
    }
    return sum;
  }
  template <class T, class Get>
  std::vector<T> operator()(const Get& get, Index fields, const Shape& at) const {
    using Real = decltype(std::abs(T{}));
    std::vector<T> all;
    for (Index r = 0; r < results; ++r) {
      T sum = 0;
      for (Index f = 0; f < fields; ++f) sum += static_cast<Real>(1 + f + 2 * r) * T(get(f));
      sum *= static_cast<Real>(factor(at));
      if (p.between == Between::points) sum += T(get(0)) * T(get(fields - 1));
      all.push_back(sum);
    }
    return all;
  }
};

double scale_of(const Problem& p, Direction d) {
  const double n = logical_size(p.shape, p.transforms);
  const Scale s = d == Direction::forward ? p.forward_scale : p.backward_scale;
  return s == Scale::none ? 1 : s == Scale::full ? 1 / n : 1 / std::sqrt(n);
}

Arrays transformed(const Problem& p, Direction d, const Arrays& from) {
  Arrays all;
  for (const std::vector<Exact>& one : from) {
    all.push_back(d == Direction::forward ? exact_modes(p, one) : exact_points(p, one));
    for (Exact& v : all.back()) v *= scale_of(p, d);
  }
  return all;
}

Arrays expected(const Problem& p, const Arrays& from, Index results) {
  const bool modes = p.between == Between::modes;
  const Direction first = modes ? Direction::forward : Direction::backward;
  const Arrays inside = transformed(p, first, from);
  const Shape shape = modes ? modes_of(p) : points_of(p);
  Arrays changed(static_cast<std::size_t>(results), std::vector<Exact>(inside[0].size()));
  const Mixture mixture{p, results};
  for_each_point(
      Box::whole(shape), dense_strides(shape, c_order(shape.size())), 0, [&](const Shape& at, std::size_t i) {
        const auto get = [&](Index f) { return inside[static_cast<std::size_t>(f)][i]; };
        const std::vector<Exact> all = mixture.operator()<Exact>(get, static_cast<Index>(from.size()), at);
        for (std::size_t r = 0; r < all.size(); ++r) changed[r][i] = all[r];
      });
  return transformed(p, modes ? Direction::backward : Direction::forward, changed);
}

/// Arrays on the side that a plan starts from, as modes of real points where those are real.
Arrays random_arrays(const Problem& p, Index count) {
  std::mt19937 engine(11);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Arrays all;
  for (Index j = 0; j < count; ++j) {
    std::vector<Exact> one;
    for (Index i = 0; i < Box::whole(points_of(p)).count(); ++i) {
      const double re = uniform(engine), im = uniform(engine);
      one.emplace_back(re, p.element == Element::real ? 0 : im);
    }
    all.push_back(std::move(one));
  }
  return p.between == Between::points ? transformed(p, Direction::forward, all) : all;
}

/// Applies the mixture in one direction; the relative error. `T`: of the arrays, `M`: between.
template <class T, class M>
double error(Plan& plan, const Problem& p, Direction direction, const Arrays& from, const Arrays& to) {
  const bool forward = direction == Direction::forward;
  Buffer<T> in(plan.buffer_bytes() / sizeof(T)), other(plan.buffer_bytes() / sizeof(T));
  T* const out = p.in_place ? in.data() : other.data();
  const Shape shape = input_shape(p);
  const auto each = [&](bool input, Index arrays, const auto& f) {
    const auto distance = static_cast<std::size_t>(input ? plan.input_distance() : plan.output_distance());
    for (std::size_t j = 0; j < static_cast<std::size_t>(arrays); ++j) {
      const auto at = [&](const Shape& index, std::size_t i) {
        f(j, static_cast<std::size_t>(position(shape, index)), i + j * distance);
      };
      input ? for_each_input(plan, at) : for_each_output(plan, at);
    }
  };
  each(forward, static_cast<Index>(from.size()),
       [&](std::size_t j, std::size_t at, std::size_t i) { in[i] = narrowed<T>(from[j][at]); });
  const Mixture mixture{p, static_cast<Index>(to.size())};
  plan.apply(
      in.data(), out,
      [&](const Block& block) {
        ASSERT_EQ(block.fields, static_cast<Index>(from.size()));
        ASSERT_EQ(block.results, static_cast<Index>(to.size()));
        for_each_element<M>(block, [&](const Fields<M>& f, const Shape& index) {
          const std::vector<M> all =
              mixture.operator()<M>([&](Index i) { return f[i]; }, block.fields, index);
          for (std::size_t r = 0; r < all.size(); ++r) f[static_cast<Index>(r)] = all[r];
        });
      },
      direction);
  long double difference = 0, norm = 0;
  for (const std::vector<Exact>& one : to)
    for (const Exact& v : one) norm += std::norm(v);
  each(!forward, static_cast<Index>(to.size()), [&](std::size_t j, std::size_t at, std::size_t i) {
    difference += std::norm(Exact(out[i]) - to[j][at]);
  });
  return static_cast<double>(std::sqrt(difference / norm));
}

template <class T, class M>
void check(const Comm& comm, Problem p, const Options& options = {}) {
  p = with_defaults(std::move(p));
  Plan plan(comm, p, options);
  const double eps = p.precision == Precision::float64 ? 2e-15 : 1e-6;
  for (const Direction d : {Direction::forward, Direction::backward}) {
    const Arrays from = random_arrays(p, arrays_of(p, d));
    const Index results = arrays_of(p, d == Direction::forward ? Direction::backward : Direction::forward);
    EXPECT_LT((error<T, M>(plan, p, d, from, expected(p, from, results))), eps) << plan.to_string();
  }
}

/// On every kind of axis, with modes or points between.
void check_kinds(const Comm& comm, const Problem& like, const Options& options = {}) {
  const auto with = [&](Shape shape, AxisVector<Transform> transforms, Element element) {
    Problem p = like;
    p.shape = shape;
    p.transforms = transforms;
    p.element = element;
    return p;
  };
  using enum Transform;
  check<C, C>(comm, with({8, 9, 10}, {c2c, c2c, c2c}, Element::complex), options);
  check<C, C>(comm, with({7, 6}, {c2c, c2c}, Element::complex), options);
  const Problem real = with({9, 6, 8}, {c2c, c2c, r2c}, Element::real);
  const Problem first = with({8, 5, 6}, {r2c, dct2, c2c}, Element::real);
  if (like.between == Between::modes) {
    check<double, C>(comm, real, options);
    check<double, C>(comm, first, options);
  } else {
    check<C, double>(comm, real, options);
    check<C, double>(comm, first, options);
  }
  check<double, double>(comm, with({6, 5, 7}, {dst2, none, dct1}, Element::real), options);
}

}  // namespace

TEST(Operators, OnEveryKindOfAxis) {
  for (const int ranks : rank_counts({1, 2, 3, 4, 5}))
    ThreadTeam(ranks).run([](const Comm& comm) {
      for (const Between between : {Between::modes, Between::points})
        check_kinds(comm, {.shape = {}, .between = between, .backward_scale = Scale::full});
    });
}

TEST(Operators, InEveryPipeline) {
  for (const char* pipeline : {"sequential", "th", "windowed", "planes", "two-front"})
    for (const char* exchange : {"copy", "direct"})
      ThreadTeam(3).run([&](const Comm& comm) {
        for (const Between between : {Between::modes, Between::points})
          check_kinds(comm, {.shape = {}, .between = between, .forward_scale = Scale::symmetric},
                      Options().set("pipeline", pipeline).set("exchange", exchange));
      });
}

TEST(Operators, OfSeveralFields) {
  for (const int ranks : rank_counts({1, 2, 3, 4}))
    ThreadTeam(ranks).run([](const Comm& comm) {
      for (const Between between : {Between::modes, Between::points})
        for (const auto& [fields, results] : {std::pair<Index, Index>{3, 0}, {1, 3}, {3, 1}, {2, 3}}) {
          Problem p{.shape = {}, .between = between, .results = results, .batch = fields};
          p.forward_scale = Scale::full;
          check_kinds(comm, p);
          p.in_place = true;
          check_kinds(comm, p);
        }
    });
}

TEST(Operators, BetweenTransformsLongerThanTheirArrays) {
  for (const int ranks : rank_counts({1, 2, 3, 4}))
    ThreadTeam(ranks).run([](const Comm& comm) {
      for (const Between between : {Between::modes, Between::points})
        for (const Index results : {0, 2}) {
          check<C, C>(comm, {.shape = {12, 9, 15},
                             .modes = {8, 6, 9},
                             .between = between,
                             .results = results,
                             .element = Element::complex});
          check<C, C>(comm, {.shape = {12, 9, 15},
                             .points = {7, 9, 8},
                             .between = between,
                             .results = results,
                             .element = Element::complex});
          Problem real{.shape = {9, 12, 12}, .modes = {6, 7, 5}, .between = between, .results = results};
          real.transforms = {Transform::c2c, Transform::c2c, Transform::r2c};
          between == Between::modes ? check<double, C>(comm, real) : check<C, double>(comm, real);
        }
    });
}

TEST(Operators, WithEveryDistribution) {
  for (const int ranks : rank_counts({2, 3, 4, 6}))
    ThreadTeam(ranks).run([](const Comm& comm) {
      for (const Between between : {Between::modes, Between::points})
        for (const Distribution& input :
             {Distribution::slab(2), Distribution::pencil(1), Distribution::brick(), Distribution::fastest()})
          for (const Distribution& output :
               {Distribution::slab(0), Distribution::slab(1), Distribution::pencil(1),
                Distribution::brick().with_order({1, 0, 2}), Distribution::fastest()}) {
            Problem p{.shape = {6, 8, 7}, .between = between, .input = input, .output = output, .batch = 2};
            check<C, C>(comm, p);
            check<C, C>(comm, p, Options().set("decomposition", "pencil"));
            p.in_place = true;
            p.results = 3;
            check<C, C>(comm, p);
          }
    });
}

TEST(Operators, WithThreadsAndFloats) {
  using F = std::complex<float>;
  for (const int ranks : rank_counts({1, 2}))
    ThreadTeam(ranks).run([](const Comm& comm) {
      for (const Between between : {Between::modes, Between::points}) {
        Problem p{.shape = {32, 20, 24}, .between = between, .precision = Precision::float32, .batch = 2};
        check<F, F>(comm, p, Options().set("threads", 3));
        p.precision = Precision::float64;
        check<C, C>(comm, p, Options().set("threads", 2));
      }
    });
}

namespace {

/// A smooth field of period 2 pi along x, 4 pi along y and 2 along z, and what becomes of it.
using Function = std::function<double(double, double, double)>;
const AxisVector<double> box_lengths{2 * std::numbers::pi, 4 * std::numbers::pi, 2};

void fill(const Plan& plan, bool input, double* array, const std::vector<Function>& fields) {
  const Shape& shape = PlanImpl::of(plan).problem.shape;
  const Index distance = input ? plan.input_distance() : plan.output_distance();
  for (std::size_t f = 0; f < fields.size(); ++f) {
    const auto each = [&](const Shape& at, std::size_t i) {
      double x[3];
      for (int a = 0; a < 3; ++a)
        x[a] = box_lengths[a] * static_cast<double>(at[a]) / static_cast<double>(shape[a]);
      array[i + f * static_cast<std::size_t>(distance)] = fields[f](x[0], x[1], x[2]);
    };
    input ? for_each_input(plan, each) : for_each_output(plan, each);
  }
}

/// An operator of three-dimensional real fields, beside what it should give.
void check_operator(const Comm& comm, const std::function<ModeOperator(const Problem&)>& make,
                    const std::vector<Function>& fields, const std::vector<Function>& results,
                    double tolerance = 3e-13) {
  Problem p{.shape = {12, 15, 16}, .between = Between::modes};
  p.transforms = {Transform::c2c, Transform::c2c, Transform::r2c};
  p.backward_scale = Scale::full;
  p.batch = static_cast<Index>(fields.size());
  p.results = static_cast<Index>(results.size());
  Plan plan(comm, p);
  std::vector<double> in(plan.input_count()), out(plan.output_count()), expected(plan.output_count());
  fill(plan, true, in.data(), fields);
  fill(plan, false, expected.data(), results);
  plan.apply(in.data(), out.data(), make(p));
  for (std::size_t i = 0; i < out.size(); ++i) ASSERT_NEAR(out[i], expected[i], tolerance);
}

const double pi = std::numbers::pi;
double f(double x, double y, double z) {
  return std::sin(2 * x) * std::cos(y / 2) * std::sin(pi * z);
}
double fx(double x, double y, double z) {
  return 2 * std::cos(2 * x) * std::cos(y / 2) * std::sin(pi * z);
}
double fy(double x, double y, double z) {
  return -0.5 * std::sin(2 * x) * std::sin(y / 2) * std::sin(pi * z);
}
double fz(double x, double y, double z) {
  return pi * std::sin(2 * x) * std::cos(y / 2) * std::cos(pi * z);
}
const double minus_k2 = -(4 + 0.25 + pi * pi);
Function times(double factor, const Function& g) {
  return [=](double x, double y, double z) { return factor * g(x, y, z); };
}
Function plus(const Function& a, const Function& b) {
  return [=](double x, double y, double z) { return a(x, y, z) + b(x, y, z); };
}

}  // namespace

TEST(Operators, ReadyMadeOnesOfSmoothFields) {
  const Function nothing = [](double, double, double) { return 0.0; };
  for (const int ranks : rank_counts({1, 2, 3}))
    ThreadTeam(ranks).run([&](const Comm& comm) {
      const auto with = [](auto make) { return [=](const Problem& p) { return make(p, box_lengths); }; };
      for (const auto& [axis, result] : std::vector<std::pair<int, Function>>{{0, fx}, {1, fy}, {2, fz}}) {
        check_operator(comm, [a = axis](const Problem& p) { return derivative(p, a, 1, box_lengths); }, {f},
                       {result});
        const double k2 = std::vector<double>{4, 0.25, pi * pi}[static_cast<std::size_t>(axis)];
        check_operator(comm, [a = axis](const Problem& p) { return derivative(p, a, 2, box_lengths); }, {f},
                       {times(-k2, f)});
        check_operator(
            comm, [a = axis](const Problem& p) { return derivative(p, a, 3, box_lengths); }, {f},
            {times(-k2, result)}, 1e-11);  // rounding errors of short waves grow by k^3, up to 16000
      }
      check_operator(comm, with(gradient), {f}, {fx, fy, fz});
      check_operator(comm, with(gradient), {f, times(3, f)},
                     {fx, fy, fz, times(3, fx), times(3, fy), times(3, fz)});
      check_operator(comm, with(divergence), {fx, fy, fz, f, f, f},
                     {times(minus_k2, f), plus(fx, plus(fy, fz))});
      check_operator(comm, with(curl), {fx, fy, fz}, {nothing, nothing, nothing});
      check_operator(comm, with(curl), {f, nothing, nothing}, {nothing, fz, times(-1, fy)});
      // A gradient has no part without divergence, and a curl no other.
      check_operator(comm, with(solenoidal_part), {fx, plus(fy, fz), plus(fz, times(-1, fy))},
                     {nothing, fz, times(-1, fy)});
      check_operator(comm, with(laplacian), {f, fx}, {times(minus_k2, f), times(minus_k2, fx)});
      check_operator(comm, [](const Problem& p) { return inverse_helmholtz(p, 0, box_lengths); },
                     {plus(f, [](double, double, double) { return 5.0; })}, {times(-1 / minus_k2, f)});
      check_operator(comm, [](const Problem& p) { return inverse_helmholtz(p, 2.5, box_lengths); }, {f},
                     {times(1 / (2.5 - minus_k2), f)});
      check_operator(comm,
                     [](const Problem& p) {
                       return shift(p, {0.3, -1, 0.7}, box_lengths);
                     },
                     {f}, {[](double x, double y, double z) { return f(x + 0.3, y - 1, z + 0.7); }});
      check_operator(comm,
                     [](const Problem& p) {
                       return filter(
                           p, [](double k) { return k < 4 ? 2.0 : 0.0; }, box_lengths);
                     },
                     {plus(f, [](double x, double, double z) { return std::cos(4 * x + pi * z); })},
                     {times(2, f)});
    });
}

TEST(Operators, OfCosinesToo) {
  ThreadTeam(2).run([](const Comm& comm) {
    Problem p{.shape = {10, 8}, .between = Between::modes};
    p.transforms = {Transform::dct2, Transform::dst2};
    p.backward_scale = Scale::full;
    Plan plan(comm, p);
    std::vector<double> in(plan.input_count()), out(in.size());
    // Half a period of the cosine is the whole interval, whose double is the period.
    const auto g = [](const Shape& at) {
      return std::cos(3 * pi * (static_cast<double>(at[0]) + 0.5) / 10) *
             std::sin(2 * pi * (static_cast<double>(at[1]) + 0.5) / 8);
    };
    for_each_input(plan, [&](const Shape& at, std::size_t i) { in[i] = g(at); });
    plan.apply(in.data(), out.data(), laplacian(p, {2, 6}));
    const double k2 = 9 * pi * pi + 4 * pi * pi / 9;
    for_each_output(plan, [&](const Shape& at, std::size_t i) { EXPECT_NEAR(out[i], -k2 * g(at), 1e-11); });
    expect_error([&] { derivative(p, 0); }, "an odd derivative of a DCT is a DST");
    expect_error([&] { gradient(p); }, "along axis 0");
  });
}

/// The product of two fields by the 3/2 rule has no aliasing errors: their modes, products at 3/2 points, the
/// modes of the product.
TEST(Operators, ProductsWithoutAliasing) {
  ThreadTeam(3).run([](const Comm& comm) {
    constexpr Index m = 8, n = 12;
    Problem p{.shape = {n, n}, .modes = {m, m}, .between = Between::points, .results = 1, .batch = 2};
    p.forward_scale = Scale::full;
    Plan plan(comm, p);
    std::vector<C> in(plan.input_count()), out(plan.output_count());
    // exp(i (3 x - 2 y)) and exp(i (2 x - 1 y)): of the product the mode 5 along x is not kept.
    const auto is_mode = [](const Shape& at, Index kx, Index ky) {
      return at[0] == (kx + m) % m && at[1] == (ky + m) % m;
    };
    for (const bool beyond : {true, false}) {
      for_each_input(plan, [&](const Shape& at, std::size_t i) {
        in[i] = is_mode(at, 3, -2) ? 1 : 0;
        in[i + static_cast<std::size_t>(plan.input_distance())] = is_mode(at, beyond ? 2 : -1, -1) ? 1 : 0;
      });
      plan.apply(in.data(), out.data(), [](const Block& block) {
        for_each_element<C>(block, [](const Fields<C>& u, const Shape&) { u[0] *= u[1]; });
      });
      for_each_output(plan, [&](const Shape& at, std::size_t i) {
        EXPECT_NEAR(std::abs(out[i] - C(!beyond && is_mode(at, 2, -3) ? 1 : 0)), 0, 1e-14);
      });
    }
  });
}

/// Each element comes once, whatever the threads.
TEST(Operators, GetEachElementOnce) {
  for (const char* threads : {"1", "3"})
    ThreadTeam(2).run([&](const Comm& comm) {
      Problem p{.shape = {20, 33, 24}, .modes = {13, 33, 24}, .between = Between::modes};
      Plan plan(comm, p, Options().set("threads", threads));
      std::vector<C> in(plan.input_count()), out(plan.output_count());
      std::vector<std::atomic<int>> seen(13 * 33 * 24);
      plan.apply(in.data(), out.data(), [&](const Block& block) {
        EXPECT_EQ(block.fields, 1);
        for_each_element<C>(block, [&](const Fields<C>&, const Shape& at) {
          ++seen[static_cast<std::size_t>((at[0] * 33 + at[1]) * 24 + at[2])];
        });
      });
      std::vector<double> mine, all(seen.size());
      for (const auto& count : seen) mine.push_back(count);
      comm.impl().sum(mine, all);
      for (const double count : all) EXPECT_EQ(count, 1);
    });
}

TEST(Operators, ThatThrowFailOnAllRanks) {
  for (const char* threads : {"1", "2"}) {
    ThreadTeam team(3);
    std::vector<std::string> said(3);
    EXPECT_ANY_THROW(team.run([&](const Comm& comm) {
      Plan plan(comm, {.shape = {16, 12, 8}, .between = Between::modes}, Options().set("threads", threads));
      std::vector<C> in(plan.input_count()), out(plan.output_count());
      try {
        plan.apply(in.data(), out.data(), [&](const Block&) {
          if (comm.rank() == 1) throw std::runtime_error("an operator's failure");
        });
      } catch (const std::exception& e) {
        said[static_cast<std::size_t>(comm.rank())] = e.what();
        throw;
      }
    }));
    for (const std::string& text : said) EXPECT_TRUE(says(text, "an operator's failure")) << text;
  }
}

/// forward and backward are executions without an operator, which leave nothing in arrays that it would add.
TEST(Operators, AreLeftOutByForward) {
  ThreadTeam(2).run([](const Comm& comm) {
    Problem p{.shape = {12, 10, 8}, .between = Between::points, .results = 2};
    p.backward_scale = Scale::full;
    Plan plan(comm, p);
    std::vector<C> in(plan.input_count(), 3), out(plan.output_count()), back(plan.input_count());
    plan.apply(in.data(), out.data(), [](const Block& b) {
      for_each_element<C>(b, [](const Fields<C>& f, const Shape&) { f[1] = 1e300; });
    });
    const auto next = static_cast<std::size_t>(plan.output_distance());
    for (int i = 0; i < 3; ++i) {
      plan.forward(in.data(), out.data());
      for (std::size_t k = 0; k < in.size(); ++k) {
        ASSERT_NEAR(std::abs(out[k] - in[k]), 0, 1e-12);
        ASSERT_EQ(out[k + next], C{});
      }
    }
    plan.backward(out.data(), back.data());
    for (std::size_t k = 0; k < in.size(); ++k) ASSERT_NEAR(std::abs(back[k] - in[k]), 0, 1e-12);
  });
}

/// Of the mode m/2 that stands for -m/2 alone there is nothing to leave out.
TEST(Operators, OfASingleModeInTheMiddle) {
  Problem p{.shape = {12}, .modes = {8}, .modes_nyquist = ModesNyquist::single, .between = Between::modes};
  p.backward_scale = Scale::full;
  Plan plan(Comm::self(), p);
  std::vector<C> in(12), out(12);
  const auto wave = [](double j) { return std::exp(C(0, -4 * 2 * pi * j / 12)); };
  for (std::size_t j = 0; j < 12; ++j) in[j] = wave(static_cast<double>(j));
  plan.apply(in.data(), out.data(), derivative(p, 0));
  for (std::size_t j = 0; j < 12; ++j) EXPECT_NEAR(std::abs(out[j] - C(0, -4) * in[j]), 0, 1e-13);
  plan.apply(in.data(), out.data(), shift(p, {2 * pi / 24}));
  for (std::size_t j = 0; j < 12; ++j)
    EXPECT_NEAR(std::abs(out[j] - wave(static_cast<double>(j) + 0.5)), 0, 1e-13);
}

namespace {
void doubled(const Block& block) {
  for_each_element<C>(block, [](const Fields<C>& f, const Shape&) { f[0] *= 2; });
}
}  // namespace

TEST(Operators, MayBeFunctions) {
  Problem p{.shape = {6, 5}, .between = Between::modes};
  p.backward_scale = Scale::full;
  Plan plan(Comm::self(), p);
  std::vector<C> in(30, C(1, 2)), out(30);
  plan.apply(in.data(), out.data(), doubled);
  for (const C& v : out) EXPECT_NEAR(std::abs(v - C(2, 4)), 0, 1e-14);
}

/// Rows are as long as they can be.
TEST(Operators, WorkOnRows) {
  for (const Shape& shape : {Shape{40, 40, 40}, Shape{64, 64, 1}, Shape{1, 64, 64}}) {
    Plan plan(Comm::self(), {.shape = shape, .between = Between::modes});
    std::vector<C> in(plan.input_count()), out(plan.output_count());
    std::atomic<Index> rows = 0, elements = 0;
    plan.apply(in.data(), out.data(), [&](const Block& b) {
      for_each_row<C>(b, [&](C*, Index n, Index, const Shape&, int) {
        ++rows;
        elements += n;
      });
    });
    EXPECT_EQ(elements, static_cast<Index>(in.size()));
    EXPECT_GE(elements / rows, 8) << plan;
  }
}

TEST(Operators, ArePrinted) {
  const Problem p{.shape = {16, 16, 16}, .modes = {8, 8, 8}, .between = Between::modes, .results = 2};
  const Plan plan(Comm::self(), p);
  EXPECT_TRUE(says(plan.to_string(), "an operator on modes between, 2 results")) << plan;
  EXPECT_TRUE(says(plan.to_string(), "(16 points, 8 modes of 16), operator, and back")) << plan;
}

TEST(Operators, BadInput) {
  const Comm comm = Comm::self();
  const Problem good{.shape = {8, 8, 8}, .between = Between::modes};
  const auto planned = [&](const auto& change, const Options& options = {}) {
    Problem p = good;
    change(p);
    return [=] { const Plan plan(Comm::self(), p, options); };
  };
  expect_error(planned([](Problem& p) { p.results = -1; }), "a number of arrays");
  expect_error(planned([](Problem& p) {
                 p.between = Between::none;
                 p.results = 2;
               }),
               "as there is no operator");
  expect_error(planned([](Problem& p) { p.line = {0, 1}; }), "without Problem::line");
  expect_error(planned([](Problem& p) { p.transforms = AxisVector<Transform>(3, Transform::none); }),
               "a transform along one axis");
  expect_error(planned([](Problem& p) { p.between = static_cast<Between>(7); }), "points (2)");
  expect_error(planned([](Problem&) {}, Options().set("tolerance", "1e-6")), "what an operator makes of");
  Plan plan(comm, good);
  std::vector<C> in(plan.input_count()), out(plan.output_count());
  // What is wrong is found before any data move, and the plan stays as it was.
  const auto applied = [&](const ModeOperator& op) { plan.apply(in.data(), out.data(), op); };
  Plan ordinary(comm, {.shape = {8, 8, 8}});
  expect_error([&] { ordinary.apply(in.data(), out.data(), laplacian(good)); }, "with nothing between");
  expect_error([&] { plan.apply(in.data(), out.data(), laplacian(good), static_cast<Direction>(5)); },
               "forward (0) or backward (1)");
  expect_error([&] { ordinary.between_box(); }, "something between");
  expect_error([&] { applied(gradient(good)); }, "3 results for each field");
  expect_error([&] { applied(divergence(good)); }, "3 fields for each result");
  expect_error([&] { applied(curl(good)); }, "3 fields for each vector");
  Problem other = good;
  other.shape = {16, 8, 8};
  expect_error([&] { applied(laplacian(other)); }, "a plan of the operator's problem");
  expect_error([&] { product(plan, static_cast<const C*>(nullptr)); }, "a null pointer");
  expect_error([&] { product(plan, static_cast<const std::complex<float>*>(nullptr)); }, "another type");
  expect_error([&] { product(ordinary, in.data()); }, "Problem::between modes");
  applied(laplacian(good));
  expect_error(
      [&] {
        Plan once(comm, good);
        once.apply(in.data(), out.data(), [](const Block& b) {
          for_each_element<double>(b, [](const Fields<double>&, const Shape&) {});
        });
      },
      "those between the transforms");
  expect_error([&] { derivative(good, 3); }, "an axis from 0 to 2");
  expect_error([&] { derivative(good, 0, -1); }, "0 or more");
  expect_error([&] { laplacian(good, {1, 2}); }, "one positive number for each of 3 axes");
  expect_error([&] { laplacian(good, {1, 2, 0}); }, "one positive number");
  expect_error([&] { shift(good, {1}); }, "one for each of 3 axes");
  expect_error([&] { filter(good, nullptr); }, "a function of |k|");
  Problem flat = good;
  flat.shape = {8, 8};
  expect_error([&] { curl(flat); }, "three axes");
  flat.between = Between::points;
  expect_error([&] { laplacian(flat); }, "Problem::between modes");
  expect_error([&] { for_each_mode(plan, [](const auto&, std::size_t) {}); }, "with modes between");
  expect_error([&] { shell_spectrum(plan, in.data()); }, "with modes between");
  EXPECT_EQ(wavenumbers(plan, 0), wavenumbers(good, 0));
  EXPECT_EQ(wavenumbers(plan, 0), (std::vector<double>{0, 1, 2, 3, -4, -3, -2, -1}));
}

}  // namespace weft::test
