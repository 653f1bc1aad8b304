// Rails that are exchanged while a plan runs, on rails that are made up: what each execution takes on them is
// computed, and the best assignment is found by trying all.
#include "transport/ucx/rail_balance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <vector>

namespace weft::test {

namespace {

/// A ring on rails whose speeds may change from one execution to the next.
class MadeUpRails {
 public:
  MadeUpRails(int of_steps, int of_transfers, std::vector<double> of_speeds, double hysteresis = 1.1)
      : steps(of_steps),
        transfers(of_transfers),
        speeds(std::move(of_speeds)),
        balance(RailTable(steps, transfers, rails()), steps, rails(),
                std::vector<Index>(static_cast<std::size_t>(steps * transfers), 1), hysteresis) {}

  int rails() const { return static_cast<int>(speeds.size()); }
  int share(int rail) const {
    int n = 0;
    for (int step = 1; step <= steps; ++step)
      for (int i = 0; i < transfers; ++i) n += balance.table().rail(step, i) == rail ? 1 : 0;
    return n;
  }

  /// The seconds of one execution, in which every rail takes up to `noise` longer.
  double execute(double noise = 0) {
    std::vector<RailTime> times(speeds.size());
    double longest = 0;
    for (int j = 0; j < rails(); ++j) {
      double seconds = 0, slowest = 0;
      RailTime& t = times[static_cast<std::size_t>(j)];
      for (int step = 1; step <= steps; ++step)
        for (int i = 0; i < transfers; ++i) {
          if (balance.table().rail(step, i) != j) continue;
          const double one = slowness(step, j) / speeds[static_cast<std::size_t>(j)];
          seconds += one;
          if (one > slowest) {
            slowest = one;
            t.slowest_step = step;
          }
        }
      t.seconds = seconds * (1 + noise * std::uniform_real_distribution<double>()(dice));
      t.failed = j == dead;
      longest = std::max(longest, t.seconds);
    }
    const bool measured = balance.measures();
    measurements += measured ? 1 : 0;
    const bool changed = measured && balance.ended(times);
    if (!measured) balance.ended();
    changes += changed ? 1 : 0;
    return longest;
  }

  /// Of two rails, the seconds of the best assignment that stays.
  double best() const {
    const int all = steps * transfers;
    double least = all / speeds[0];
    for (int on_first = 0; on_first <= all; ++on_first)
      least = std::min(least, std::max(on_first / speeds[0], (all - on_first) / speeds[1]));
    return least;
  }

  int steps, transfers;
  std::vector<double> speeds;
  RailBalance balance;
  std::function<double(int, int)> slowness = [](int, int) { return 1; };  ///< of a step on a rail
  int dead = -1, changes = 0, measurements = 0;
  std::mt19937 dice{1};
};

}  // namespace

TEST(RailTime, AsOneNumberTheLongestWins) {
  const RailTime shorter{0.01, 900}, longer{0.0101, 3}, none{}, failed{.failed = true};
  EXPECT_LT(none.to_number(), shorter.to_number());
  EXPECT_LT(shorter.to_number(), longer.to_number());
  EXPECT_LT(longer.to_number(), failed.to_number());
  const RailTime back = RailTime::of_number(longer.to_number());
  EXPECT_NEAR(back.seconds, 0.0101, 1e-6);
  EXPECT_EQ(back.slowest_step, 3);
  EXPECT_FALSE(back.failed);
  EXPECT_EQ(RailTime::of_number(none.to_number()).slowest_step, 0);
  EXPECT_TRUE(RailTime::of_number(failed.to_number()).failed);
  EXPECT_EQ(RailTime::of_number(RailTime{1e9, 70000}.to_number()).slowest_step, 65535);
}

TEST(RailBalance, ASlowedRailIsMadeUpForInTenExecutions) {
  for (const auto& [steps, transfers] : {std::pair(1, 8), {3, 2}, {3, 4}, {3, 32}, {7, 4}, {15, 2}, {63, 4}})
    for (const double slow : {0.5, 0.25, 0.1})
      for (const double noise : {0.0, 0.05}) {
        SCOPED_TRACE(testing::Message()
                     << steps << " steps of " << transfers << ", " << slow << ", " << noise);
        MadeUpRails r(steps, transfers, {1, 1});
        for (int i = 0; i < 50; ++i) r.execute(noise);  // measuring has thinned out
        r.speeds[0] = slow;
        for (int i = 0; i < 10; ++i) r.execute(noise);
        EXPECT_LE(r.execute(), 1.15 * r.best());
        const int changes = r.changes;
        for (int i = 0; i < 50; ++i) r.execute();
        const bool in_use = r.share(0) > 0;
        EXPECT_LE(r.changes, changes + (in_use ? 1 : 4));  // it is tried again
        r.speeds[0] = 1;
        for (int i = 0; i < (in_use ? 10 : 300); ++i) r.execute(noise);
        EXPECT_LE(r.execute(), 1.15 * r.best());
      }
}

TEST(RailBalance, NothingIsLostWhereNothingIsWrong) {
  for (const auto& [steps, transfers] : {std::pair(3, 2), {3, 4}, {3, 32}, {15, 4}})
    for (const double noise : {0.02, 0.1, 0.3}) {
      SCOPED_TRACE(testing::Message() << steps << " steps of " << transfers << ", noise " << noise);
      MadeUpRails r(steps, transfers, {1, 1});
      double all = 0, fixed = 0;
      MadeUpRails never(steps, transfers, {1, 1}, 1e9);
      for (int i = 0; i < 400; ++i) {
        all += r.execute(noise);
        fixed += never.execute(noise);
      }
      EXPECT_EQ(never.changes, 0);
      EXPECT_LE(all, 1.05 * fixed);
    }
}

TEST(RailBalance, OneDisturbanceMovesNothing) {
  MadeUpRails r(3, 4, {1, 1});
  for (int i = 0; i < 5; ++i) r.execute();
  r.speeds[1] = 0.1;
  r.execute();
  r.speeds[1] = 1;
  r.execute();
  EXPECT_EQ(r.changes, 0);
}

TEST(RailBalance, ARailThatFlapsIsNotFollowed) {
  MadeUpRails r(3, 4, {1, 1}), never(3, 4, {1, 1}, 1e9);
  double all = 0, fixed = 0;
  for (int i = 0; i < 200; ++i) {
    r.speeds[1] = never.speeds[1] = i % 2 == 0 ? 0.25 : 1;
    all += r.execute();
    fixed += never.execute();
  }
  EXPECT_LE(all, 1.05 * fixed);
  EXPECT_LE(r.changes, 20);
}

TEST(RailBalance, MeasuringThinsOutAndComesBack) {
  MadeUpRails r(3, 4, {1, 1});
  for (int i = 0; i < 100; ++i) r.execute();
  r.measurements = 0;
  for (int i = 0; i < 40; ++i) r.execute();
  EXPECT_EQ(r.measurements, 10);
  r.speeds = {0.25, 0.25};  // rails cannot help
  for (int i = 0; i < 8; ++i) r.execute();
  EXPECT_EQ(r.changes, 0);
  EXPECT_GE(r.measurements, 15);
}

TEST(RailBalance, TheSlowestStepMovesFirst) {
  // Two ranks of step 2 share a link on rail 0 with somebody else.
  MadeUpRails r(3, 4, {1, 1});
  r.slowness = [](int step, int rail) { return step == 2 && rail == 0 ? 4 : 1; };
  const double before = r.execute();
  EXPECT_EQ(before, 2 + 8 + 2);
  r.execute();
  EXPECT_EQ(r.changes, 1);
  for (int step : {1, 3})
    EXPECT_EQ(r.balance.table().rail(step, 0) + r.balance.table().rail(step, 1), 1) << step;
  for (int i = 0; i < 10; ++i) r.execute();
  EXPECT_LE(r.execute(), 7);  // 6 is the best
}

TEST(RailBalance, ARailThatHasFailedIsLeftForGood) {
  MadeUpRails r(3, 4, {1, 1, 1});
  r.execute();
  r.dead = 1;
  r.execute();
  EXPECT_EQ(r.changes, 1);
  EXPECT_TRUE(r.balance.has_left(1));
  EXPECT_EQ(r.share(1), 0);
  EXPECT_EQ(r.share(0), 6);
  for (int i = 0; i < 300; ++i) r.execute(0.1);
  EXPECT_EQ(r.share(1), 0);
  r.dead = 0;
  for (int i = 0; i < 4; ++i) r.execute();
  EXPECT_EQ(r.share(2), 12);
  r.dead = 2;  // nowhere to go
  for (int i = 0; i < 4; ++i) r.execute();
  EXPECT_EQ(r.share(2), 12);
}

TEST(RailBalance, ARailThatIsOfNoUseIsTriedAgainNowAndThen) {
  MadeUpRails r(3, 4, {1, 1});
  r.speeds[0] = 0.001;
  for (int i = 0; i < 10; ++i) r.execute();
  EXPECT_EQ(r.share(0), 0);
  int on_it = 0;
  for (int i = 0; i < 1000; ++i) {
    r.execute();
    on_it += r.share(0) > 0 ? 1 : 0;
  }
  EXPECT_GE(on_it, 1);
  EXPECT_LE(on_it, 10);
  r.speeds[0] = 1;
  for (int i = 0; i < 1200; ++i) r.execute();
  EXPECT_EQ(r.share(0), 6);
}

TEST(RailBalance, SevenJobsSpreadOverRails) {
  // Seven jobs on three rails, six transfers each: a rail's speed is shared by all that is on it. All begin
  // on what is the first rail to them.
  constexpr int jobs = 7;
  std::vector<MadeUpRails> all(jobs, MadeUpRails(1, 6, {1, 1, 1}));
  RailTable crowded(1, 6, 3);
  for (int i = 0; i < 6; ++i) crowded.set(1, i, i < 4 ? 0 : 1);
  for (MadeUpRails& r : all) r.balance = RailBalance(crowded, 1, 3, std::vector<Index>(6, 1), 1.1);
  const auto slowest = [&] {
    for (MadeUpRails& r : all)
      for (int j = 0; j < 3; ++j) {
        int on_rail = 0;
        for (const MadeUpRails& other : all) on_rail += other.share(j);
        r.speeds[static_cast<std::size_t>(j)] = std::max(r.share(j), 1) / std::max(1.0, 1.0 * on_rail);
      }
    double longest = 0;
    for (MadeUpRails& r : all) longest = std::max(longest, r.execute(0.05));
    return longest;
  };
  const double before = slowest();
  EXPECT_GE(before, 28);
  double last = 0;
  for (int i = 0; i < 30; ++i) last = slowest();
  EXPECT_LE(last, 0.75 * before);
}

TEST(RailBalance, WithoutOtherRanksThereIsNothingToDo) {
  MadeUpRails alone(0, 1, {1, 1});
  for (int i = 0; i < 5; ++i) alone.execute();
  EXPECT_EQ(alone.changes, 0);
  MadeUpRails one_rail(3, 2, {1});
  for (int i = 0; i < 100; ++i) one_rail.execute(0.3);
  EXPECT_EQ(one_rail.changes, 0);
}

}  // namespace weft::test
