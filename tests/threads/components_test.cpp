// Vectors whose components stand in the other order than axes (api/ordered_operators.hpp), beside those in
// the order of axes.
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <random>
#include <vector>

#include "api/gradient_facts.hpp"
#include "api/ordered_operators.hpp"
#include "support/rank_counts.hpp"
#include "weft/weft.hpp"

namespace weft::test {

namespace {

using C = std::complex<double>;
using Fields = std::vector<std::vector<C>>;  ///< of this rank
const AxisVector<double> lengths{1, 2.5, 3};

Problem problem_of(std::size_t fields, std::size_t results) {
  Problem p{.shape = {6, 9, 8}, .between = Between::modes};
  p.output = Distribution::slab(1);
  p.backward_scale = Scale::full;
  p.batch = static_cast<Index>(fields);
  p.results = static_cast<Index>(results);
  return p;
}

Fields random_fields(const Plan& plan, std::size_t count) {
  std::mt19937 engine(static_cast<unsigned>(plan.input_box().lo[0] + 1));
  std::uniform_real_distribution<double> uniform(-1, 1);
  Fields all(count, std::vector<C>(static_cast<std::size_t>(plan.input_box().count())));
  for (auto& field : all)
    for (C& value : field) {
      const double re = uniform(engine);
      value = {re, uniform(engine)};
    }
  return all;
}

std::vector<C> joined(const Fields& fields) {
  std::vector<C> all;
  for (const auto& field : fields) all.insert(all.end(), field.begin(), field.end());
  return all;
}

Fields parted(const std::vector<C>& all, std::size_t count) {
  const auto n = static_cast<std::ptrdiff_t>(all.size() / count);
  Fields fields;
  for (std::size_t f = 0; f < count; ++f) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(f) * n;
    fields.emplace_back(first, first + n);
  }
  return fields;
}

/// Vectors of three components each, with the components of each the other way round.
Fields reversed(Fields fields) {
  for (std::size_t f = 0; f + 2 < fields.size(); f += 3) std::swap(fields[f], fields[f + 2]);
  return fields;
}

using Make = ModeOperator (*)(const Problem&, const AxisVector<double>&, Components);

Fields applied(const Comm& comm, Make make, Components order, const Fields& fields, std::size_t results) {
  const Problem p = problem_of(fields.size(), results);
  Plan plan(comm, p);
  const std::vector<C> in = joined(fields);
  std::vector<C> out(plan.output_count());
  plan.apply(in.data(), out.data(), make(p, lengths, order));
  return parted(out, results);
}

double difference(const Fields& a, const Fields& b, double sign = 1) {
  double worst = a.size() == b.size() ? 0 : 1;
  for (std::size_t f = 0; f < std::min(a.size(), b.size()); ++f)
    for (std::size_t i = 0; i < a[f].size(); ++i) worst = std::max(worst, std::abs(a[f][i] - sign * b[f][i]));
  return worst;
}

constexpr double exact = 1e-11;
constexpr auto by_axis = Components::first_axis_first, by_dimension = Components::last_axis_first;

void check(const Comm& comm) {
  const Problem p = problem_of(6, 6);
  const Fields u = random_fields(Plan(comm, p), 6), two(u.begin(), u.begin() + 2);
  EXPECT_LT(difference(applied(comm, ordered::gradient, by_dimension, two, 6),
                       reversed(applied(comm, ordered::gradient, by_axis, two, 6))),
            exact);
  EXPECT_LT(difference(applied(comm, ordered::divergence, by_dimension, reversed(u), 2),
                       applied(comm, ordered::divergence, by_axis, u, 2)),
            exact);
  EXPECT_LT(difference(applied(comm, ordered::solenoidal_part, by_dimension, reversed(u), 6),
                       reversed(applied(comm, ordered::solenoidal_part, by_axis, u, 6))),
            exact);
  // Right-handed in either order: exchanging two axes turns its sign.
  EXPECT_LT(difference(applied(comm, ordered::curl, by_dimension, reversed(u), 6),
                       reversed(applied(comm, ordered::curl, by_axis, u, 6)), -1),
            exact);
}

}  // namespace

TEST(Components, OfOperatorsInTheOrderOfDimensions) {
  for (const int ranks : rank_counts({1, 2, 3})) ThreadTeam(ranks).run(check);
}

TEST(Components, OfGradientsInTheOrderOfDimensions) {
  for (const int ranks : rank_counts({1, 2, 3}))
    ThreadTeam(ranks).run([](const Comm& comm) {
      Problem p{.shape = {6, 9, 8}};
      p.transforms = {Transform::c2c, Transform::c2c, Transform::r2c};
      p.batch = 2;
      Gradient forth(comm, p, {}, lengths);
      Gradient back = GradientFacts::make(comm, p, {}, lengths, by_dimension);
      EXPECT_EQ(forth.axes(), (AxisVector<int>{0, 1, 2}));
      EXPECT_EQ(back.axes(), (AxisVector<int>{2, 1, 0}));
      std::mt19937 engine(static_cast<unsigned>(comm.rank()));
      std::uniform_real_distribution<double> uniform(-1, 1);
      std::vector<double> in(forth.input_count()), one(forth.output_count()), other(one.size());
      for (double& value : in) value = uniform(engine);
      forth(in.data(), one.data());
      back(in.data(), other.data());
      const auto n = static_cast<std::size_t>(forth.output_distance());
      for (std::size_t d = 0; d < 6; ++d)
        for (std::size_t i = 0; i < n; ++i)
          ASSERT_EQ(other[d * n + i], one[(d / 3 * 3 + 2 - d % 3) * n + i]) << "derivative " << d;
    });
}

}  // namespace weft::test
