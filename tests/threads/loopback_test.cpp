// Exchanges that only tests have: with one row each in the table, plans run through them as through any
// other.
#include <gtest/gtest.h>

#include "support/design_of.hpp"
#include "support/expect_error.hpp"
#include "support/loopback_exchange.hpp"
#include "support/random_problem.hpp"
#include "weft/weft.hpp"

namespace weft::test {

namespace {

Problem cube() {
  Problem p;
  p.shape = {8, 8, 8};
  return p;
}

/// The exact result, and bit for bit that of `known`, with every pipeline.
void run_random(const char* name, const char* known, int& problems) {
  for (int i = 0; i < problem_count(60); ++i) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(i);
    const int ranks = 2 + static_cast<int>(seed % 5);
    RandomProblem p = make_random_problem(seed, ranks, false);
    if (p.user_workspace && std::string(known) == "direct") continue;
    p.node_ranks = 0;
    p.far_pairs = false;
    p.exchanges = {name};
    if (p.options.get("pipeline") != "auto") p.exchanges.emplace_back(known);
    ASSERT_NO_THROW(ThreadTeam(ranks).run([&](const Comm& comm) { run_random_problem(comm, p); }))
        << p.describe();
    ++problems;
  }
}

}  // namespace

TEST(Loopback, APlanNamesIt) {
  const ScopedExchange row(mailbox_row());
  ThreadTeam(3).run([&](const Comm& comm) {
    const Plan plan(comm, cube(), Options().set("exchange", "mailbox"));
    for (const Leg& leg : all_legs(design_of(plan))) EXPECT_EQ(leg.exchange, "mailbox");
  });
}

TEST(Loopback, IsGoneWithItsScope) {
  { const ScopedExchange row(mailbox_row()); }
  expect_error([] { Options().set("exchange", "mailbox"); }, "mailbox");
}

TEST(Loopback, CarriesRandomProblems) {
  const ScopedExchange row(mailbox_row());
  int problems = 0;
  run_random("mailbox", "copy", problems);
  EXPECT_GT(problems, 0);
}

TEST(Loopback, StoresRandomProblems) {
  const ScopedExchange row(shelf_row());
  int problems = 0;
  run_random("shelf", "direct", problems);
  EXPECT_GT(problems, 0);
}

/// A plan has one workspace.
TEST(Loopback, StoresBesideNoOtherThatStores) {
  const ScopedExchange row(shelf_row());
  const Options options = Options().set("decomposition", "pencil").set("exchange", "direct,shelf");
  ThreadTeam(4).run([&](const Comm& comm) {
    expect_error([&] { const Plan plan(comm, cube(), options); }, "shelf beside direct");
  });
}

}  // namespace weft::test
