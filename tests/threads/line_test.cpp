// One long line over all ranks: two axes of an array as a one-dimensional transform, beside that of one rank.
#include <gtest/gtest.h>

#include <complex>
#include <cstdint>

#include "fft/line_twiddles.hpp"
#include "support/expect_error.hpp"
#include "weft/weft.hpp"

namespace weft::test {

namespace {

template <class Real>
using Complex = std::complex<Real>;

/// In [-1, 1), without a pattern: no mode stands out among the others, which the bound of the errors counts
/// on.
template <class Real>
Complex<Real> value(Index j, Index item) {
  std::uint64_t bits = static_cast<std::uint64_t>(j) * 0x9E3779B97F4A7C15u + static_cast<std::uint64_t>(item);
  for (const int shift : {30, 27, 31}) bits = (bits ^ (bits >> shift)) * 0xBF58476D1CE4E5B9u;
  const auto part = [](std::uint64_t sixteen) { return static_cast<Real>(sixteen & 0xFFFF) / 32768 - 1; };
  return {part(bits >> 48), part(bits >> 32)};
}

struct Case {
  Shape shape;
  AxisVector<int> line;
  AxisVector<Transform> transforms{};
  Distribution input = Distribution::slab(0), output = Distribution::slab(0);
  Index batch = 1;
  bool in_place = false;
};

/// All points in the C order of the axes that are no part of the line, then of the line: transformed by rank
/// 0 alone. Other axes are not transformed.
template <class Real>
std::vector<Complex<Real>> expected(const Case& c, Direction direction) {
  const Index n = c.shape[c.line[0]] * c.shape[c.line[1]];
  Index others = c.batch;
  for (int a = 0; a < c.shape.size(); ++a)
    if (!c.line.contains(a)) others *= c.shape[a];
  Problem p{.shape = {n},
            .precision = sizeof(Real) == 8 ? Precision::float64 : Precision::float32,
            .batch = others};
  Plan plan(Comm::self(), p);
  std::vector<Complex<Real>> in(static_cast<std::size_t>(n * others)), out(in.size());
  for (Index item = 0; item < others; ++item)
    for (Index j = 0; j < n; ++j) in[static_cast<std::size_t>(item * n + j)] = value<Real>(j, item);
  direction == Direction::forward ? plan.forward(in.data(), out.data())
                                  : plan.backward(in.data(), out.data());
  return out;
}

template <class Real>
void check(const Comm& comm, const Case& c, const Options& options = {}) {
  Problem p{.shape = c.shape, .transforms = c.transforms, .line = c.line};
  p.precision = sizeof(Real) == 8 ? Precision::float64 : Precision::float32;
  p.input = c.input;
  p.output = c.output;
  p.batch = c.batch;
  p.in_place = c.in_place;
  Plan plan(comm, p, options);
  const Index n0 = c.shape[c.line[0]], n1 = c.shape[c.line[1]];
  const auto item_of = [&](const Shape& at, Index batch_item) {
    Index item = batch_item;
    for (int a = 0; a < c.shape.size(); ++a)
      if (!c.line.contains(a)) item = item * c.shape[a] + at[a];
    return item;
  };
  const auto point = [&](const Shape& at) { return at[c.line[0]] * n1 + at[c.line[1]]; };
  const auto mode = [&](const Shape& at) { return at[c.line[0]] + n0 * at[c.line[1]]; };
  const std::size_t room = plan.buffer_bytes() / sizeof(Complex<Real>);
  for (const Direction direction : {Direction::forward, Direction::backward}) {
    const bool forward = direction == Direction::forward;
    const std::vector<Complex<Real>> right = expected<Real>(c, direction);
    Buffer<Complex<Real>> first(room), second(room);
    Buffer<Complex<Real>>& result = c.in_place ? first : second;
    const auto each = [&](bool input, const auto& f) {
      for (Index item = 0; item < c.batch; ++item) {
        const Index distance = item * (input ? plan.input_distance() : plan.output_distance());
        const auto visit = [&](const Shape& at, std::size_t position) {
          f(item_of(at, item), input ? point(at) : mode(at), position + static_cast<std::size_t>(distance));
        };
        input ? for_each_input(plan, visit) : for_each_output(plan, visit);
      }
    };
    each(forward, [&](Index item, Index j, std::size_t at) { first[at] = value<Real>(j, item); });
    forward ? plan.forward(first.data(), result.data()) : plan.backward(first.data(), result.data());
    double worst = 0;
    each(!forward, [&](Index item, Index k, std::size_t at) {
      worst = std::max(
          worst,
          static_cast<double>(std::abs(result[at] - right[static_cast<std::size_t>(item * n0 * n1 + k)])));
    });
    // The largest of n errors of numbers of about sqrt(n).
    const auto n = static_cast<double>(n0 * n1);
    EXPECT_LT(worst,
              4 * static_cast<double>(std::numeric_limits<Real>::epsilon()) * std::sqrt(n) * std::log2(n + 2))
        << plan.to_string();
  }
}

}  // namespace

TEST(Line, RootsOfUnity) {
  for (const Index n : {1, 2, 3, 7, 16, 100, 4097, 65536}) {
    const UnitRoots roots(n);
    for (Index p = 0; p < n; ++p) {
      const long double angle =
          -2 * std::numbers::pi_v<long double> * static_cast<long double>(p) / static_cast<long double>(n);
      EXPECT_NEAR(roots(p).real(), static_cast<double>(std::cos(angle)), 3e-16) << p << " of " << n;
      EXPECT_NEAR(roots(p).imag(), static_cast<double>(std::sin(angle)), 3e-16) << p << " of " << n;
    }
  }
}

TEST(Line, IsOneTransform) {
  for (const int ranks : {1, 2, 3, 4, 5})
    ThreadTeam(ranks).run([&](const Comm& comm) {
      for (const Shape& shape : {Shape{8, 16}, Shape{12, 15}, Shape{7, 9}, Shape{2, 3}, Shape{100, 130}})
        for (const AxisVector<int>& line : {AxisVector<int>{0, 1}, AxisVector<int>{1, 0}}) {
          check<double>(comm, {shape, line});
          check<double>(comm, {shape,
                               line,
                               {},
                               Distribution::slab(line[0]),
                               Distribution::slab(line[1]).with_order({line[1], line[0]})});
          check<float>(comm, {shape, line, {}, Distribution::slab(0), Distribution::slab(1)});
          check<double>(comm, {shape, line, {}, Distribution::brick(), Distribution::fastest()});
          check<double>(comm, {.shape = shape, .line = line, .batch = 3});
          check<double>(comm, {.shape = shape,
                               .line = line,
                               .input = Distribution::slab(0),
                               .output = Distribution::slab(1),
                               .in_place = true});
        }
    });
}

TEST(Line, AmongOtherAxes) {
  for (const int ranks : {1, 2, 3, 4, 6})
    ThreadTeam(ranks).run([&](const Comm& comm) {
      const Transform none = Transform::none, c2c = Transform::c2c;
      check<double>(comm, {{5, 6, 10}, {1, 2}, {none, c2c, c2c}});
      check<double>(comm,
                    {{6, 5, 10}, {0, 2}, {c2c, none, c2c}, Distribution::brick(), Distribution::pencil(1)});
      check<double>(comm, {{6, 10, 4},
                           {1, 0},
                           {c2c, c2c, none},
                           Distribution::slab(2),
                           Distribution::slab(2).with_order({1, 2, 0})});
      check<double>(
          comm,
          {{3, 4, 2, 6}, {1, 3}, {none, c2c, none, c2c}, Distribution::pencil(0), Distribution::slab(2), 2});
    });
}

TEST(Line, WithAllPipelines) {
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
            check<double>(
                comm, {{64, 96}, {0, 1}, {}, Distribution::slab(0), Distribution::slab(1).with_order({1, 0})},
                options);
            check<double>(comm, {{4, 24, 30}, {1, 2}, {Transform::none, Transform::c2c, Transform::c2c}},
                          options);
          }
      check<double>(comm, {{4, 24, 30}, {1, 2}, {Transform::none, Transform::c2c, Transform::c2c}},
                    Options().set("pipeline", "shared"));
    });
}

// Beside an axis of real data, whose part on a rank is smaller on that side.
TEST(Line, BesideARealAxis) {
  using enum Transform;
  for (const int ranks : {1, 2, 3})
    ThreadTeam(ranks).run([](const Comm& comm) {
      const std::vector<std::pair<Shape, AxisVector<Transform>>> cases{
          {{4, 6, 10}, {c2c, c2c, r2c}}, {{10, 4, 6}, {r2c, c2c, c2c}}, {{6, 1, 8}, {c2c, c2c, r2c}},
          {{1, 6, 8}, {c2c, c2c, r2c}},  {{4, 7, 6}, {c2c, r2c, c2c}},  {{5, 9, 4}, {c2c, dct2, c2c}}};
      for (const auto& [shape, transforms] : cases)
        for (const bool in_place : {false, true}) {
          Problem p{.shape = shape, .transforms = transforms, .in_place = in_place};
          for (int a = 0; a < 3; ++a)
            if (transforms[a] == c2c) p.line.push_back(a);
          p.backward_scale = Scale::full;
          Plan plan(comm, p);
          const bool real = transforms.contains(r2c);
          Buffer<double> in(plan.buffer_bytes() / 8), out(plan.buffer_bytes() / 8 + 2);
          Buffer<double>& result = in_place ? in : out;
          const auto number = [&](std::size_t i) {
            return static_cast<double>((i * 37 + 11) % 101) / 50 - 1;
          };
          const std::size_t numbers = plan.input_count() * (real ? 1 : 2);
          for (std::size_t i = 0; i < numbers; ++i) in[i] = number(i);
          const double guard = 17;
          out[out.size() - 1] = out[out.size() - 2] = guard;
          plan.forward(static_cast<const void*>(in.data()), static_cast<void*>(result.data()));
          if (!in_place) std::fill(in.begin(), in.end(), 0.0);
          plan.backward(static_cast<const void*>(result.data()), static_cast<void*>(in.data()));
          for (std::size_t i = 0; i < numbers; ++i) EXPECT_NEAR(in[i], number(i), 1e-14) << plan.to_string();
          EXPECT_EQ(out[out.size() - 1] + out[out.size() - 2], 2 * guard);
        }
    });
}

TEST(Line, IsPrinted) {
  ThreadTeam(2).run([](const Comm& comm) {
    const Plan plan(comm, {.shape = {8, 16}, .line = {0, 1}});
    const std::string text = plan.to_string();
    EXPECT_TRUE(says(text, "8x16 c2c,c2c of complex float64, axes 0 and 1 one line, on 2 ranks"));
    EXPECT_TRUE(says(text, "c2c on 0, twiddles -> slab 1x2 of 8x16"));
  });
}

TEST(Line, MistakesAreErrors) {
  const auto plan = [](const Problem& p) { return [p] { Plan(Comm::self(), p); }; };
  Problem p{.shape = {4, 6}, .line = {0, 1}};
  p.line = {0, 0};
  expect_error(plan(p), "two different axes of 2");
  p.line = {0, 2};
  expect_error(plan(p), "2 axes, 0 and 2");
  p.line = {1};
  expect_error(plan(p), "1 axes");
  p.line = {0, 1};
  p.transforms = {Transform::c2c, Transform::none};
  expect_error(plan(p),
               "none along axis 1; expected c2c along both axes of a line, or r2c along one of them");
  EXPECT_EQ(line_shape(Index{1} << 26), (Shape{8192, 8192}));
  EXPECT_EQ(line_shape(6), (Shape{2, 3}));
  EXPECT_EQ(line_shape(1000), (Shape{25, 40}));
  expect_error([] { line_shape(1009); }, "1009 points");
  expect_error([] { line_shape(0); }, "0 points");
}

}  // namespace weft::test
