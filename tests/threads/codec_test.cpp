// Plans whose messages are coded: how far their results are from exact ones, for data of many kinds, and what
// becomes of numbers and messages that cannot be decoded.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <map>
#include <mutex>
#include <random>

#include "base/test_hook.hpp"
#include "base/text.hpp"
#include "comm/comm_impl.hpp"
#include "design/design.hpp"
#include "kernels/cpu/zfp.hpp"
#include "support/design_of.hpp"
#include "support/expect_error.hpp"
#include "support/random_problem.hpp"
#include "weft/weft.hpp"

namespace weft::test {

namespace {

using Complex = std::complex<double>;

/// Numbers of different kinds, the same for an index whoever holds it.
struct Data {
  enum class Kind { random, smooth, scaled, spikes, zeros, nothing } kind;
  std::uint64_t seed;

  Complex at(Index i, Index n) const {
    std::minstd_rand engine(
        static_cast<std::uint_fast32_t>(seed * 7919 + static_cast<std::uint64_t>(i) * 69621 + 1));
    engine.discard(2);
    const auto uniform = [&] { return static_cast<double>(engine()) / 2147483647.0; };
    const double angle = 6.283185307 * uniform();
    const Complex random = std::polar(std::sqrt(-2 * std::log(uniform())), angle);
    const double t = static_cast<double>(i) / static_cast<double>(n);
    switch (kind) {
      case Kind::random:
        return random;
      case Kind::smooth:
        return {std::exp(std::cos(6.28 * t)), std::sin(12.56 * t)};
      case Kind::scaled:
        return random * std::pow(10.0, 12 * std::sin(40 * t) - 3);
      case Kind::spikes:
        return i % 97 == 5 ? 1e8 * random : 1e-8 * random;
      case Kind::zeros:
        return t < 0.4 || t > 0.6 ? Complex() : random;
      default:
        return {};
    }
  }
};

/// Squares summed over all ranks, and largest sizes.
struct Distance {
  double error = 0, norm = 0, largest_error = 0, largest = 0;
  double relative() const { return norm > 0 ? std::sqrt(error / norm) : std::sqrt(error); }
  double relative_maximum() const { return largest_error / largest; }
};

template <class T>
struct Result {
  std::vector<std::complex<T>> values;
  Accuracy measured;
};

template <class T>
Result<T> transform(const Comm& comm, Problem problem, const Options& options, const Data& data,
                    Direction direction) {
  problem.precision = sizeof(T) == 8 ? Precision::float64 : Precision::float32;
  Plan plan(comm, problem, options);
  const bool forward = direction == Direction::forward;
  const Box box = forward ? plan.input_box() : plan.output_box();
  const Strides strides = forward ? plan.input_strides() : plan.output_strides();
  Buffer<std::complex<T>> in(plan.input_count()), out(plan.output_count());
  std::complex<T>* const from = forward ? in.data() : out.data();
  const Index n = problem.shape[0] * problem.shape[1] * problem.shape[2];
  for (Index x = box.lo[0]; x < box.hi[0]; ++x)
    for (Index y = box.lo[1]; y < box.hi[1]; ++y)
      for (Index z = box.lo[2]; z < box.hi[2]; ++z) {
        const Index i = (x * problem.shape[1] + y) * problem.shape[2] + z;
        from[(x - box.lo[0]) * strides[0] + (y - box.lo[1]) * strides[1] + (z - box.lo[2]) * strides[2]] =
            std::complex<T>(data.at(i, n));
      }
  const Accuracy measured = plan.measured_error(direction, from);
  forward ? plan.forward(in.data(), out.data()) : plan.backward(out.data(), in.data());
  const std::complex<T>* const to = forward ? out.data() : in.data();
  const auto count = static_cast<std::ptrdiff_t>(forward ? plan.output_count() : plan.input_count());
  return {{to, to + count}, measured};
}

template <class T>
Distance distance(const Comm& comm, const Result<double>& exact, const Result<T>& other) {
  Distance d;
  EXPECT_EQ(exact.values.size(), other.values.size());
  for (std::size_t i = 0; i < exact.values.size(); ++i) {
    const double e = std::abs(Complex(other.values[i]) - exact.values[i]), s = std::abs(exact.values[i]);
    d.error += e * e;
    d.norm += s * s;
    d.largest_error = std::max(d.largest_error, e);
    d.largest = std::max(d.largest, s);
  }
  std::vector<Distance> all(static_cast<std::size_t>(comm.size()));
  comm.impl().allgather(&d, sizeof d, all.data());
  Distance sum;
  for (const Distance& r : all) {
    sum.error += r.error;
    sum.norm += r.norm;
    sum.largest_error = std::max(sum.largest_error, r.largest_error);
    sum.largest = std::max(sum.largest, r.largest);
  }
  return sum;
}

Problem cube(Index n, bool natural) {
  Problem p;
  p.shape = {n, n, n};
  p.output = natural ? Distribution::slab(0) : Distribution::slab(1);
  return p;
}

/// A plan whose error is measured.
struct Measured {
  Direction direction;
  void (*change)(Problem&);                    ///< of slabs to slabs along axis 1
  std::map<std::string, std::string> options;  ///< beside codec fp16
};

/// `measured_error` against two plans that differ in their codec, executed and compared by the test.
template <class T>
void expect_measured(const Comm& comm, const Measured& m) {
  Problem p;
  p.shape = {12, 10, 18};
  p.output = Distribution::slab(1);
  p.precision = sizeof(T) == 8 ? Precision::float64 : Precision::float32;
  m.change(p);
  Options options;
  for (const auto& [name, value] : m.options) options.set(name, value);
  Plan exact(comm, p, options), coded(comm, p, options.set("codec", "fp16"));
  const bool forward = m.direction == Direction::forward, users = m.options.contains("workspace");
  const std::size_t reals = coded.buffer_bytes() / sizeof(T);
  Buffer<T> in(reals), first(reals), second(reals), workspace(coded.workspace_bytes() / sizeof(T));
  std::mt19937 random(static_cast<unsigned>(comm.rank() + 1));
  std::vector<T> given;
  for (T& v : in) given.push_back(v = static_cast<T>(std::normal_distribution<double>()(random)));

  const Accuracy measured = coded.measured_error(m.direction, static_cast<const void*>(in.data()));

  EXPECT_TRUE(std::equal(in.begin(), in.end(), given.begin())) << "the input has changed";
  const auto execute = [&](Plan& plan, Buffer<T>& result) {
    if (p.in_place) std::copy(in.begin(), in.end(), result.begin());
    const void* const from = p.in_place ? result.data() : in.data();
    void *const to = result.data(), *const work = users ? workspace.data() : nullptr;
    const std::size_t bytes = users ? plan.workspace_bytes() : 0;
    forward ? plan.forward(from, to, work, bytes) : plan.backward(from, to, work, bytes);
  };
  execute(exact, first);
  execute(coded, second);
  const bool real = p.transforms.contains(Transform::r2c) && !forward;
  const std::size_t count = forward ? coded.output_count() : coded.input_count();
  const auto value = [&](const Buffer<T>& of, std::size_t i) {
    return real ? Complex(of[i], 0) : Complex(of[2 * i], of[2 * i + 1]);
  };
  Result<double> of_exact, of_coded;
  for (std::size_t i = 0; i < count; ++i) {
    of_exact.values.push_back(value(first, i));
    of_coded.values.push_back(value(second, i));
  }
  const Distance expected = distance(comm, of_exact, of_coded);
  const double rounding = sizeof(T) == 8 ? 1e-9 : 1e-2;
  EXPECT_GT(measured.l2, 1e-5);
  EXPECT_NEAR(measured.l2, expected.relative(), rounding * measured.l2);
  EXPECT_NEAR(measured.maximum, expected.relative_maximum(), rounding * measured.maximum);
  EXPECT_EQ(measured.bound, codec_error(design_of(coded), m.direction));
  if (!real) {  // a half spectrum of no real data
    EXPECT_LE(measured.l2, measured.bound);
  }
}

}  // namespace

/// lossy-all-to-all, Table II.
TEST(CodedPlans, SinglePrecisionOnTheWireIsMoreAccurateThanInTheFfts) {
  for (const int ranks : {2, 3, 8, 16})
    for (const bool natural : {false, true})
      ThreadTeam(ranks).run([&](const Comm& comm) {
        const Data data{Data::Kind::random, 3};
        const Problem p = cube(48, natural);
        const Options coded = Options().set("exchange", "copy").set("codec", "fp32");
        const auto exact = transform<double>(comm, p, {}, data, Direction::forward);
        const Distance wire =
            distance(comm, exact, transform<double>(comm, p, coded, data, Direction::forward));
        const Distance ffts = distance(comm, exact, transform<float>(comm, p, {}, data, Direction::forward));
        EXPECT_GT(ffts.relative(), 3 * wire.relative()) << ranks << " ranks";
        EXPECT_GT(ffts.relative_maximum(), 3 * wire.relative_maximum()) << ranks << " ranks";
      });
}

TEST(CodedPlans, TrimmingCostsNoMoreThanTheBitsThatAreCut) {
  ThreadTeam(4).run([&](const Comm& comm) {
    const Data data{Data::Kind::random, 5};
    const auto exact = transform<double>(comm, cube(32, false), {}, data, Direction::forward);
    for (int m = 4; m <= 51; ++m) {
      const Options options = Options().set("exchange", "copy").set("codec", "trim:" + std::to_string(m));
      const auto coded = transform<double>(comm, cube(32, false), options, data, Direction::forward);
      EXPECT_LE(distance(comm, exact, coded).relative(), std::ldexp(1, -m)) << m;
    }
  });
}

/// WEFT_TEST_PROBLEMS=2000 for more.
TEST(CodedPlans, KeepTheToleranceForDataOfAllKinds) {
  using enum Data::Kind;
  const ScopedSwitch machines(detail::pretended_ranks_per_node, 1);
  const int count = problem_count(60);
  std::vector<std::unique_ptr<ThreadTeam>> teams;
  for (int n = 2; n <= 6; ++n) teams.push_back(std::make_unique<ThreadTeam>(n));
  for (int i = 0; i < count; ++i) {
    std::mt19937_64 engine(first_seed() + static_cast<std::uint64_t>(i));
    const auto drawn = [&](Index lo, Index hi) {
      return lo + static_cast<Index>(engine() % static_cast<std::uint64_t>(hi - lo + 1));
    };
    const Data data{
        std::array{random, smooth, scaled, spikes, zeros, nothing}[static_cast<std::size_t>(i % 6)],
        static_cast<std::uint64_t>(i)};
    Problem p;
    p.shape = {drawn(1, 24), drawn(1, 24), drawn(1, 40)};
    p.input = drawn(0, 1) == 0 ? Distribution::brick() : Distribution::slab(0);
    p.output = drawn(0, 1) == 0 ? Distribution::brick() : Distribution::slab(1);
    const double tolerance = std::stod(scientific(std::pow(10.0, -static_cast<double>(drawn(10, 140)) / 10)));
    const Direction direction = drawn(0, 1) == 0 ? Direction::forward : Direction::backward;
    const Options coded = Options().set("tolerance", scientific(tolerance));
    teams[static_cast<std::size_t>(i % 5)]->run([&](const Comm& comm) {
      const auto exact = transform<double>(comm, p, {}, data, direction);
      const auto other = transform<double>(comm, p, coded, data, direction);
      const Distance d = distance(comm, exact, other);
      EXPECT_LE(d.relative(), tolerance) << "problem " << i;
      EXPECT_LE(other.measured.bound, tolerance);
      EXPECT_NEAR(other.measured.l2, d.relative(), 1e-14) << "problem " << i;
      if (data.kind == nothing) {
        EXPECT_EQ(d.error, 0);
      }
    });
  }
}

TEST(MeasuredError, IsTheDistanceFromAnExactPlan) {
  const auto plain = [](Problem&) {};
  const auto in_place = [](Problem& p) { p.in_place = true; };
  const auto real = [](Problem& p) { p.transforms = {Transform::c2c, Transform::c2c, Transform::r2c}; };
  const auto batch_in_place = [](Problem& p) {
    p.batch = 2;
    p.in_place = true;
    p.transforms = {Transform::c2c, Transform::c2c, Transform::r2c};
  };
  const auto interleaved = [](Problem& p) {
    p.batch = 3;
    p.input = p.input.with_strides({540, 54, 3});
    p.output = p.output.with_strides({540, 54, 3});
    p.input_distance = p.output_distance = 1;
  };
  const auto halo = [](Problem& p) {
    p.input = p.input.with_halo({1, 0, 2}, {0, 3, 1});
    p.output = p.output.with_halo({0, 1, 0}, {2, 0, 1});
  };
  const auto natural = [](Problem& p) { p.output = Distribution::slab(0); };
  using enum Direction;
  const std::vector<Measured> all{
      {forward, plain, {{"exchange", "copy"}}},
      {backward, plain, {{"exchange", "copy"}, {"pipeline", "two-front"}}},
      {forward, in_place, {{"exchange", "copy"}, {"pipeline", "windowed"}}},
      {backward, in_place, {{"exchange", "copy"}, {"pipeline", "planes"}, {"tile", "4"}}},
      {forward, real, {{"exchange", "copy"}, {"pipeline", "sequential"}}},
      {backward, real, {{"exchange", "copy"}}},
      {forward, batch_in_place, {{"exchange", "copy"}}},
      {backward, batch_in_place, {{"exchange", "copy"}}},
      {forward, interleaved, {{"exchange", "copy"}}},
      {backward, halo, {{"exchange", "copy"}, {"workspace", "user"}}},
      {forward, natural, {{"exchange", "copy"}, {"workspace", "user"}}}};
  ThreadTeam team(3);
  for (std::size_t i = 0; i < all.size(); ++i) {
    team.run([&](const Comm& comm) {
      SCOPED_TRACE("case " + std::to_string(i));
      expect_measured<double>(comm, all[i]);
      expect_measured<float>(comm, all[i]);
    });
  }
}

TEST(MeasuredError, OfAnExactPlanIsZeroAndTakesNoExecution) {
  ThreadTeam(2).run([&](const Comm& comm) {
    Plan plan(comm, cube(8, false), Options().set("exchange", "copy"));
    plan.record_times(true);
    const Buffer<Complex> in(plan.input_count());
    const Accuracy accuracy = plan.measured_error(Direction::forward, in.data());
    EXPECT_EQ(accuracy.l2 + accuracy.maximum + accuracy.bound, 0);
    EXPECT_TRUE(plan.operation_times().empty());
  });
}

TEST(MeasuredError, HoldsForNumbersOfAnySizeAndSaysWhatIsNone) {
  ThreadTeam(2).run([&](const Comm& comm) {
    Plan plan(comm, cube(8, false), Options().set("exchange", "copy").set("codec", "fp32"));
    Buffer<Complex> in(plan.input_count());
    const auto measured = [&](double size) {
      for (std::size_t i = 0; i < in.size(); ++i) in[i] = size * std::sin(1.0 + static_cast<double>(i));
      return plan.measured_error(Direction::forward, in.data());
    };
    const double usual = measured(1).l2;
    EXPECT_GT(usual, 1e-9);
    for (const double size : {1e-300, 1e-170, 1e170, 1e300})
      EXPECT_NEAR(measured(size).l2, usual, usual / 2) << size;
    const Accuracy zero = measured(0);
    EXPECT_EQ(zero.l2, 0);
    EXPECT_EQ(zero.maximum, 0);
    const Accuracy none = measured(std::numeric_limits<double>::quiet_NaN());
    EXPECT_TRUE(std::isnan(none.l2) && std::isnan(none.maximum));
  });
}

TEST(MeasuredError, MisuseIsAnErrorOnAllRanks) {
  ThreadTeam(3).run([&](const Comm& comm) {
    Plan plan(comm, cube(8, false), Options().set("exchange", "copy").set("codec", "fp16"));
    Buffer<Complex> in(plan.input_count()), out(plan.output_count());
    const bool first = comm.rank() == 0;
    expect_error([&] { plan.measured_error(Direction::forward, first ? nullptr : in.data()); }, "in is null");
    expect_error([&] { plan.measured_error(Direction::forward, static_cast<float*>(nullptr)); },
                 "elements of float");
    expect_error([&] { plan.measured_error(static_cast<Direction>(2), in.data()); },
                 "forward (0) or backward");
    plan.start_forward(in.data(), out.data());
    expect_error([&] { plan.measured_error(Direction::forward, in.data()); }, "is under way");
    plan.wait();
    in[0] = 1;
    EXPECT_LE(plan.measured_error(Direction::forward, in.data()).l2, relative_error(find_codec("fp16")));
  });
}

TEST(CodedPlans, WhatWouldBecomeInfiniteEndsTheExecution) {
  for (const char* exchange : {"copy", "direct"}) {
    ThreadTeam team(3);
    team.run([&](const Comm& comm) {
      // Nothing is transformed before the exchange, so that the number gets there as it is.
      Problem p = cube(12, true);
      p.input = Distribution::slab(1);
      p.transforms = {Transform::none, Transform::c2c, Transform::none};
      Plan plan(comm, p, Options().set("exchange", exchange).set("codec", "fp16"));
      Buffer<Complex> in(plan.input_count()), out(plan.output_count());
      in[0] = comm.rank() == 1 ? std::numeric_limits<double>::max() : 1;
      expect_error([&] { plan.forward(in.data(), out.data()); },
                   comm.rank() == 1 ? "would make infinite" : "");
    });
  }
}

/// The error of zfp depends on the data; beside the bound, what it is for smooth ones.
TEST(CodedPlans, ZfpCodesSmoothDataBetterThanItsBound) {
  if (!zfp::missing().empty()) GTEST_SKIP() << zfp::missing();
  using enum Data::Kind;
  struct Most {
    Data::Kind kind;
    double error;
  };
  for (const Most& most : {Most{smooth, 3e-5}, Most{random, 1}, Most{scaled, 1}, Most{spikes, 1}})
    ThreadTeam(4).run([&](const Comm& comm) {
      const Data data{most.kind, 7};
      for (const bool natural : {false, true}) {
        Problem p = cube(32, natural);
        p.transforms = {Transform::c2c, Transform::none, Transform::none};  // what is sent is the data
        p.input = Distribution::slab(0);
        const Options coded = Options().set("exchange", "copy").set("codec", "zfp:16").set("threads", 2);
        const auto exact = transform<double>(comm, p, {}, data, Direction::forward);
        const auto other = transform<double>(comm, p, coded, data, Direction::forward);
        const double error = distance(comm, exact, other).relative();
        EXPECT_LE(error, std::min(most.error, other.measured.bound));
        EXPECT_GT(error, 0);
      }
    });
}

/// Rows along the axis of which tiles are planes: the rest of two-front goes to its receivers in parts of all
/// planes, each row as a whole.
TEST(CodedPlans, RowsMayLieAcrossThePlanes) {
  const std::vector<Box> rows{{{0, 0}, {14, 64}}, {{14, 0}, {15, 64}}, {{15, 0}, {16, 64}}};
  const std::vector<Box> others{{{0, 0}, {16, 12}}, {{0, 12}, {8, 64}}, {{8, 12}, {16, 64}}};
  for (const char* exchange : {"copy", "direct"})
    for (const Order& order : {Order{0, 1}, Order{1, 0}})
      ThreadTeam(3).run([&](const Comm& comm) {
        Problem p;
        p.shape = {16, 64};
        p.transforms = {Transform::none, Transform::none};
        p.element = Element::real;
        p.input = Distribution::boxes(rows).with_order(comm.rank() == 1 ? order : Order{1, 0});
        p.output = Distribution::boxes(others).with_order({1, 0});
        Plan plan(comm, p,
                  Options()
                      .set("exchange", exchange)
                      .set("pipeline", "two-front")
                      .set("codec", "trim:20")
                      .set("tile", 2)
                      .set("front", 8)
                      .set("rest", 6));
        Buffer<double> in(plan.input_count()), out(plan.output_count());
        const auto value = [](const Shape& at) { return static_cast<double>(100 * at[0] + at[1]); };
        for_each_input(plan, [&](const Shape& at, std::size_t i) { in[i] = value(at); });
        plan.forward(in.data(), out.data());
        for_each_output(plan, [&](const Shape& at, std::size_t i) {
          EXPECT_EQ(out[i], value(at));
          out[i] += 1;
        });
        plan.backward(out.data(), in.data());
        for_each_input(plan, [&](const Shape& at, std::size_t i) { EXPECT_EQ(in[i], value(at) + 1); });
      });
}

TEST(CodedPlans, ZfpRefusesNan) {
  if (!zfp::missing().empty()) GTEST_SKIP() << zfp::missing();
  ThreadTeam team(3);
  team.run([&](const Comm& comm) {
    Plan plan(comm, cube(12, true), Options().set("exchange", "copy").set("codec", "zfp:16"));
    Buffer<Complex> in(plan.input_count()), out(plan.output_count());
    if (comm.rank() == 1) in[0] = std::numeric_limits<double>::quiet_NaN();
    expect_error([&] { plan.forward(in.data(), out.data()); },
                 comm.rank() == 1 ? "codec zfp:16: NaN or an infinity" : "");
  });
}

/// With WEFT_ZFP_LIBRARY=/no/such/library.
TEST(CodedPlansWithoutZfp, SayWhatToInstall) {
  if (zfp::missing().empty()) GTEST_SKIP() << "libzfp is here";
  ThreadTeam team(2);
  team.run([&](const Comm& comm) {
    for (const char* effort : {"estimate", "measure"})
      expect_error(
          [&] {
            Plan(comm, cube(12, false),
                 Options().set("exchange", "copy").set("codec", "zfp:16").set("effort", effort));
          },
          "apt-get install libzfp1");
    EXPECT_NO_THROW(Plan(comm, cube(12, false), Options().set("exchange", "copy").set("codec", "fp16")));
  });
}

TEST(CodedPlans, ADamagedMessageIsAnErrorAndNotAWrongNumber) {
  struct Case {
    const char *exchange, *codec;
  };
  ThreadTeam team(3);
  for (const Case& c : {Case{"copy", "fp32"}, Case{"direct", "fp32"}, Case{"copy", "zfp-accuracy:12"}}) {
    if (find_codec(c.codec).row->by_library && !zfp::missing().empty()) continue;
    std::atomic<bool> armed = true;
    TestHook hook;
    hook.on_access = [&](const char* kind, const std::byte* from, const std::byte*, std::size_t bytes) {
      // A rank's own part is not coded.
      constexpr std::size_t plain = std::size_t{4} * 4 * 12 * sizeof(Complex);
      if (std::string(kind) == "unpack" && bytes < plain && armed.exchange(false))
        const_cast<std::byte*>(from)[1] ^= std::byte{8};
    };
    const ScopedTestHook scoped(hook);
    std::atomic<int> noticed = 0;
    team.run([&](const Comm& comm) {
      Plan plan(comm, cube(12, false), Options().set("exchange", c.exchange).set("codec", c.codec));
      Buffer<Complex> in(plan.input_count()), out(plan.output_count());
      try {
        plan.forward(in.data(), out.data());
      } catch (const Error& e) {
        noticed += std::string(e.what()).find("a damaged part from rank") != std::string::npos ? 1 : 0;
      }
    });
    EXPECT_GE(noticed, 1) << c.exchange << " " << c.codec;
  }
}

namespace {

/// The numbers that a plan makes of small integers.
std::vector<double> of_integers(const Comm& comm, const Problem& p, const Options& options,
                                Direction direction) {
  Plan plan(comm, p, options);
  const std::size_t reals = plan.buffer_bytes() / sizeof(double);
  Buffer<double> in(reals), out(reals);
  for (std::size_t i = 0; i < reals; ++i)
    in[i] = static_cast<double>((7919 * i + 104729 * static_cast<std::size_t>(comm.rank())) % 2001) - 1000;
  const void* const from = in.data();
  void* const to = out.data();
  direction == Direction::forward ? plan.forward(from, to) : plan.backward(from, to);
  const std::size_t complex = direction == Direction::forward ? plan.output_count() : plan.input_count();
  const bool real = direction == Direction::backward && p.transforms.contains(Transform::r2c);
  return {out.begin(), out.begin() + static_cast<std::ptrdiff_t>(complex * (real ? 1 : 2))};
}

}  // namespace

/// FFTs of four points make integers of integers, and single precision holds them: whatever is stored, or
/// read, where it does not belong shows in a bit.
TEST(CodedPlans, IntegersSurviveSinglePrecisionThatIsStored) {
  using enum Transform;
  std::vector<Problem> problems(5);
  for (Problem& p : problems) {
    p.shape = {4, 71, 10};
    p.transforms = {c2c, none, none};
    p.input = Distribution::slab(1);
    p.output = Distribution::slab(0);
  }
  problems[1].transforms = {r2c, none, none};
  problems[1].output = Distribution::slab(2);
  problems[2].batch = 5;
  problems[3].shape = {70, 9, 4};
  problems[3].transforms = {none, none, c2c};
  problems[3].input = Distribution::pencil(1);
  problems[3].output = Distribution::brick();
  // The axis of the rows is not the fastest in memory.
  problems[4].shape = {4, 71, 80};
  problems[4].batch = 3;
  problems[4].input = Distribution::slab(1).with_strides({71 * 240, 240, 3});
  problems[4].input_distance = 1;
  const std::vector<Options> cuts{
      Options().set("pipeline", "sequential"), Options().set("pipeline", "windowed").set("tile", 2),
      Options().set("pipeline", "th").set("tile", 3), Options().set("pipeline", "planes").set("tile", 3),
      Options().set("pipeline", "two-front").set("tile", 1).set("subtile", 1)};
  for (const int ranks : {2, 3, 6}) {
    ThreadTeam team(ranks);
    for (std::size_t i = 0; i < problems.size() * cuts.size(); ++i)
      for (const Direction direction : {Direction::forward, Direction::backward})
        team.run([&](const Comm& comm) {
          const Problem& p = problems[i / cuts.size()];
          Options options = cuts[i % cuts.size()];
          options.set("exchange", "direct");
          const std::vector<double> exact = of_integers(comm, p, options, direction);
          EXPECT_EQ(of_integers(comm, p, options.set("codec", "fp32"), direction), exact)
              << "case " << i << " on " << ranks << " ranks";
        });
  }
}

}  // namespace weft::test
