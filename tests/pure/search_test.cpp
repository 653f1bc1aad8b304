#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "support/cost_models.hpp"
#include "support/expect_error.hpp"
#include "tune/search.hpp"

namespace weft::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Dimensions 0..size-1.
std::vector<Dimension> grid(std::size_t dimensions, Index size) {
  std::vector<Dimension> all;
  for (std::size_t d = 0; d < dimensions; ++d)
    all.push_back({"d" + std::to_string(d), all_values(0, size - 1)});
  return all;
}

/// Squared distance from a point that differs from dimension to dimension, some of which matter more.
double bowl(const Point& x, Index size) {
  double sum = 0;
  for (std::size_t d = 0; d < x.size(); ++d) {
    const auto distance = static_cast<double>(x[d] - static_cast<Index>(3 * d + 2) % size);
    sum += static_cast<double>(1 + d % 3) * distance * distance;
  }
  return sum;
}

/// Counts what it is asked, and fails the test if that is a point it knows.
struct Recorder {
  Score score;
  std::set<Point> asked;
  int feasible = 0;

  Score counted() {
    return [this](const Point& x) {
      EXPECT_TRUE(asked.insert(x).second) << "asked twice";
      const double s = score(x);
      feasible += std::isfinite(s) ? 1 : 0;
      return s;
    };
  }
};

/// Both searches, for what they have in common.
std::vector<SearchResult> both(std::span<const Dimension> dimensions, const Point& start, const Score& score,
                               const SearchLimits& limits) {
  Recorder first{score, {}}, second{score, {}};
  std::vector<SearchResult> results{nelder_mead(dimensions, {start}, first.counted(), limits),
                                    random_search(dimensions, 5, second.counted(), limits)};
  EXPECT_EQ(static_cast<int>(results[0].history.size()), first.feasible);
  EXPECT_EQ(static_cast<int>(results[1].history.size()), second.feasible);
  return results;
}

/// How many of the noise seeds 1..50 end, after 40 trials, within 10% of the best of 200 random points. Both
/// are compared without the noise that the search sees.
int successes(const CostModel& model) {
  int good = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const double random = random_search(model.dimensions, 1000 + seed, model.cost, {200, {}}).best.score;
    const SearchResult found =
        nelder_mead(model.dimensions, {model.start}, noisy(model.cost, 0.03, seed), {40, {}});
    EXPECT_LE(found.history.size(), 40U);
    good += model.cost(found.best.point) <= 1.1 * random ? 1 : 0;
  }
  return good;
}

}  // namespace

TEST(SearchValues, PowersOfTwoAndBothEnds) {
  EXPECT_EQ(log_values(1, 24), (std::vector<Index>{1, 2, 4, 8, 16, 24}));
  EXPECT_EQ(log_values(1, 32), (std::vector<Index>{1, 2, 4, 8, 16, 32}));
  EXPECT_EQ(log_values(3, 9), (std::vector<Index>{3, 4, 8, 9}));
  EXPECT_EQ(log_values(0, 5), (std::vector<Index>{0, 1, 2, 4, 5}));
  EXPECT_EQ(log_values(4, 4), (std::vector<Index>{4}));
  EXPECT_EQ(log_values(0, 0), (std::vector<Index>{0}));
  const Index most = std::numeric_limits<Index>::max();
  EXPECT_EQ(log_values(1, most).size(), 64U);
  EXPECT_EQ(log_values(most, most), (std::vector<Index>{most}));
  EXPECT_EQ(all_values(2, 4), (std::vector<Index>{2, 3, 4}));
  expect_error([] { log_values(5, 4); }, "from 5 to 4");
  expect_error([] { all_values(-1, 4); }, "least");
}

TEST(Search, BeginsWithTheStartAndAMoveAlongEachDimension) {
  const std::vector<Dimension> dimensions{
      {"T", log_values(1, 64)}, {"one", {7}}, {"W", {1, 2}}, {"F", log_values(1, 64)}};
  const auto first = [&](const std::vector<Point>& starts, int trials) {
    std::vector<Point> points;
    const auto score = [](const Point&) { return 1.0; };
    for (const Trial& t : nelder_mead(dimensions, starts, score, {trials, {}}).history)
      points.push_back(t.point);
    return points;
  };
  EXPECT_EQ(first({{24, 1, 9, 500}}, 1), (std::vector<Point>{{16, 7, 2, 64}}));
  EXPECT_EQ(first({{2, 1, 2, 100}}, 4),
            (std::vector<Point>{{2, 7, 2, 64}, {16, 7, 2, 64}, {2, 7, 1, 64}, {2, 7, 2, 8}}));
  expect_error([&] { first({{1, 2}}, 1); }, "a point of 2 values");
}

TEST(Search, BeginsAtTheBestOfSeveralStarts) {
  const std::vector<Dimension> dimensions = grid(2, 20);
  const auto score = [](const Point& x) { return std::abs(static_cast<double>(x[0] - 12)); };
  const SearchResult found = nelder_mead(dimensions, {{1, 0}, {11, 3}, {19, 0}}, score, {4, {}});
  ASSERT_EQ(found.history.size(), 4U);
  EXPECT_EQ(found.history[1].point, (Point{11, 3}));
  EXPECT_EQ(found.history[3].point, (Point{5, 3}));  // half of the way to the farther end of the values
}

TEST(Search, FindsTheBottomOfBowls) {
  for (const auto& [dimensions, size, trials] :
       {std::tuple<std::size_t, Index, int>{3, 12, 60}, {10, 10, 150}}) {
    const std::vector<Dimension> all = grid(dimensions, size);
    for (const Index start : {Index{0}, size / 2, size - 1}) {
      const SearchResult found =
          nelder_mead(all, {Point(dimensions, start)},
                      [size = size](const Point& x) { return bowl(x, size); }, {trials, {}});
      EXPECT_EQ(found.best.score, 0) << dimensions << " dimensions from " << start;
    }
  }
}

TEST(Search, FortyTrialsComeNearTwoHundredRandomOnesOnMachines) {
  for (const CostModel& model : overlap_models()) EXPECT_GE(successes(model), 48) << model.name;
}

TEST(Search, FortyTrialsComeNearTwoHundredRandomOnesOnShapes) {
  // Harder than machines: the best of 200 points is far from the best there is, and the default point has no
  // merit. Least of all shows where only the largest distance counts.
  const int least[] = {47, 45, 47, 35};
  for (int kind = 0; kind < 4; ++kind)
    for (const std::uint64_t seed : {1, 2, 3, 4, 11, 12, 13, 14}) {
      const CostModel model = shape_model(kind, seed);
      EXPECT_GE(successes(model), least[kind]) << model.name;
    }
}

TEST(Search, RepeatsAndWhatIsNotFeasibleAreFree) {
  std::size_t not_feasible = 0;
  for (const CostModel& model : overlap_models()) {
    Recorder recorder{model.cost, {}};
    const SearchResult found = nelder_mead(model.dimensions, {model.start}, recorder.counted(), {40, {}});
    EXPECT_TRUE(found.history.size() == 40U || found.converged) << model.name;
    EXPECT_EQ(static_cast<int>(found.history.size()), recorder.feasible) << model.name;
    not_feasible += recorder.asked.size() - found.history.size();
    for (const Trial& t : found.history) EXPECT_EQ(t.score, model.cost(t.point));
  }
  EXPECT_GT(not_feasible, 0U);
}

TEST(Search, HonoursItsLimits) {
  const std::vector<Dimension> dimensions = grid(4, 9);
  const auto score = [](const Point& x) { return bowl(x, 9); };
  for (const int trials : {0, 1, 2, 3, 7, 20})
    for (const SearchResult& r : both(dimensions, {4, 4, 4, 4}, score, {trials, {}})) {
      EXPECT_EQ(r.history.size(), static_cast<std::size_t>(trials));
      EXPECT_FALSE(r.converged);
      EXPECT_EQ(std::isfinite(r.best.score), trials > 0);
      EXPECT_EQ(r.best.point.size(), 4U);
    }
  // Time is out at once: what the simplex begins with is run all the same.
  for (const SearchResult& r : both(dimensions, {4, 4, 4, 4}, score, {30, [] { return true; }})) {
    ASSERT_EQ(r.history.size(), 1U);
    EXPECT_EQ(r.best.point, r.history[0].point);
  }
  int asked = 0;
  const SearchResult some =
      nelder_mead(dimensions, {{4, 4, 4, 4}}, score, {30, [&] { return ++asked == 5; }});
  EXPECT_EQ(some.history.size(), 5U);
}

TEST(Search, NothingFeasible) {
  const std::vector<Dimension> dimensions = grid(3, 5);
  for (const double score : {infinity, std::numeric_limits<double>::quiet_NaN()})
    for (const SearchResult& r :
         both(dimensions, {1, 2, 3}, [&](const Point&) { return score; }, {20, [] { return true; }})) {
      EXPECT_EQ(r.best.score, infinity);
      EXPECT_EQ(r.best.point.size(), 3U);
      EXPECT_TRUE(r.history.empty());
      EXPECT_TRUE(r.converged);
    }
}

TEST(Search, BestIsNeverWorseThanTheFirstFeasiblePointOfTheSimplex) {
  const std::vector<Dimension> dimensions = grid(3, 8);
  const std::vector<Point> simplex{{0, 0, 0}, {4, 0, 0}, {0, 4, 0}, {0, 0, 4}};
  for (std::size_t feasible = 0; feasible < simplex.size(); ++feasible)
    for (const int trials : {1, 2, 25}) {
      const auto score = [&](const Point& x) {
        for (std::size_t i = 0; i < feasible; ++i)
          if (x == simplex[i]) return infinity;
        return x == simplex[feasible] ? 1.0 : 2.0;
      };
      EXPECT_EQ(nelder_mead(dimensions, {simplex[0]}, score, {trials, {}}).best.point, simplex[feasible]);
    }
}

TEST(Search, SingleValuesAndNoDimensions) {
  const std::vector<Dimension> dimensions{{"a", {3}}, {"b", {1, 2, 4, 8}}, {"c", {5}}};
  const auto score = [](const Point& x) { return std::abs(static_cast<double>(x[1]) - 3.6); };
  for (const SearchResult& r : both(dimensions, {0, 1, 0}, score, {50, {}})) {
    EXPECT_EQ(r.best.point, (Point{3, 4, 5}));
    EXPECT_TRUE(r.converged);
    EXPECT_LE(r.history.size(), 4U);
  }
  const std::vector<Dimension> none;
  for (const SearchResult& r : both(none, {}, [](const Point&) { return 2.0; }, {50, {}})) {
    EXPECT_EQ(r.best.score, 2.0);
    EXPECT_EQ(r.history.size(), 1U);
    EXPECT_TRUE(r.converged);
  }
}

TEST(Search, IsAFunctionOfTheScores) {
  const CostModel model = shape_model(1, 3);
  const auto score = noisy(model.cost, 0.03, 9);
  const std::vector<SearchResult> first = both(model.dimensions, model.start, score, {60, {}});
  const std::vector<SearchResult> again = both(model.dimensions, model.start, score, {60, {}});
  for (std::size_t i = 0; i < first.size(); ++i) {
    ASSERT_EQ(first[i].history.size(), again[i].history.size());
    for (std::size_t t = 0; t < first[i].history.size(); ++t)
      EXPECT_EQ(first[i].history[t].point, again[i].history[t].point);
    EXPECT_EQ(first[i].best.point, again[i].best.point);
  }
  const auto drawn = [&](std::uint64_t seed) {
    return random_search(model.dimensions, seed, score, {1, {}}).best.point;
  };
  EXPECT_NE(drawn(1), drawn(2));
}

TEST(Search, Finalists) {
  const std::vector<Trial> history{{{1}, 3}, {{2}, 1}, {{3}, infinity}, {{4}, 1}, {{2}, 2}};
  std::vector<Point> points;
  for (const Trial& t : finalists(history, 3)) points.push_back(t.point);
  EXPECT_EQ(points, (std::vector<Point>{{2}, {4}, {1}}));
  EXPECT_EQ(finalists(history, 9).size(), 3U);
  EXPECT_TRUE(finalists(history, 0).empty());
  EXPECT_TRUE(finalists(history, -1).empty());
}

TEST(Search, RejectsWhatMakesNoSense) {
  const Score score = [](const Point&) { return 1.0; };
  const std::vector<Dimension> good{{"a", {1, 2}}}, empty{{"a", {}}}, falling{{"a", {2, 1}}};
  expect_error([&] { nelder_mead(good, {}, score, {5, {}}); }, "no point to start from");
  expect_error([&] { nelder_mead(good, {{1}, {1, 2}}, score, {5, {}}); }, "a point of 2 values");
  expect_error([&] { nelder_mead(empty, {{1}}, score, {5, {}}); }, "without values");
  expect_error([&] { random_search(falling, 1, score, {5, {}}); }, "out of order");
}

}  // namespace weft::test
