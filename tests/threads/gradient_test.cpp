// Gradients by one transform along each axis, against direct sums.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "support/expect_error.hpp"
#include "support/rank_counts.hpp"
#include "support/says.hpp"
#include "weft/weft.hpp"

namespace weft::test {

namespace {

using Wide = std::complex<long double>;

std::size_t place_in(const Shape& shape, const Shape& at) {
  Index p = 0;
  for (int a = 0; a < shape.size(); ++a) p = p * shape[a] + at[a];
  return static_cast<std::size_t>(p);
}

/// The derivative at point j of a line that is 1 at point l: the sum over all wavenumbers but n/2.
Wide slope_at(Index n, Index j, Index l, long double length) {
  Wide sum = 0;
  for (Index k = -((n - 1) / 2); k <= (n - 1) / 2; ++k) {
    const long double angle = 2 * std::numbers::pi_v<long double> * static_cast<long double>(k * (j - l)) /
                              static_cast<long double>(n);
    const long double wave = 2 * std::numbers::pi_v<long double> * static_cast<long double>(k) / length;
    sum += Wide(0, wave) * std::polar(1.0L, angle);
  }
  return sum / static_cast<long double>(n);
}

struct Fields {
  Shape shape;
  std::vector<std::vector<Wide>> values;  ///< of each field, by global index in C order
};

Fields random_fields(const Problem& p, bool real) {
  std::mt19937 engine(7);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Fields all{p.shape, {}};
  for (Index f = 0; f < p.batch; ++f) {
    std::vector<Wide> one;
    for (Index i = 0; i < Box::whole(p.shape).count(); ++i) {
      const double re = uniform(engine), im = uniform(engine);
      one.emplace_back(re, real ? 0 : im);
    }
    all.values.push_back(std::move(one));
  }
  return all;
}

Wide slope(const Fields& all, std::size_t field, int axis, const Shape& at, long double length) {
  Wide sum = 0;
  Shape other = at;
  for (Index l = 0; l < all.shape[axis]; ++l) {
    other[axis] = l;
    sum += slope_at(all.shape[axis], at[axis], l, length) * all.values[field][place_in(all.shape, other)];
  }
  return sum;
}

template <class T>
T narrow(const Wide& v) {
  if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(v.real());
  else
    return T(v);
}

/// The largest error of this rank's derivatives, relative to the shortest wave. What is around the points is
/// left as it was.
template <class T>
double error_of(const Comm& comm, Problem p, const AxisVector<double>& lengths, const Options& options = {}) {
  constexpr bool real = std::is_floating_point_v<T>;
  p.precision = sizeof(T) / (real ? 1 : 2) == 8 ? Precision::float64 : Precision::float32;
  Gradient gradient(comm, p, options, lengths);
  const Fields all = random_fields(p, real);
  constexpr int nothing = 77;
  std::vector<T> in(gradient.input_count(), T(nothing)), out(gradient.output_count(), T(nothing));
  for (std::size_t f = 0; f < all.values.size(); ++f)
    for_each_point(
        gradient.input_box(), gradient.input_strides(),
        gradient.input_offset() + static_cast<Index>(f) * gradient.input_distance(),
        [&](const Shape& at, std::size_t i) { in[i] = narrow<T>(all.values[f][place_in(p.shape, at)]); });
  const std::vector<T> before = in;
  gradient(in.data(), out.data());
  EXPECT_EQ(in, before);
  long double worst = 0;
  Index array = 0;
  std::vector<bool> written(out.size());
  for (std::size_t f = 0; f < all.values.size(); ++f)
    for (const int axis : gradient.axes()) {
      const long double length =
          lengths.empty() ? 2 * std::numbers::pi_v<long double> : static_cast<long double>(lengths[axis]);
      const long double largest =
          std::numbers::pi_v<long double> * static_cast<long double>(p.shape[axis]) / length;
      for_each_point(gradient.output_box(), gradient.output_strides(),
                     gradient.output_offset() + array++ * gradient.output_distance(),
                     [&](const Shape& at, std::size_t i) {
                       const long double wrong = std::abs(Wide(out[i]) - slope(all, f, axis, at, length));
                       worst = std::max(worst, wrong / largest);
                       written[i] = true;
                     });
    }
  for (std::size_t i = 0; i < out.size(); ++i)
    EXPECT_TRUE(written[i] || out[i] == T(nothing)) << "element " << i;
  return static_cast<double>(worst);
}

template <class T>
void check(const Comm& comm, const Problem& p, const AxisVector<double>& lengths = {}) {
  const bool narrow_type = std::is_same_v<T, float> || std::is_same_v<T, std::complex<float>>;
  EXPECT_LT(error_of<T>(comm, p, lengths), narrow_type ? 2e-6 : 2e-14);
}

constexpr Transform c2c = Transform::c2c, r2c = Transform::r2c, none = Transform::none;

Problem real_points(const Shape& shape) {
  Problem p{.shape = shape};
  p.transforms = AxisVector<Transform>(p.shape.size(), c2c);
  p.transforms[p.shape.size() - 1] = r2c;
  return p;
}

}  // namespace

TEST(Gradient, OfAllKindsOfPoints) {
  for (const int ranks : rank_counts({1, 2, 3, 4}))
    ThreadTeam(ranks).run([](const Comm& comm) {
      for (const Shape& shape : {Shape{6, 5, 8}, Shape{8, 9}, Shape{7, 4, 5}, Shape{2, 5, 3, 4}}) {
        check<double>(comm, real_points(shape));
        check<float>(comm, real_points(shape));
        check<std::complex<double>>(comm, {.shape = shape});
        check<std::complex<float>>(comm, {.shape = shape}, AxisVector<double>(shape.size(), 3));
      }
      Problem p = real_points({6, 4, 8});
      p.transforms = {r2c, none, c2c};
      check<double>(comm, p, {1, 2, 4});
    });
}

TEST(Gradient, OfAllDistributions) {
  for (const int ranks : rank_counts({2, 3, 4}))
    ThreadTeam(ranks).run([](const Comm& comm) {
      std::vector<Distribution> all{Distribution::slab(0),
                                    Distribution::slab(2),
                                    Distribution::pencil(1),
                                    Distribution::brick(),
                                    Distribution::slab(1).with_order({2, 0, 1}),
                                    Distribution::slab(0).with_halo({0, 1, 2}, {1, 0, 2}),
                                    Distribution::slab(0).with_halo({0, 1, 1}, {1, 0, 1})};
      for (std::size_t i = 0; i < all.size(); ++i) {
        Problem p = real_points({8, 6, 10});
        p.input = all[i];
        p.output = all[(i + 1) % all.size()];
        check<double>(comm, p, {1, 2, 3});
        p.output = all[i];
        p.batch = 2;
        check<double>(comm, p);
        p.transforms = {};
        check<std::complex<double>>(comm, p);
      }
    });
}

TEST(Gradient, OfFieldsOneByOneOrSideBySide) {
  for (const int ranks : rank_counts({1, 3}))
    ThreadTeam(ranks).run([](const Comm& comm) {
      Problem p = real_points({6, 4, 8});
      p.batch = 3;
      check<double>(comm, p);
      // Vectors of a point side by side: the nine derivatives, too.
      p.input = Distribution::slab(0).with_strides({4 * 8 * 3, 8 * 3, 3});
      p.output = Distribution::slab(0).with_strides({4 * 8 * 9, 8 * 9, 9});
      p.input_distance = p.output_distance = 1;
      check<double>(comm, p);
      // Some way apart, and of an odd number of elements.
      p = real_points({6, 4, 8});
      p.batch = 2;
      p.input_distance = 6 * 4 * 8 + 3;
      p.output_distance = 6 * 4 * 8 + 1;
      check<double>(comm, p);
    });
}

TEST(Gradient, TakesRealPointsInPairsWhereTheyLieInPairs) {
  ThreadTeam(2).run([](const Comm& comm) {
    const Gradient even(comm, real_points({6, 4, 8}));
    EXPECT_TRUE(says(even.to_string(), "axis 0, two real points along axis 2 as a complex one"));
    EXPECT_TRUE(says(even.to_string(), "axis 1, two real points along axis 2 as a complex one"));
    EXPECT_TRUE(says(even.along(0).to_string(), "6x4x4 c2c,none,none"));
    EXPECT_TRUE(says(even.along(2).to_string(), "6x4x8 none,none,r2c"));
    const Gradient odd(comm, real_points({6, 4, 7}));
    EXPECT_TRUE(says(odd.along(0).to_string(), "6x4x7 r2c,none,none"));
    // One rank alone begins in the middle of a pair.
    Problem p = real_points({6, 8});
    p.input = p.output = Distribution::boxes({{{0, 0}, {6, 3}}, {{0, 3}, {6, 8}}});
    EXPECT_TRUE(says(Gradient(comm, p).along(0).to_string(), "6x8 r2c,none"));
    // What stays on a rank needs no workspace but of blocks.
    const Gradient large(comm, real_points({64, 64, 64}));
    EXPECT_LT(large.along(1).workspace_bytes(), 64u * 64 * 64 * 8 / 2);
  });
}

TEST(Gradient, IsThatOfTheOperator) {
  ThreadTeam(3).run([](const Comm& comm) {
    Problem p = real_points({12, 10, 14});
    Gradient gradient(comm, p, {}, {1, 2, 3});
    p.between = Between::modes;
    p.results = 3;
    p.backward_scale = Scale::full;
    Plan plan(comm, p);
    std::vector<double> in(plan.input_count()), out(plan.output_count()), other(out.size());
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = std::sin(static_cast<double>(i * i + 1));
    plan.apply(in.data(), out.data(), weft::gradient(p, {1, 2, 3}));
    ASSERT_EQ(gradient.output_count(), out.size());
    EXPECT_EQ(gradient.output_distance(), plan.output_distance());
    gradient(in.data(), other.data());
    for (std::size_t i = 0; i < out.size(); ++i) EXPECT_NEAR(out[i], other[i], 1e-12);
  });
}

TEST(Gradient, SaysWhatItCannot) {
  ThreadTeam(2).run([](const Comm& comm) {
    const auto refused = [&](const auto& change, const std::string& text) {
      Problem p = real_points({6, 4, 8});
      change(p);
      expect_error([&] { Gradient(comm, p); }, text);
    };
    refused([](Problem& p) { p.transforms = {c2c, c2c, Transform::dct2}; }, "dct2 along axis 2");
    refused([](Problem& p) { p.transforms = {none, none, none}; }, "no axis that is transformed");
    refused([](Problem& p) { p.in_place = true; }, "in place");
    refused([](Problem& p) { p.modes = {4, 4, 3}; }, "kept modes");
    refused([](Problem& p) { p.points = {4, 4, 3}; }, "given points");
    refused([](Problem& p) { p.between = Between::modes; }, "something between");
    refused([](Problem& p) { p.output = Distribution::fastest(); }, "fastest");
    refused([](Problem& p) { p.output = Distribution::sphere(2); }, "by columns");
    refused([](Problem& p) { p.output_distance = 3; }, "stride");
    refused([](Problem& p) { p.shape = {6, 0, 8}; }, "shape");
    expect_error([&] { Gradient(comm, real_points({6, 4, 8}), {}, {1, -1, 1}); }, "one positive number");
    Gradient gradient(comm, real_points({6, 4, 8}), Options().set("check", "collective"));
    std::vector<std::complex<double>> in(gradient.input_count()), out(gradient.output_count());
    expect_error([&] { gradient(in.data(), out.data()); }, "arrays of another type");
    expect_error([&] { (void)gradient.along(3); }, "axis 3");
    Gradient moved = std::move(gradient);
    // NOLINTNEXTLINE(bugprone-use-after-move): that is what is tested
    expect_error([&] { (void)gradient.axes(); }, "moved away");
    std::vector<double> reals(moved.input_count(), 1), slopes(moved.output_count(), 1);
    moved(reals.data(), slopes.data());
    for (const double v : slopes) EXPECT_NEAR(v, 0, 1e-13);
  });
}

}  // namespace weft::test
