// A real line over all ranks, with either half of its modes, beside direct sums.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <map>
#include <mutex>
#include <numbers>

#include "support/expect_error.hpp"
#include "weft/weft.hpp"

namespace weft::test {

namespace {

using enum Transform;

struct Case {
  Shape shape;
  AxisVector<int> line{0, 1};
  AxisVector<Transform> transforms{c2c, r2c};
  Distribution input = Distribution::slab(0), output = Distribution::slab(0);
  Index batch = 1;
  bool in_place = false;
  Scale scale = Scale::none;
};

/// Neither even nor odd, and of all frequencies.
double value(Index j, Index item) {
  return static_cast<double>((j * j * 31 + j * 7919 + 13 * item) % 1009) / 500 - 1;
}

/// All modes of one line.
using Modes = std::vector<std::complex<double>>;
Modes sum_of_line(Index n, Index item) {
  std::vector<std::complex<long double>> roots;
  for (Index p = 0; p < n; ++p) {
    const long double angle =
        -2 * std::numbers::pi_v<long double> * static_cast<long double>(p) / static_cast<long double>(n);
    roots.emplace_back(std::cos(angle), std::sin(angle));
  }
  Modes modes;
  for (Index k = 0; k < n; ++k) {
    std::complex<long double> sum = 0;
    for (Index j = 0; j < n; ++j)
      sum += static_cast<long double>(value(j, item)) * roots[static_cast<std::size_t>(j * k % n)];
    modes.emplace_back(sum);
  }
  return modes;
}

/// Computed once.
const Modes& modes_of(Index n, Index item) {
  static std::mutex guard;
  static std::map<std::pair<Index, Index>, Modes> known;
  const std::scoped_lock lock(guard);
  Modes& modes = known[{n, item}];
  if (modes.empty()) modes = sum_of_line(n, item);
  return modes;
}

template <class Real>
void check(const Comm& comm, const Case& c, const Options& options = {}) {
  Problem p{.shape = c.shape, .transforms = c.transforms, .line = c.line};
  p.precision = sizeof(Real) == 8 ? Precision::float64 : Precision::float32;
  p.input = c.input;
  p.output = c.output;
  p.batch = c.batch;
  p.in_place = c.in_place;
  p.forward_scale = p.backward_scale = c.scale;
  Plan plan(comm, p, options);
  const Index n0 = c.shape[c.line[0]], n1 = c.shape[c.line[1]], n = n0 * n1;
  const auto item_of = [&](const Shape& at, Index batch_item) {
    Index item = batch_item;
    for (int a = 0; a < c.shape.size(); ++a)
      if (!c.line.contains(a)) item = item * c.shape[a] + at[a];
    return item;
  };
  std::map<Index, const Modes*> right;
  const auto mode = [&](const Shape& at, Index batch_item) {
    const Modes*& modes = right[item_of(at, batch_item)];
    if (modes == nullptr) modes = &modes_of(n, item_of(at, batch_item));
    return (*modes)[static_cast<std::size_t>(at[c.line[0]] + n0 * at[c.line[1]])];
  };
  const double size = static_cast<double>(n), factor = c.scale == Scale::none        ? 1
                                                       : c.scale == Scale::symmetric ? 1 / std::sqrt(size)
                                                                                     : 1 / size;
  const double bound =
      4 * static_cast<double>(std::numeric_limits<Real>::epsilon()) * std::sqrt(size) * std::log2(size + 2);
  Buffer<Real> first(plan.buffer_bytes() / sizeof(Real)), second(plan.buffer_bytes() / sizeof(Real));
  Buffer<Real>& result = c.in_place ? first : second;
  const auto points = [&](const auto& f) {
    for (Index item = 0; item < c.batch; ++item)
      for_each_input(plan, [&](const Shape& at, std::size_t position) {
        f(value(at[c.line[0]] * n1 + at[c.line[1]], item_of(at, item)),
          first[position + static_cast<std::size_t>(item * plan.input_distance())]);
      });
  };
  const auto outputs = [&](const auto& f) {
    auto* const modes = reinterpret_cast<std::complex<Real>*>(result.data());
    for (Index item = 0; item < c.batch; ++item)
      for_each_output(plan, [&](const Shape& at, std::size_t position) {
        f(at, mode(at, item), modes[position + static_cast<std::size_t>(item * plan.output_distance())]);
      });
  };
  points([](double x, Real& here) { here = static_cast<Real>(x); });
  plan.forward(static_cast<const void*>(first.data()), static_cast<void*>(result.data()));
  double worst = 0;
  outputs([&](const Shape&, std::complex<double> x, std::complex<Real>& here) {
    worst = std::max(worst, std::abs(std::complex<double>(here) - factor * x));
  });
  EXPECT_LT(worst, factor * bound) << plan.to_string();
  // Backward looks at no mode behind n/2, if the first ones are given.
  outputs([&](const Shape& at, std::complex<double> x, std::complex<Real>& here) {
    const Index k = at[c.line[0]] + n0 * at[c.line[1]];
    const bool behind = c.transforms[c.line[1]] == r2c && n0 > 1 && n1 > 1 && 2 * k > n;
    here = behind ? std::complex<Real>(1000, 1000) : std::complex<Real>(x);
  });
  plan.backward(static_cast<const void*>(result.data()), static_cast<void*>(first.data()));
  worst = 0;
  points([&](double x, Real& here) {
    worst = std::max(worst, std::abs(static_cast<double>(here) - factor * size * x));
  });
  EXPECT_LT(worst, factor * std::sqrt(size) * bound) << plan.to_string();
}

const std::vector<AxisVector<Transform>> halves{{c2c, r2c}, {r2c, c2c}};

}  // namespace

TEST(RealLine, IsOneTransform) {
  for (const int ranks : {1, 2, 3, 4, 5})
    ThreadTeam(ranks).run([&](const Comm& comm) {
      for (const Shape& shape : {Shape{8, 16}, Shape{12, 15}, Shape{9, 10}, Shape{7, 9}, Shape{2, 2},
                                 Shape{2, 3}, Shape{3, 2}, Shape{1, 12}, Shape{11, 1}, Shape{20, 26}})
        for (const AxisVector<int>& line : {AxisVector<int>{0, 1}, AxisVector<int>{1, 0}})
          for (AxisVector<Transform> transforms : halves) {
            check<double>(comm, {shape, line, transforms});
            check<double>(comm, {shape, line, transforms, Distribution::slab(line[0]),
                                 Distribution::slab(line[1]).with_order({line[1], line[0]})});
            check<float>(comm, {shape, line, transforms, Distribution::slab(0), Distribution::slab(1)});
            check<double>(comm, {shape, line, transforms, Distribution::brick(), Distribution::fastest()});
            check<double>(comm, {shape, line, transforms, Distribution::slab(1), Distribution::brick(), 3});
            for (const Scale scale : {Scale::symmetric, Scale::full})
              check<double>(comm, {.shape = shape,
                                   .line = line,
                                   .transforms = transforms,
                                   .output = Distribution::slab(1),
                                   .in_place = true,
                                   .scale = scale});
          }
    });
}

TEST(RealLine, AmongOtherAxes) {
  for (const int ranks : {1, 2, 3, 4, 6})
    ThreadTeam(ranks).run([&](const Comm& comm) {
      for (const bool second : {false, true}) {
        const Transform a = second ? c2c : r2c, b = second ? r2c : c2c;
        check<double>(comm, {{5, 6, 10}, {1, 2}, {none, a, b}});
        check<double>(comm, {{5, 6, 10}, {1, 2}, {none, a, b}, Distribution::slab(1), Distribution::slab(2)});
        check<double>(comm,
                      {{6, 5, 10}, {0, 2}, {a, none, b}, Distribution::brick(), Distribution::pencil(1)});
        check<double>(comm, {{6, 10, 4},
                             {1, 0},
                             {b, a, none},
                             Distribution::slab(2),
                             Distribution::slab(2).with_order({1, 2, 0})});
        check<double>(
            comm,
            {{3, 4, 2, 6}, {1, 3}, {none, a, none, b}, Distribution::pencil(0), Distribution::slab(2), 2});
      }
    });
}

TEST(RealLine, WithAllPipelines) {
  for (const int ranks : {2, 3})
    ThreadTeam(ranks).run([&](const Comm& comm) {
      for (const char* exchange : {"direct", "copy"})
        for (const char* layout : {"contiguous", "strided"})
          for (const char* pipeline : {"sequential", "th", "windowed", "planes", "two-front"}) {
            Options options;
            options.set("exchange", exchange)
                .set("layout", layout)
                .set("pipeline", pipeline)
                .set("threads", 2);
            for (const AxisVector<Transform>& transforms : halves) {
              check<double>(comm,
                            {{24, 30},
                             {0, 1},
                             transforms,
                             Distribution::slab(0),
                             Distribution::slab(1).with_order({1, 0})},
                            options);
              check<double>(comm, {{4, 12, 15}, {1, 2}, {none, transforms[0], transforms[1]}}, options);
            }
          }
    });
}

TEST(RealLine, IsPrinted) {
  ThreadTeam(2).run([](const Comm& comm) {
    const Plan plan(
        comm, {.shape = {8, 16}, .transforms = {c2c, r2c}, .line = {0, 1}, .output = Distribution::slab(1)});
    const std::string text = plan.to_string();
    EXPECT_TRUE(says(text, "8x16 c2c,r2c of real float64, axes 0 and 1 one line, on 2 ranks"));
    EXPECT_TRUE(says(text, "r2c on 0, twiddles -> slab 1x2 of 5x16 complex"));
    EXPECT_TRUE(says(text, "c2c on 1, split in halves -> slab 2x1 of 5x9 in two halves, complex"));
    EXPECT_TRUE(says(text, "join      halves -> slab 1x2 of 8x9 complex"));
  });
}

TEST(RealLine, MistakesAreErrors) {
  Problem p{.shape = {4, 6, 8}, .transforms = {c2c, r2c, c2c}, .line = {0, 1}};
  const auto plan = [&] { Plan(Comm::self(), p); };
  expect_error(plan,
               "c2c along axis 2 beside r2c along the second axis of a line; expected r2c along its "
               "first axis, or no c2c along other axes");
  p.transforms = {r2c, c2c, c2c};
  plan();
  p.transforms = {c2c, r2c, dct2};
  plan();
  p.transforms = {c2c, dct2, none};
  expect_error(plan,
               "dct2 along axis 1; expected c2c along both axes of a line, or r2c along one of them; a "
               "DCT or DST is r2c of the line that is extended evenly or oddly");
  p = {.shape = Shape(8, 2), .transforms = AxisVector<Transform>(8, none), .line = {0, 1}};
  p.transforms[0] = c2c;
  p.transforms[1] = r2c;
  expect_error(plan, "a real line of an array with 8 axes; expected at most 7 axes");
}

}  // namespace weft::test
