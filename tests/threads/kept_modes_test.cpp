// Problems that keep some of the modes: against transforms of all modes, on all pipelines.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <random>

#include "geometry/transform.hpp"
#include "support/expect_error.hpp"
#include "support/kept_modes.hpp"
#include "support/rank_counts.hpp"
#include "support/whole_arrays.hpp"
#include "weft/modes.hpp"
#include "weft/weft.hpp"

namespace weft::test {

namespace {

std::vector<Exact> random_points(const Problem& p, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<Exact> all;
  for (Index i = 0; i < Box::whole(input_shape(p)).count(); ++i) {
    const double re = uniform(engine), im = uniform(engine);
    all.emplace_back(re, p.element == Element::real ? 0 : im);
  }
  return all;
}

/// The relative error of one direction.
template <class In, class Out>
double error(Plan& plan, bool forward, const Problem& p, const std::vector<Exact>& from,
             const std::vector<Exact>& to) {
  const std::size_t room = plan.buffer_bytes();
  Buffer<In> in(room / sizeof(In));
  Buffer<Out> other(room / sizeof(Out));
  Out* const out = p.in_place ? reinterpret_cast<Out*>(in.data()) : other.data();
  const Shape points = input_shape(p), modes = output_shape(p);
  const auto fill = [&](const Shape& at, std::size_t i) {
    in[i] = narrowed<In>(from[static_cast<std::size_t>(position(forward ? points : modes, at))]);
  };
  forward ? for_each_input(plan, fill) : for_each_output(plan, fill);
  forward ? plan.forward(in.data(), out) : plan.backward(in.data(), out);
  long double difference = 0, norm = 0;
  for (const Exact& v : to) norm += std::norm(v);
  const auto compare = [&](const Shape& at, std::size_t i) {
    difference +=
        std::norm(Exact(out[i]) - to[static_cast<std::size_t>(position(forward ? modes : points, at))]);
  };
  forward ? for_each_output(plan, compare) : for_each_input(plan, compare);
  return static_cast<double>(std::sqrt(difference / norm));
}

/// A problem, with random points and what becomes of them: for all ranks and options alike.
struct Answers {
  explicit Answers(Problem problem) : p(std::move(problem)) {
    if (p.transforms.empty()) p.transforms = AxisVector<Transform>(p.shape.size(), Transform::c2c);
    points = random_points(p, 7);
    modes = exact_modes(p, points);
    back = exact_points(p, modes);
  }
  Problem p;
  std::vector<Exact> points, modes, back;
};

/// `p`: the problem of the answers, but for distributions and what lies in place.
template <class In, class Out>
void check(const Comm& comm, const Answers& exact, Problem p, const Options& options = {}) {
  p.transforms = exact.p.transforms;
  Plan plan(comm, p, options);
  const double eps = p.precision == Precision::float64 ? 1e-15 : 5e-7;
  EXPECT_LT((error<In, Out>(plan, true, p, exact.points, exact.modes)), eps) << plan.to_string();
  EXPECT_LT((error<Out, In>(plan, false, p, exact.modes, exact.back)), eps) << plan.to_string();
}

template <class In, class Out>
void check(const Comm& comm, const Problem& p, const Options& options = {}) {
  check<In, Out>(comm, Answers(p), p, options);
}

using C = std::complex<double>;

}  // namespace

TEST(KeptModes, OfEveryKindOfAxis) {
  for (const int ranks : rank_counts({1, 2, 3, 4, 5}))
    ThreadTeam(ranks).run([&](const Comm& comm) {
      for (const ModesNyquist nyquist : {ModesNyquist::shared, ModesNyquist::odd, ModesNyquist::single}) {
        check<C, C>(comm, {.shape = {12, 9, 15},
                           .modes = {8, 6, 10},
                           .modes_nyquist = nyquist,
                           .element = Element::complex});
        check<C, C>(comm, {.shape = {12, 9, 15},
                           .modes = {7, 9, 5},
                           .modes_nyquist = nyquist,
                           .element = Element::complex});
        check<C, C>(
            comm,
            {.shape = {24, 18}, .modes = {16, 1}, .modes_nyquist = nyquist, .element = Element::complex});
        check<C, C>(comm, {.shape = {6, 7, 5, 8},
                           .modes = {2, 7, 2, 5},
                           .modes_nyquist = nyquist,
                           .element = Element::complex});
        Problem real{.shape = {12, 10, 18}, .modes = {8, 7, 7}, .modes_nyquist = nyquist};
        real.transforms = {Transform::c2c, Transform::c2c, Transform::r2c};
        real.element = Element::real;
        check<double, C>(comm, real);
        real.transforms = {Transform::r2c, Transform::c2c, Transform::c2c};
        real.modes = {4, 6, 18};
        check<double, C>(comm, real);
        real.transforms = {Transform::c2c, Transform::r2c, Transform::dct2};
        real.modes = {8, 4, 11};
        check<double, C>(comm, real);
        real.transforms = {Transform::dst1, Transform::none, Transform::dct3};
        real.modes = {8, 10, 11};
        check<double, double>(comm, real);
        Problem mixed{.shape = {9, 10, 12}, .modes = {6, 10, 7}, .modes_nyquist = nyquist};
        mixed.transforms = {Transform::dct1, Transform::none, Transform::c2c};
        mixed.element = Element::complex;
        check<C, C>(comm, mixed);
      }
    });
}

TEST(KeptModes, ArraysOfFewerPoints) {
  for (const int ranks : rank_counts({1, 2, 3, 5}))
    ThreadTeam(ranks).run([&](const Comm& comm) {
      for (const Shape& modes : {Shape{}, Shape{8, 7, 10}}) {
        check<C, C>(comm,
                    {.shape = {12, 9, 15}, .modes = modes, .points = {7, 9, 8}, .element = Element::complex});
        Problem real{.shape = {12, 10, 18}, .points = {6, 10, 9}};
        real.transforms = {Transform::c2c, Transform::c2c, Transform::r2c};
        real.element = Element::real;
        if (!modes.empty()) real.modes = {8, 7, 7};
        check<double, C>(comm, real);
        real.points = {12, 4, 1};
        check<double, C>(comm, real);
        real.transforms = {Transform::r2c, Transform::dst2, Transform::c2c};
        real.modes = modes.empty() ? modes : Shape{5, 4, 11};
        real.points = {7, 10, 13};
        check<double, C>(comm, real);
        real.output = Distribution::brick();
        check<double, C>(comm, real, Options().set("pipeline", "windowed"));
        real.transforms = {Transform::dct4, Transform::dst2, Transform::none};
        real.points = {7, 9, 18};
        real.modes = modes.empty() ? modes : Shape{5, 4, 18};
        check<double, double>(comm, real);
      }
    });
}

TEST(KeptModes, OnEveryPipelineAndDistribution) {
  Problem like{.shape = {24, 18, 20}, .modes = {16, 12, 7}};
  like.transforms = {Transform::c2c, Transform::c2c, Transform::r2c};
  like.element = Element::real;
  const Answers exact(like);
  for (const int ranks : rank_counts({1, 2, 4, 6}))
    ThreadTeam(ranks).run([&](const Comm& comm) {
      Problem p = like;
      for (const char* pipeline : {"sequential", "windowed", "th", "planes", "two-front"})
        for (const char* exchange : {"direct", "copy"})
          for (const Distribution& output : {Distribution::slab(1), Distribution::brick(),
                                             Distribution::fastest(), Distribution::pencil(0)}) {
            p.output = output;
            p.input = output.kind() == Distribution::Kind::brick ? output : Distribution::slab(0);
            for (const bool in_place : {false, true}) {
              p.in_place = in_place;
              check<double, C>(comm, exact, p, Options().set("pipeline", pipeline).set("exchange", exchange));
            }
          }
    });
}

TEST(KeptModes, WithThreadsInFloatAndLarge) {
  Problem p{.shape = {36, 30, 28}, .modes = {24, 20, 10}, .precision = Precision::float32};
  p.transforms = {Transform::c2c, Transform::c2c, Transform::r2c};
  p.element = Element::real;
  const Answers small(p);
  const Answers large({.shape = {96, 64, 48}, .modes = {60, 40, 32}, .element = Element::complex});
  ThreadTeam(2).run([&](const Comm& comm) {
    for (const int threads : {1, 3})
      check<float, std::complex<float>>(comm, small, small.p, Options().set("threads", threads));
    for (const int threads : {1, 2}) check<C, C>(comm, large, large.p, Options().set("threads", threads));
  });
}

/// Lines that are one beside axes that are cut, and an axis of one point that becomes several.
TEST(KeptModes, BesideALineAndFromOnePoint) {
  for (const int ranks : rank_counts({1, 2, 3}))
    ThreadTeam(ranks).run([&](const Comm& comm) {
      Problem p{.shape = {4, 6, 8, 10}, .line = {0, 1}, .modes = {4, 6, 5, 6}};
      p.transforms = {Transform::c2c, Transform::c2c, Transform::c2c, Transform::r2c};
      p.element = Element::real;
      for (const bool in_place : {false, true}) {
        p.in_place = in_place;
        check<double, C>(comm, p);
        p.points = {4, 6, 8, 7};
        check<double, C>(comm, p);
        p.points = {};
      }
      Problem one{.shape = {2, 23}, .modes = {2, 11}, .points = {1, 23}};
      one.transforms = {Transform::dct1, Transform::r2c};
      one.element = Element::real;
      one.input = one.output = Distribution::fastest();
      check<double, C>(comm, one);
    });
}

/// In place, with ranks that hold nothing on one of the sides.
TEST(KeptModes, InPlaceOnMoreRanksThanRows) {
  ThreadTeam(4).run([&](const Comm& comm) {
    Problem p{.shape = {3, 30}, .in_place = true};
    p.output = Distribution::slab(1);
    Plan plan(comm, p);
    Buffer<C> memory(plan.buffer_bytes() / sizeof(C)), other(1);
    const auto row = [](const Shape& at) { return at[1] == 1 ? static_cast<double>(at[0] + 1) : 0; };
    for_each_input(plan, [&](const Shape& at, std::size_t i) { memory[i] = row(at); });
    plan.forward(memory.data(), memory.data());
    const bool none = plan.input_box().empty();  // then any pointer will do for the result
    plan.backward(memory.data(), none ? other.data() : memory.data());
    for_each_input(plan, [&](const Shape& at, std::size_t i) {
      EXPECT_NEAR(std::abs(memory[i] - 90.0 * row(at)), 0, 1e-11);
    });
  });
}

/// Columns of many points, of which a block takes whole cache lines.
TEST(KeptModes, LongColumns) {
  ThreadTeam(1).run([&](const Comm& comm) {
    Problem p{.shape = {4096, 37}, .modes = {2730, 37}, .element = Element::complex};
    p.transforms = {Transform::c2c, Transform::none};
    Plan plan(comm, p);
    Buffer<C> x(plan.input_count()), y(plan.output_count());
    for_each_output(plan, [&](const Shape& k, std::size_t i) {
      y[i] = C(static_cast<double>(k[1] + 1), static_cast<double>(k[0] % 7 - 3));
    });
    plan.backward(y.data(), x.data());
    Buffer<C> again(plan.output_count());
    plan.forward(x.data(), again.data());
    double worst = 0;
    for (std::size_t i = 0; i < y.size(); ++i) worst = std::max(worst, std::abs(again[i] / 4096.0 - y[i]));
    EXPECT_LT(worst, 1e-12);
  });
}

/// What is cut before an exchange is not sent.
TEST(KeptModes, OnlyTheyAreSent) {
  ThreadTeam(2).run([&](const Comm& comm) {
    Problem p{.shape = {48, 48, 48}, .modes = {32, 32, 32}};
    p.output = Distribution::slab(1);
    const std::string text = Plan(comm, p).to_string();
    // 24 of 48 planes, of each half of 32 x 32.
    EXPECT_NE(text.find("at most 1 messages, 12288 points sent"), std::string::npos) << text;
    EXPECT_NE(text.find("c2c on 1 (48 points, 32 modes of 48)"), std::string::npos) << text;
  });
}

TEST(KeptModes, HelpersKnowThem) {
  ThreadTeam(1).run([&](const Comm& comm) {
    Problem p{.shape = {12, 9}, .modes = {8, 3}};
    p.transforms = {Transform::c2c, Transform::r2c};
    const Plan plan(comm, p);
    EXPECT_EQ(wavenumbers(plan, 0), (std::vector<double>{0, 1, 2, 3, -4, -3, -2, -1}));
    EXPECT_EQ(wavenumbers(plan, 0, Nyquist::zero), (std::vector<double>{0, 1, 2, 3, 0, -3, -2, -1}));
    EXPECT_EQ(wavenumbers(plan, 1), (std::vector<double>{0, 1, 2}));
    EXPECT_EQ(hermitian_weights(plan, 0), (std::vector<double>{1, 1, 1, 1, 0.5, 1, 1, 1}));
    EXPECT_EQ(hermitian_weights(plan, 1), (std::vector<double>{1, 2, 0.5}));
    p.modes_nyquist = ModesNyquist::single;
    const Plan single(comm, p);
    EXPECT_EQ(hermitian_weights(single, 0), (std::vector<double>(8, 1)));
    EXPECT_EQ(hermitian_weights(single, 1), (std::vector<double>{1, 2, 2}));
    EXPECT_EQ(wavenumbers(single, 1, Nyquist::zero), (std::vector<double>{0, 1, 2}));
  });
}

/// Blocks of lines that are cut along neighbours of the input and of the output: with another order of the
/// output both loops are cut.
TEST(KeptModes, InAnotherOrderThanPoints) {
  for (const Index modes : {511, 300}) {
    Problem p{.shape = {64, 512, 64}};
    p.transforms = {Transform::none, Transform::c2c, Transform::none};
    p.modes = {64, modes, 64};
    Plan same(Comm::self(), p);
    p.output = Distribution::slab(0).with_order({2, 1, 0});
    Plan other(Comm::self(), p);
    Buffer<std::complex<double>> in(same.input_count()), expected(same.output_count());
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = std::polar(1.0, static_cast<double>(i * i % 1009));
    const std::size_t count = other.output_count();
    constexpr double untouched = 7;
    Buffer<std::complex<double>> out(count + 64);
    for (std::size_t i = count; i < out.size(); ++i) out[i] = untouched;
    same.forward(in.data(), expected.data());
    other.forward(in.data(), out.data());
    double worst = 0;
    for_each_output(other, [&](const Shape& at, std::size_t position) {
      const auto there = static_cast<std::size_t>((at[0] * modes + at[1]) * 64 + at[2]);
      worst = std::max(worst, std::abs(out[position] - expected[there]));
    });
    EXPECT_LT(worst, 1e-10);
    for (std::size_t i = count; i < out.size(); ++i) ASSERT_EQ(out[i], untouched);
  }
}

TEST(KeptModes, BadInput) {
  ThreadTeam(2).run([&](const Comm& comm) {
    const auto plan = [&](const Problem& p) { Plan(comm, p); };
    Problem p{.shape = {8, 8}, .modes = {9, 8}};
    expect_error([&] { plan(p); },
                 "plan: modes: 9 along axis 0; expected 1 to 8, which a transform of 8 points has");
    p.modes = {8, 0};
    expect_error([&] { plan(p); }, "0 along axis 1");
    p.modes = {8};
    expect_error([&] { plan(p); }, "1 lengths; expected one per axis, 2, or none");
    p.modes = {4, 8};
    p.transforms = {Transform::none, Transform::c2c};
    expect_error([&] { plan(p); }, "4 along axis 0; expected 8, as the axis is not transformed");
    p.transforms = {Transform::c2c, Transform::r2c};
    p.modes = {8, 8};
    expect_error([&] { plan(p); }, "8 along axis 1; expected 1 to 5");
    p.transforms = {};
    p.modes = {4, 8};
    p.line = {0, 1};
    expect_error([&] { plan(p); }, "part of a line");
    p.line = {};
    p.modes = {4 + Index{comm.rank()}, 8};
    expect_error([&] { plan(p); }, "modes 4x8");
    p.modes = {};
    p.points = {8, 9};
    expect_error([&] { plan(p); }, "plan: points: 9 along axis 1; expected 1 to 8");
    p.points = {};
    p.modes = {4, 8};
    p.output = Distribution::boxes({Box{{0, 0}, {4, 8}}, Box{{4, 0}, {8, 8}}});
    expect_error([&] { plan(p); }, "the output has the shape of the kept modes, 4x8");
  });
}

}  // namespace weft::test
