// The words of printed plans. Other tests look at what was chosen; the words for the choices of the rules are
// in pure/design_test.cpp, those for devices in device/double_test.cpp.
#include <gtest/gtest.h>

#include <string>

#include "support/first_rank.hpp"
#include "support/says.hpp"
#include "support/tuned.hpp"
#include "weft/weft.hpp"

namespace weft::test {

namespace {

Problem batch_of(Index items) {
  Problem p;
  p.shape = {12, 10, 8};
  p.batch = items;
  return p;
}

std::string text_of(int ranks, const Problem& problem, const Options& options) {
  return on_first_rank(ranks, [&](const Comm& comm) { return Plan(comm, problem, options).to_string(); });
}

}  // namespace

TEST(PrintedPlans, SayWhatTheProblemIsAndWhatWasChosen) {
  Problem p = batch_of(2);
  p.input = Distribution::slab(0).with_halo({2, 1, 1}, {1, 1, 3});
  p.forward_scale = Scale::full;
  const std::string text = text_of(1, p, Options().set("threads", 2).set("layout", "strided"));
  for (const char* part :
       {"batch of 2", "scale 1/N forward, none backward", "input array: strides {144,12,1",
        "first point at 301", "layout strided", "threads 2 per rank", "local FFT ", "workspace "})
    EXPECT_TRUE(says(text, part));
}

TEST(PrintedPlans, CallABatchSo) {
  Problem p = batch_of(6);
  p.output = Distribution::slab(1);
  const std::string text = text_of(2, p, Options().set("tile", 1));
  EXPECT_TRUE(says(text, "slab 2x1x1 of 12x10x8 complex, order {batch,0,1,2}"));
  EXPECT_TRUE(says(text, "pipeline planes along the batch"));
  EXPECT_FALSE(says(text, "axis 3"));
}

TEST(PrintedPlans, GiveTheOrderOfABatchAsThePlanDoes) {
  Problem p = batch_of(3);
  p.output = Distribution::fastest();
  for (const char* layout : {"strided", "contiguous"})
    ThreadTeam(2).run([&](const Comm& comm) {
      const Plan plan(comm, p, Options().set("layout", layout));
      std::string order = "order {batch";
      for (const int axis : plan.output_order()) order += "," + std::to_string(axis);
      const std::string text = plan.to_string(), stages = text.substr(0, text.find("forward reshape"));
      EXPECT_TRUE(says(stages.substr(stages.rfind("->")), order + "}"));
      EXPECT_EQ(plan.output_distance() * 3, static_cast<Index>(plan.output_count()));
    });
}

TEST(PrintedPlans, SayWhatTrialsAndWisdomHaveFound) {
  forget_wisdom();
  const std::string file = new_wisdom_file();
  ThreadTeam team(2);
  const auto text = [&](const Options& options) { return record(team, batch_of(1), options).text; };
  const Options cut_short = quick("measure", file).set("budget", "0"), with = Options().set("wisdom", file);
  EXPECT_TRUE(says(text(with), "\nwisdom: nothing known of this problem on this machine\n"));
  const std::string found = text(cut_short), known = text(with);
  for (const char* part : {"\ntrials: ", " found by 1 trials in ", ", until the budget was spent: "})
    EXPECT_TRUE(says(found, part));
  for (const char* part : {"\nwisdom: ", " found by 1 trials: "}) EXPECT_TRUE(says(known, part));
  EXPECT_FALSE(
      says(text(quick("measure").set("layout", "strided").set("budget", "100")), "until the budget"));
  edit_options(file, R"("pipeline": "planes", "tile": "1000000")");
  forget_wisdom();
  EXPECT_TRUE(says(text(with), "\nwisdom: what it says of this problem does not work\n"));
  remove_wisdom(file);
  forget_wisdom();
}

}  // namespace weft::test
