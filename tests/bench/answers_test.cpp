// The benchmark's answers are right: those it computes, and those that it finds plans to have.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>
#include <utility>

#include "geometry/layout.hpp"
#include "geometry/transform.hpp"
#include "known_answer.hpp"
#include "line_functions.hpp"
#include "measured_on.hpp"
#include "report.hpp"
#include "support/kept_modes.hpp"
#include "support/reference.hpp"
#include "support/says.hpp"
#include "weft/modes.hpp"

namespace weft::test {

using bench::Case;
using bench::Measured;

namespace {

/// The values of a whole array, in C order.
template <class Value>
std::vector<Exact> all_values(const Shape& shape, const Value& value) {
  std::vector<Exact> all;
  for_each_point(Box::whole(shape), dense_strides(shape, c_order(shape.size())), 0,
                 [&](const Shape& at, std::size_t) { all.emplace_back(value(at)); });
  return all;
}

}  // namespace

TEST(BenchAnswers, TheKnownAnswerIsTheDirectSum) {
  using enum Transform;
  for (const AxisVector<Transform>& transforms :
       {AxisVector<Transform>{c2c, none, c2c}, {c2c, dct2, r2c}, {dst3, dct1, dct4}})
    for (const Between between : {Between::none, Between::modes, Between::points})
      for (int cut = 0; cut < 8; ++cut) {
        Problem p;
        p.shape = cut < 4 ? Shape{5, 4, 6} : Shape{6, 4, 7};
        p.transforms = transforms;
        p.between = between;
        p.element = transforms.contains(none) ? Element::complex : Element::real;
        const bool whole = transforms.contains(none);  // along axis 1
        if (cut % 2 == 1) p.modes = {4, whole ? 4 : 2, 3};
        if (cut / 2 % 2 == 1) p.points = {3, whole ? 4 : 3, 5};
        for (const bool smooth : {false, true}) {
          const bench::KnownAnswer answer(p, smooth);
          for (const Direction d : {Direction::forward, Direction::backward}) {
            const bool from_points =
                between == Between::modes || (between == Between::none && d == Direction::forward);
            const Shape from = from_points ? points_of(p) : modes_of(p);
            const std::vector<Exact> given =
                all_values(from, [&](const Shape& at) { return answer.given(d, at, 0); });
            std::vector<Exact> exact = from_points ? exact_modes(p, given) : exact_points(p, given);
            if (between != Between::none)
              exact = from_points ? exact_points(p, exact) : exact_modes(p, exact);
            const bool to_points = (between == Between::none) != from_points;
            const std::vector<Exact> result =
                all_values(to_points ? points_of(p) : modes_of(p),
                           [&](const Shape& at) { return answer.result(d, at, 0); });
            ASSERT_EQ(result.size(), exact.size());
            for (std::size_t i = 0; i < exact.size(); ++i)
              EXPECT_LT(std::abs(result[i] - exact[i]), 1e-9) << cut << " " << static_cast<int>(between);
          }
        }
      }
}

TEST(BenchAnswers, ErrorsAreRoundingForEveryTransformAndDirection) {
  for (const char* transform : {"c2c", "r2c", "dct2", "dst4", "c2c,dct1,r2c"})
    for (const char* direction : {"forward", "backward", "both"})
      for (const bool in_place : {false, true}) {
        Case c;
        c.shape = "12,10,14";
        c.transform = transform;
        c.direction = direction;
        c.in_place = in_place;
        c.repeat = 1;
        c.batch = 2;
        const Measured m = measured_on(3, c);
        EXPECT_GT(m.error_l2, 0) << transform;
        EXPECT_LT(m.error_l2, 5e-15) << transform << " " << direction;
      }
}

TEST(BenchAnswers, ErrorsAreRoundingWhereModesOrPointsAreCut) {
  struct Lengths {
    const char *shape, *modes, *modes_r2c, *points;
  };
  const Lengths all[] = {{"12,10,14", "8,7,9", "8,7,5", "9,10,11"},
                         {"9,11,15", "6,5,10", "6,5,6", "9,7,8"},
                         {"12,9,10", "", "", "6,5,5"},
                         {"9,8,7", "4,8,5", "4,8,3", ""}};
  int ranks = 0;
  for (const char* transform : {"c2c", "r2c", "dct2", "dst1", "c2c,dct3,r2c"})
    for (const char* between : {"none", "modes", "points"})
      for (const Lengths& lengths : all) {
        Case c;
        c.shape = lengths.shape;
        c.transform = transform;
        c.modes = says(transform, "r2c") ? lengths.modes_r2c : lengths.modes;
        c.points = lengths.points;
        c.between = between;
        c.direction = "both";
        c.output = ranks % 2 == 0 ? "natural" : "transposed";
        c.repeat = 1;
        c.batch = 2;
        const Measured m = measured_on(ranks++ % 4 + 1, c);
        EXPECT_GT(m.error_l2, 0) << transform;
        EXPECT_LT(m.error_l2, 1e-14) << transform << " " << lengths.shape << " " << between;
      }
}

TEST(BenchAnswers, TheKnownAnswerAlongALineIsTheDirectSum) {
  using enum Transform;
  struct {
    Shape shape;
    AxisVector<int> line;
    AxisVector<Transform> transforms;
  } const all[] = {{{4, 6}, {0, 1}, {}},         {{7, 5}, {1, 0}, {}},
                   {{1, 1}, {0, 1}, {}},         {{2, 3, 4}, {2, 0}, {c2c, dct2, c2c}},
                   {{4, 6}, {0, 1}, {c2c, r2c}}, {{5, 4, 3}, {2, 0}, {c2c, none, r2c}},
                   {{1, 1}, {0, 1}, {c2c, r2c}}, {{3, 5, 3}, {1, 2}, {none, c2c, c2c}}};
  for (const auto& one : all)
    for (const bool smooth : {false, true}) {
      Problem p;
      p.shape = one.shape;
      p.line = one.line;
      p.transforms = one.transforms.empty() ? AxisVector<Transform>(p.shape.size(), c2c) : one.transforms;
      const bench::KnownAnswer answer(p, smooth);
      const auto values = [&](bool points, const auto& value) {
        return all_values(points ? p.shape : output_shape(p.shape, p.transforms), value);
      };
      const auto given = [&](Direction d) {
        return values(d == Direction::forward, [&](const Shape& at) { return answer.given(d, at, 0); });
      };
      const auto result = [&](Direction d) {
        return values(d == Direction::backward, [&](const Shape& at) { return answer.result(d, at, 0); });
      };
      const std::vector<Exact> points = given(Direction::forward), modes = result(Direction::forward),
                               exact = direct_sum(p.shape, p.transforms, points, p.line),
                               modes_too = given(Direction::backward), back = result(Direction::backward);
      long double scale = 1;
      for (int a = 0; a < p.shape.size(); ++a)
        if (p.transforms[a] != none)
          scale *= static_cast<long double>(logical_length(p.transforms[a], p.shape[a]));
      ASSERT_EQ(modes.size(), exact.size());
      for (std::size_t i = 0; i < exact.size(); ++i) {
        EXPECT_LT(std::abs(modes[i] - exact[i]), 1e-12);
        EXPECT_EQ(modes_too[i], modes[i]);
      }
      for (std::size_t i = 0; i < points.size(); ++i) EXPECT_LT(std::abs(back[i] - scale * points[i]), 1e-12);
    }
}

TEST(BenchAnswers, FunctionsAlongVeryLongLinesAreExact) {
  // Of 2^34 points: the product of two indices can be larger than an Index. Away from
  // its run the function turns by the same angle from point to point.
  const Index length = Index{1} << 17;
  Problem p;
  p.shape = {length, length};
  p.line = {0, 1};
  std::mt19937 random(1);
  const bench::LineFunctions functions(p, 1, false, random);
  const auto point = [&](Index j) { return functions.point(0, {j / length, j % length}); };
  const Index n = length * length;
  const std::complex<double> turn = point(n / 2 + 1) / point(n / 2);
  for (const Index j : {n / 4, n / 2 + 12345, n - 2})
    EXPECT_LT(std::abs(point(j + 1) - turn * point(j)), 1e-15) << j;
  const auto mode = [&](Index k) { return functions.mode(0, {k % length, k / length}); };
  for (const Index k : {Index{1}, n / 4, n / 2 - 1})  // the run is real
    EXPECT_LT(std::abs(mode(k) - std::conj(mode(n - k))), 1e-15 * std::abs(mode(0))) << k;
}

TEST(BenchAnswers, ErrorsAreRoundingAlongLines) {
  struct {
    const char *shape, *line, *transform, *output;
  } const all[] = {{"16,32", "0,1", "c2c", "transposed"},
                   {"15,21", "0,1", "c2c", "natural"},
                   {"32,12", "1,0", "c2c", "slab1"},
                   {"16,32", "0,1", "r2c", "transposed"},
                   {"15,21", "0,1", "r2c", "natural"},
                   {"15,20", "0,1", "r2c,c2c", "slab1"},
                   {"4,7,9", "1,2", "dct2,c2c,r2c", "slab1"},
                   {"3,8,10", "1,2", "c2c", "natural"},
                   {"9,6,10", "0,2", "c2c,dct2,c2c", "transposed"},
                   {"4,7,9", "2,1", "none,c2c,c2c", "slab1"}};
  int runs = 0;
  for (const auto& one : all)
    for (const char* precision : {"double", "float"})
      for (const char* direction : {"forward", "backward", "both"})
        for (const bool in_place : {false, true}) {
          Case c;
          c.shape = one.shape;
          c.line = one.line;
          c.transform = one.transform;
          c.output = one.output;
          c.precision = precision;
          c.direction = direction;
          c.in_place = in_place;
          c.data = runs % 5 == 4 ? "smooth" : "random";
          c.batch = runs % 3 + 1;
          c.repeat = 1;
          const bool wide = c.precision == "double";
          const Measured m = measured_on(runs++ % 4 + 1, c);
          EXPECT_GT(m.error_l2, 0) << one.shape;
          EXPECT_LT(m.error_l2, wide ? 5e-15 : 2e-6) << one.shape << " " << one.line << " " << direction;
        }
}

TEST(BenchAnswers, LinesInMemoryOfDevices) {
  const ScopedDeviceDouble devices;
  for (const int ranks : {1, 3}) {
    Case c;
    c.device = "cuda";
    c.shape = "12,15";
    c.line = "0,1";
    c.direction = "both";
    c.repeat = 1;
    c.batch = 2;
    Case real = c;
    real.transform = "r2c";
    EXPECT_LT(measured_on(ranks, real).error_l2, 5e-15);
    const Measured m = measured_on(ranks, c);
    EXPECT_GT(m.error_l2, 0);
    EXPECT_LT(m.error_l2, 5e-15);
    EXPECT_DOUBLE_EQ(bench::customary_flops(c.problem()), 2 * 5 * 180 * std::log2(180));
    EXPECT_EQ(nlohmann::json::parse(json_of(c, m, ranks, "threads"))["problem"]["line"], "0,1");
  }
}

TEST(BenchAnswers, WithSomethingBetweenAnExecutionIsTwoTransforms) {
  for (const char* between : {"modes", "points"})
    for (const char* precision : {"double", "float"})
      for (const char* transform : {"c2c", "r2c", "dct2"})
        for (const auto& [batch, results] : {std::pair{1, 3}, {2, 1}, {2, 0}}) {
          Case c;
          c.shape = "8,6,10";
          c.transform = transform;
          c.precision = precision;
          c.output = "natural";
          c.between = between;
          c.batch = batch;
          c.results = results;
          c.in_place = results == 0;
          c.repeat = 2;
          c.direction = "both";
          const bool wide = c.precision == "double";
          const Measured m = measured_on(3, c);
          EXPECT_LT(m.error_l2, wide ? 5e-15 : 2e-6) << transform << " " << between << " " << results;
          Case one = c;
          one.between = "none";
          one.results = 0;
          one.batch = 1;
          const double transforms = batch + (results == 0 ? batch : results);
          EXPECT_DOUBLE_EQ(bench::customary_flops(c.problem()),
                           transforms * bench::customary_flops(one.problem()));
          const auto j = nlohmann::json::parse(json_of(c, m, 3, "threads"))["problem"];
          EXPECT_EQ(j["between"], between);
          EXPECT_EQ(j.contains("results"), results > 0);
          EXPECT_FALSE(j.contains("modes"));
        }
}

}  // namespace weft::test
