// Operators between two transforms (Problem::between): against direct sums, on all pipelines.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <random>

#include "base/test_hook.hpp"
#include "geometry/layout.hpp"
#include "geometry/transform.hpp"
#include "support/expect_error.hpp"
#include "support/kept_modes.hpp"
#include "support/says.hpp"
#include "weft/weft.hpp"

namespace weft::test {

namespace {

using C = std::complex<double>;
using Arrays = std::vector<std::vector<Exact>>;

Index position(const Shape& shape, const Shape& at) {
  Index i = 0;
  for (int a = 0; a < shape.size(); ++a) i = i * shape[a] + at[a];
  return i;
}

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

template <class T>
T narrowed(const Exact& v) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(v.real());
  } else {
    return T(v);
  }
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
  for (const int ranks : {1, 2, 3, 4, 5})
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
  for (const int ranks : {1, 2, 3, 4})
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
  for (const int ranks : {1, 2, 3, 4})
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
  for (const int ranks : {2, 3, 4, 6})
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
  for (const int ranks : {1, 2})
    ThreadTeam(ranks).run([](const Comm& comm) {
      for (const Between between : {Between::modes, Between::points}) {
        Problem p{.shape = {40, 24, 36}, .between = between, .precision = Precision::float32, .batch = 2};
        check<F, F>(comm, p, Options().set("threads", 3));
        p.precision = Precision::float64;
        check<C, C>(comm, p, Options().set("threads", 2));
      }
    });
}

}  // namespace weft::test
