// Modes that are given by columns, spheres of them among these: against direct sums, on all pipelines.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <map>
#include <random>
#include <set>

#include "geometry/mode_columns.hpp"
#include "geometry/transform.hpp"
#include "support/expect_error.hpp"
#include "support/kept_modes.hpp"
#include "support/mode_columns.hpp"
#include "support/rank_counts.hpp"
#include "support/says.hpp"
#include "support/whole_arrays.hpp"
#include "weft/weft.hpp"

namespace weft::test {

namespace {

using C = std::complex<double>;
using enum Transform;

/// The problem whose modes are boxes.
Problem plain(const Problem& p) {
  Problem q;
  q.shape = p.shape;
  q.transforms = p.transforms.empty() ? AxisVector<Transform>(p.shape.size(), c2c) : p.transforms;
  q.element = q.transforms.contains(r2c) ? Element::real : Element::complex;
  return q;
}

std::vector<Exact> random_points(const Problem& q) {
  std::mt19937 engine(5);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<Exact> all;
  for (Index i = 0; i < Box::whole(q.shape).count(); ++i) {
    const double re = uniform(engine), im = uniform(engine);
    all.emplace_back(re, q.element == Element::real ? 0 : im);
  }
  return all;
}

/// Calls f(position of the mode in the whole array, position in this rank's array).
template <class F>
void each_mode(const Plan& plan, const Problem& q, const F& f) {
  const std::vector<std::size_t> all = positions_of(q, plan.columns());
  for (std::size_t i = 0; i < all.size(); ++i) f(all[i], i);
}

double bound(const Problem& p) {
  return p.precision == Precision::float64 ? 2e-15 : 1e-6;
}

/// What is to come out on all ranks: computed once.
struct Answer {
  Problem problem, q;
  Columns columns;
  std::vector<Exact> points, modes, returned;

  Answer(const Problem& p, Columns of_ranks) : problem(p), q(plain(p)), columns(std::move(of_ranks)) {
    points = random_points(q);
    modes = kept(q, columns, exact_modes(q, points));
    returned = exact_points(q, modes);
  }
};

/// Forward and backward of a batch whose item j is j + 1 times the first. `T`: of points, `M`: of modes.
template <class T, class M>
void check(const Comm& comm, const Answer& answer, const Options& options = {}) {
  Problem p = answer.problem;
  if (p.output.kind() != Distribution::Kind::sphere)
    p.output = Distribution::columns(answer.columns[static_cast<std::size_t>(comm.rank())]);
  Plan plan(comm, p, options);
  SCOPED_TRACE(plan.to_string());
  std::vector<T> points(plan.input_count()), back(plan.input_count(), T(7));
  std::vector<M> modes(plan.output_count(), M(7));
  ASSERT_EQ(plan.output_box().ndim(), 1);
  const auto items = static_cast<std::size_t>(p.batch);
  const auto in_distance = static_cast<std::size_t>(plan.input_distance()),
             out_distance = static_cast<std::size_t>(plan.output_distance());
  for (std::size_t j = 0; j < items; ++j)
    for_each_input(plan, [&](const Shape& at, std::size_t i) {
      points[i + j * in_distance] = narrowed<T>(
          static_cast<long double>(j + 1) * answer.points[static_cast<std::size_t>(position(p.shape, at))]);
    });
  plan.forward(points.data(), modes.data());
  const auto size = static_cast<long double>(logical_size(answer.q.shape, answer.q.transforms));
  const long double forward = p.forward_scale == Scale::full ? 1 / size : 1,
                    backward = p.backward_scale == Scale::full ? 1 / size : 1;
  long double norm = 0, difference = 0;
  for (const Exact& v : answer.modes) norm += std::norm(v * forward);
  std::size_t count = 0;
  each_mode(plan, answer.q, [&](std::size_t at, std::size_t i) {
    for (std::size_t j = 0; j < items; ++j)
      difference += std::norm(Exact(modes[i + j * out_distance]) -
                              static_cast<long double>(j + 1) * answer.modes[at] * forward);
    ++count;
  });
  EXPECT_EQ(static_cast<Index>(count), plan.output_box().count());
  if (count > 0) {
    EXPECT_LT(static_cast<double>(std::sqrt(difference / norm)), bound(p) * static_cast<double>(items));
  }
  each_mode(plan, answer.q, [&](std::size_t at, std::size_t i) {
    for (std::size_t j = 0; j < items; ++j)
      modes[i + j * out_distance] = narrowed<M>(static_cast<long double>(j + 1) * answer.modes[at]);
  });
  const std::vector<M> before = modes;
  plan.backward(modes.data(), back.data());
  EXPECT_EQ(modes, before);
  norm = difference = 0;
  for (const Exact& v : answer.returned) norm += std::norm(v * backward);
  for (std::size_t j = 0; j < items; ++j)
    for_each_input(plan, [&](const Shape& at, std::size_t i) {
      difference += std::norm(Exact(back[i + j * in_distance]) -
                              static_cast<long double>(j + 1) * backward *
                                  answer.returned[static_cast<std::size_t>(position(p.shape, at))]);
    });
  EXPECT_LT(static_cast<double>(std::sqrt(difference / norm)), bound(p) * static_cast<double>(items));
}

/// On so many thread ranks, of random columns or of a sphere.
template <class T, class M>
void run(int ranks, const Problem& p, const Options& options = {}, unsigned seed = 1) {
  const Problem q = plain(p);
  const Answer answer(p, p.output.kind() == Distribution::Kind::sphere
                             ? sphere_columns(q.shape, q.transforms, p.output.radius(), ranks)
                             : random_columns(q, ranks, seed));
  ThreadTeam(ranks).run([&](const Comm& comm) { check<T, M>(comm, answer, options); });
}

Problem of(Shape shape, AxisVector<Transform> transforms = {}) {
  Problem p;
  p.shape = shape;
  p.transforms = transforms;
  return p;
}

}  // namespace

TEST(Columns, AgainstTheDirectSum) {
  for (const int ranks : rank_counts({1, 2, 3, 4, 5}))
    for (const unsigned seed : {1u, 2u, 3u}) {
      run<C, C>(ranks, of({8, 9, 10}), {}, seed);
      run<C, C>(ranks, of({7, 6}), {}, seed);
      run<C, C>(ranks, of({1, 5, 4}), {}, seed);
      run<C, C>(ranks, of({6, 8, 1}), {}, seed);
      run<C, C>(ranks, of({4, 3, 5, 6}), {}, seed);
      run<double, C>(ranks, of({9, 7, 8}, {c2c, c2c, r2c}), {}, seed);
      run<double, C>(ranks, of({6, 9}, {c2c, r2c}), {}, seed);
    }
}

TEST(Columns, OfSpheres) {
  for (const int ranks : rank_counts({1, 2, 3, 4, 7}))
    for (const double radius : {0.0, 1.0, 2.5, 4.0, 100.0}) {
      Problem p = of({9, 8, 10});
      p.output = Distribution::sphere(radius);
      run<C, C>(ranks, p);
      p.transforms = {c2c, c2c, r2c};
      run<double, C>(ranks, p);
    }
}

TEST(Columns, InEveryPipelineAndExchange) {
  for (const char* pipeline : {"sequential", "th", "windowed", "planes", "two-front"})
    for (const char* exchange : {"copy", "direct"})
      for (const char* layout : {"contiguous", "strided"}) {
        const Options options =
            Options().set("pipeline", pipeline).set("exchange", exchange).set("layout", layout);
        run<C, C>(3, of({8, 9, 10}), options);
        run<double, C>(3, of({7, 8, 6}, {c2c, c2c, r2c}), options);
        Problem p = of({6, 5, 7});
        p.batch = 3;
        run<C, C>(2, p, options);
      }
}

TEST(Columns, FromPointsInAnyDistribution) {
  for (const int ranks : rank_counts({1, 2, 4, 5})) {
    for (const Distribution& input :
         {Distribution::slab(1), Distribution::slab(2), Distribution::pencil(0), Distribution::pencil(2),
          Distribution::brick(), Distribution::fastest(), Distribution::slab(0).with_order({2, 1, 0}),
          Distribution::brick().with_order({1, 2, 0}),
          Distribution::slab(0).with_halo({1, 0, 2}, {0, 3, 1})}) {
      Problem p = of({9, 8, 7});
      p.input = input;
      run<C, C>(ranks, p);
      p.transforms = {c2c, c2c, r2c};
      run<double, C>(ranks, p);
    }
  }
}

TEST(Columns, OfABatchInFloatScaled) {
  for (const int ranks : rank_counts({1, 2, 3}))
    for (const Index distance : {0, 1000}) {
      Problem p = of({8, 7, 9});
      p.batch = 4;
      p.output_distance = distance;
      p.forward_scale = Scale::full;
      run<C, C>(ranks, p);
      p.precision = Precision::float32;
      p.backward_scale = Scale::full;
      run<std::complex<float>, std::complex<float>>(ranks, p);
      p.transforms = {c2c, c2c, r2c};
      run<float, std::complex<float>>(ranks, p);
    }
}

TEST(Columns, OnSeveralThreadsInSmallSubTiles) {
  Problem p = of({24, 40, 36});
  p.batch = 2;
  const Options options = Options().set("threads", 2);
  for (const int ranks : {1, 2}) {
    p.output = Distribution::sphere(9);
    run<C, C>(ranks, p, Options(options).set("subtile", 8));
  }
}

TEST(Columns, ShrunkAndOnFewerPlanesThanRanks) {
  run<C, C>(4, of({2, 9, 8}));
  run<C, C>(4, of({8, 9, 10}), Options().set("shrink", 2));
  run<C, C>(3, of({8, 9, 10}), Options().set("shrink", 1));
}

TEST(Columns, AllOnTheRankThatHasThePlanes) {
  for (const auto& [shape, shrink] : {std::pair<Shape, int>{{8, 6, 4}, 1}, {{1, 6, 4}, 0}, {{2, 1, 1, 5}, 1}})
    for (const char* pipeline : {"sequential", "windowed", "planes"})
      for (const Distribution& input : {Distribution::slab(0), Distribution::slab(1)})
        for (const bool between : {false, true}) {
          Problem p = of(shape);
          p.input = input;
          p.between = between ? Between::points : Between::none;
          Columns columns(2);
          columns[0] = {{Shape(shape.size(), 0), 1}, {Shape(shape.size(), 0), shape[0]}};
          columns[0][1].first[shape.size() - 1] = 1;
          Options options = Options().set("pipeline", pipeline);
          if (shrink > 0) options.set("shrink", shrink);
          const Answer answer(p, columns);
          ThreadTeam(2).run([&](const Comm& comm) {
            if (!between) return check<C, C>(comm, answer, options);
            Problem mine = p;
            mine.input = mine.output = Distribution::columns(columns[static_cast<std::size_t>(comm.rank())]);
            Plan plan(comm, mine, options);
            std::vector<C> in(plan.input_count(), C(1, 2)), out(plan.output_count());
            plan.apply(in.data(), out.data(), [](const Block&) {});
            for (const C& v : out) EXPECT_NEAR(std::abs(v / plan.scale_factor() - C(1, 2)), 0, 1e-14);
          });
        }
}

TEST(Columns, SpheresHaveTheModesOnTheirSurface) {
  for (const double square : {0., 1., 2., 3., 5., 6., 9., 12., 14., 1e300}) {
    std::size_t expected = 0, count = 0;
    for (Index x = -8; x < 8; ++x)
      for (Index y = -8; y < 8; ++y)
        for (Index z = -8; z < 8; ++z)
          expected += static_cast<double>(x * x + y * y + z * z) <= square ? 1 : 0;
    for (const auto& of_rank : sphere_columns({16, 16, 16}, {c2c, c2c, c2c}, std::sqrt(square), 3))
      for (const ModeColumn& c : of_rank) count += static_cast<std::size_t>(c.count);
    EXPECT_EQ(count, expected) << square;
  }
}

TEST(Columns, OnTheWireInFewerBits) {
  Problem p = of({16, 15, 14});
  p.output = Distribution::sphere(5);
  ThreadTeam(3).run([&](const Comm& comm) {
    Plan exact(comm, p), coded(comm, p, Options().set("codec", "fp32"));
    std::vector<C> points(exact.input_count()), modes(exact.output_count()), other(exact.output_count());
    for_each_input(exact, [&](const Shape& at, std::size_t i) {
      points[i] = {std::sin(static_cast<double>(at[0] + 2 * at[1])), std::cos(static_cast<double>(at[2]))};
    });
    exact.forward(points.data(), modes.data());
    coded.forward(points.data(), other.data());
    double difference = 0, norm = 0;
    for (std::size_t i = 0; i < modes.size(); ++i) {
      difference += std::norm(modes[i] - other[i]);
      norm += std::norm(modes[i]);
    }
    EXPECT_LT(difference, 1e-12 * norm);
    const Accuracy forward = coded.measured_error(Direction::forward, points.data()),
                   backward = coded.measured_error(Direction::backward, modes.data());
    EXPECT_GT(forward.l2, 0);
    EXPECT_LE(forward.l2, forward.bound);
    EXPECT_LE(backward.l2, backward.bound);
    EXPECT_NEAR(backward.bound, 0x1p-24, 1e-9);
    EXPECT_TRUE(says(coded.to_string(), "forward (of all modes, also those left out), 6.0e-08 backward\n"));
  });
}

TEST(Columns, AroundAnOperatorOnPoints) {
  for (const int ranks : rank_counts({1, 2, 3, 5}))
    for (const char* pipeline : {"sequential", "windowed", "planes"})
      for (const bool real : {false, true}) {
        Problem p = of({8, 9, 6}, real ? AxisVector<Transform>{c2c, c2c, r2c} : AxisVector<Transform>{});
        p.between = Between::points;
        p.batch = 2;
        p.backward_scale = Scale::full;
        const Answer answer(p, random_columns(plain(p), ranks, 3));
        const Problem q = answer.q;
        const auto potential = [](const Shape& at) {
          return 1 + 0.25 * static_cast<double>(at[0]) - 0.5 * static_cast<double>(at[1] % 3) +
                 0.125 * static_cast<double>(at[2]);
        };
        std::vector<Exact> product = answer.returned;
        for_each_point(Box::whole(q.shape), Strides{54, 6, 1}, 0, [&](const Shape& at, std::size_t i) {
          product[i] *= potential(at) / logical_size(q.shape, q.transforms);
        });
        const std::vector<Exact> expected = exact_modes(q, product);
        ThreadTeam(ranks).run([&](const Comm& comm) {
          Problem mine = p;
          mine.input = mine.output =
              Distribution::columns(answer.columns[static_cast<std::size_t>(comm.rank())]);
          Plan plan(comm, mine, Options().set("pipeline", pipeline));
          SCOPED_TRACE(plan.to_string());
          std::vector<C> in(plan.input_count()), out(plan.output_count());
          const auto items = static_cast<std::size_t>(p.batch);
          each_mode(plan, q, [&](std::size_t at, std::size_t i) {
            for (std::size_t j = 0; j < items; ++j)
              in[i + j * static_cast<std::size_t>(plan.input_distance())] =
                  narrowed<C>(static_cast<long double>(j + 1) * answer.modes[at]);
          });
          plan.apply(in.data(), out.data(), [&](const Block& block) {
            const auto multiply = [&](const auto& f, const Shape& at) {
              for (Index j = 0; j < block.fields; ++j) f[j] *= potential(at);
            };
            real ? for_each_element<double>(block, multiply) : for_each_element<C>(block, multiply);
          });
          long double norm = 0, difference = 0;
          each_mode(plan, q, [&](std::size_t at, std::size_t i) {
            for (std::size_t j = 0; j < items; ++j) {
              const Exact right = static_cast<long double>(j + 1) * expected[at];
              norm += std::norm(right);
              difference +=
                  std::norm(Exact(out[i + j * static_cast<std::size_t>(plan.output_distance())]) - right);
            }
          });
          EXPECT_LE(static_cast<double>(difference), 1e-28 * static_cast<double>(norm));
        });
      }
}

TEST(Columns, AreSharedOutEvenlyAndKnowTheirNumbers) {
  ThreadTeam(3).run([](const Comm& comm) {
    Problem p = of({12, 10, 14});
    p.output = Distribution::sphere(4.5);
    Plan plan(comm, p);
    std::vector<Index> counts(3);
    const auto mine = static_cast<double>(plan.output_box().count());
    std::vector<double> all(3, 0);
    std::vector<double> sums(3, 0);
    all[static_cast<std::size_t>(comm.rank())] = mine;
    std::size_t expected = 0;
    for (Index x = -5; x < 5; ++x)
      for (Index y = -5; y < 5; ++y)
        for (Index z = -5; z < 5; ++z) expected += 4 * (x * x + y * y + z * z) <= 81 ? 1 : 0;
    std::set<std::vector<Index>> seen;
    std::size_t next = 0;
    for_each_mode(plan, [&](const AxisVector<double>& k, std::size_t i) {
      EXPECT_EQ(i, next++);
      EXPECT_EQ(k.size(), 3);
      EXPECT_LE(k[0] * k[0] + k[1] * k[1] + k[2] * k[2], 4.5 * 4.5);
      seen.insert({static_cast<Index>(k[0]), static_cast<Index>(k[1]), static_cast<Index>(k[2])});
    });
    EXPECT_EQ(static_cast<double>(seen.size()), mine);
    EXPECT_NEAR(mine, static_cast<double>(expected) / 3, 5);
    EXPECT_TRUE(says(plan.to_string(), "columns of " + std::to_string(expected) + " modes"));
    EXPECT_EQ(hermitian_weights(plan, 2).size(), next);
    // Parseval: points that have only modes of the sphere.
    std::vector<C> modes(plan.output_count()), points(plan.input_count());
    for (C& m : modes) m = 1;
    const std::vector<double> shells = shell_spectrum(plan, modes.data());
    double sum = 0;
    for (const double s : shells) sum += s;
    EXPECT_EQ(sum, static_cast<double>(expected));
    plan.backward(modes.data(), points.data());
    plan.forward(points.data(), modes.data());
    for (const C& m : modes) EXPECT_NEAR(std::abs(m / plan.scale_factor() - 1.0), 0, 1e-14);
  });
}

TEST(Columns, AreTunedAndRemembered) {
  Problem p = of({16, 12, 10});
  p.output = Distribution::sphere(4);
  run<C, C>(2, p, Options().set("effort", "measure").set("budget", "0.3"));
  run<C, C>(3, p, Options().set("effort", "online").set("online", 6));
}

TEST(Columns, BadInputIsAnErrorOnAllRanks) {
  const auto fails = [](const auto& change, const std::string& text, int ranks = 2) {
    ThreadTeam(ranks).run([&](const Comm& comm) {
      Problem p = of({8, 6, 4});
      std::vector<ModeColumn> mine{{{-4, comm.rank(), 1}, 3}};
      change(p, mine, comm.rank());
      if (p.output.kind() == Distribution::Kind::slab) p.output = Distribution::columns(mine);
      expect_error([&] { Plan plan(comm, p); }, text);
    });
  };
  using M = std::vector<ModeColumn>;
  fails(
      [](Problem&, M& m, int r) {
        if (r == 1) m[0].first = {0, 0, 1};
      },
      "where rank 0 has a column");
  fails(
      [](Problem&, M& m, int r) {
        if (r == 1) m[0].first[1] = 6;
      },
      "numbers from -3 to 5 along axis 1");
  fails(
      [](Problem&, M& m, int r) {
        if (r == 1) m[0].count = 9;
      },
      "1 to 8 modes");
  fails(
      [](Problem&, M& m, int r) {
        if (r == 1) m[0].count = 0;
      },
      "1 to 8 modes");
  fails(
      [](Problem&, M& m, int r) {
        if (r == 1) m[0].first = {0, 1};
      },
      "one per axis, 3");
  fails([](Problem&, M& m, int) { m.clear(); }, "no column on any rank");
  fails([](Problem& p, M&, int) { p.in_place = true; }, "arrays of their own for both sides");
  fails([](Problem& p, M&, int) { p.transforms = {r2c, c2c, c2c}; }, "r2c along the last");
  fails([](Problem& p, M&, int) { p.transforms = {c2c, c2c, none}; }, "c2c along every axis");
  fails([](Problem& p, M&, int) { p.modes = {8, 4, 4}; }, "columns alone");
  fails([](Problem& p, M&, int) { p.points = {8, 4, 4}; }, "columns alone");
  fails([](Problem& p, M&, int) { p.input = Distribution::sphere(1); }, "as the output");
  fails([](Problem& p, M&, int) { p.between = Between::modes; }, "points between");
  fails(
      [](Problem& p, M& m, int) {
        p.output = Distribution::columns(m).with_order({0, 1, 2});
      },
      "columns are one after the other");
  fails([](Problem& p, M&, int) { p.output = Distribution::sphere(-1); }, "a radius of -1");
  fails([](Problem& p, M&, int r) { p.output = Distribution::sphere(r == 0 ? 2 : std::nextafter(2, 3)); },
        "ranks must give the same problem");
  fails([](Problem& p, M&, int) { p.output = Distribution::sphere(std::nan("")); }, "a radius of");
  fails([](Problem& p, M&, int) { p.shape = {8}; }, "at least two axes", 1);
  fails(
      [](Problem& p, M& m, int r) {
        p.between = Between::points;
        p.input = Distribution::columns(m);
        if (r == 1) m[0].count = 2;
      },
      "the same on both sides");
  ThreadTeam(2).run([](const Comm& comm) {
    Plan plan(comm, of({8, 6, 4}));
    expect_error([&] { plan.columns(); }, "a plan whose modes are boxes");
    Problem p = of({8, 6, 4});
    p.output = Distribution::sphere(2);
    expect_error([&] { Plan(comm, p, Options().set("decomposition", "pencil")); },
                 "planes are transformed whole");
  });
}

}  // namespace weft::test
