// Timelines of plans (option trace, WEFT_TRACE) on thread ranks: what is in the file, and when.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "api/trace_file.hpp"
#include "comm/clock.hpp"
#include "support/expect_error.hpp"
#include "support/says.hpp"
#include "support/scoped_variable.hpp"
#include "support/tuned.hpp"
#include "weft/weft.hpp"

namespace weft::test {

namespace {

using Complex = std::complex<double>;
using Json = nlohmann::json;

Problem box(Index n) {
  Problem p;
  p.shape = {n, 8, 6};
  return p;
}

/// Forward and backward, so many times.
void execute(Plan& plan, int times) {
  Buffer<Complex> in(plan.input_count()), out(plan.output_count());
  for (int i = 0; i < times; ++i) {
    plan.forward(in.data(), out.data());
    plan.start_backward(out.data(), in.data());
    plan.wait();
  }
}

std::vector<Json> events_of(const std::string& file, const std::string& phase) {
  std::vector<Json> found;
  const Json trace = Json::parse(text_of_file(file));
  for (const Json& event : trace.at("traceEvents"))
    if (event.at("ph") == phase) found.push_back(event);
  return found;
}

/// Of each plan and lane.
using Lanes = std::map<std::pair<int, int>, std::vector<Json>>;
Lanes lanes_of(const std::string& file, const std::string& category = "") {
  Lanes lanes;
  for (const Json& event : events_of(file, "X"))
    if (category.empty() || event.at("cat") == category)
      lanes[{event.at("pid").get<int>(), event.at("tid").get<int>()}].push_back(event);
  return lanes;
}

std::set<std::string> names_of(const std::string& file, const std::string& event) {
  std::set<std::string> names;
  for (const Json& e : events_of(file, "M"))
    if (e.at("name") == event) names.insert(e.at("args").at("name").get<std::string>());
  return names;
}

}  // namespace

TEST(Trace, HasEveryRankEveryExecutionAndThePlan) {
  const std::string file = new_wisdom_file();
  const ScopedVariable variable("WEFT_TRACE", file);
  ThreadTeam(3).run([](const Comm& comm) {
    Plan plan(comm, box(12), Options().set("exchange", "copy").set("pipeline", "sequential"));
    execute(plan, 2);
  });
  EXPECT_EQ(names_of(file, "thread_name"), (std::set<std::string>{"rank 0", "rank 1", "rank 2"}));
  EXPECT_EQ(names_of(file, "process_name"),
            std::set<std::string>{"plan 1: 12x8x6 c2c,c2c,c2c of complex float64, on 3 ranks (threads)"});
  const std::vector<Json> plans = events_of(file, "i");
  ASSERT_EQ(plans.size(), 3u);
  EXPECT_TRUE(says(plans[0].at("args").at("text"), "weft plan: 12x8x6"));
  const Lanes executions = lanes_of(file, "execution");
  EXPECT_EQ(executions.size(), 3u);
  for (const auto& [lane, of_rank] : executions) {
    ASSERT_EQ(of_rank.size(), 4u);
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(of_rank[i].at("name"), i % 2 == 0 ? "forward" : "backward");
      EXPECT_EQ(of_rank[i].at("args").at("execution"), i);
    }
  }
  std::set<std::string> names;
  std::set<int> peers;
  for (const auto& [lane, events] : lanes_of(file))
    for (const Json& event : events) {
      names.insert(event.at("name").get<std::string>());
      const Json& args = event.at("args");
      if (event.at("cat") == "unpack") peers.insert(args.at("peer").get<int>());
      if (event.at("cat") != "execution") {
        EXPECT_TRUE(args.at("bytes") > 0 || event.at("dur") > 0.09) << event;
      }
    }
  for (const char* name : {"fft axes 1, 2", "fft axis 0", "pack", "exchange", "unpack"})
    EXPECT_TRUE(names.contains(name)) << name;
  EXPECT_EQ(peers, (std::set<int>{0, 1, 2}));
  std::filesystem::remove(file);
}

/// As Perfetto reads them: in nanoseconds, cut off.
TEST(Trace, LanesHaveNoOverlaps) {
  const std::string file = new_wisdom_file();
  ThreadTeam(4).run([&](const Comm& comm) {
    Plan plan(comm, box(32), Options().set("trace", file));
    execute(plan, 6);
  });
  const auto nanoseconds = [](const Json& number) { return static_cast<Index>(1000 * number.get<double>()); };
  const Lanes lanes = lanes_of(file);
  EXPECT_EQ(lanes.size(), 4u);
  for (const auto& [lane, events] : lanes) {
    Index execution_end = 0, end = 0;
    for (const Json& event : events) {
      const Index from = nanoseconds(event.at("ts")), to = from + nanoseconds(event.at("dur"));
      if (event.at("cat") == "execution") {
        EXPECT_GE(from, execution_end);
        execution_end = to;
        end = from;
      } else {
        EXPECT_GE(from, end);
        EXPECT_LE(to, execution_end);
        end = to;
      }
    }
  }
  std::filesystem::remove(file);
}

TEST(Trace, OfSeveralPlansAndTeamsIsOneFile) {
  const std::string file = new_wisdom_file();
  const Options options = Options().set("trace", file);
  ThreadTeam(4).run([&](const Comm& comm) {
    const Comm half = comm.split(comm.rank() % 2);
    Plan first(comm, box(8), options), second(half, box(6), options);
    execute(second, 1);
    execute(first, 1);
  });
  ThreadTeam(1).run([&](const Comm& comm) {
    Plan third(comm, box(4), options);
    execute(third, 1);
  });
  std::map<int, int> lanes;  // of each plan
  for (const auto& [lane, events] : lanes_of(file)) ++lanes[lane.first - 1'000'000];
  EXPECT_EQ(lanes, (std::map<int, int>{{1, 4}, {2, 2}, {3, 2}, {4, 1}}));
  std::filesystem::remove(file);
}

TEST(Trace, KeepsTheFirstExecutionsOnlyAndTimesOfTheUserGoOn) {
  const std::string file = new_wisdom_file();
  ThreadTeam(2).run([&](const Comm& comm) {
    Plan plan(comm, box(8), Options().set("trace", file));
    execute(plan, Trace::most_executions / 2 + 3);
    plan.record_times(true);
    execute(plan, 1);
    EXPECT_FALSE(plan.operation_times().empty());
  });
  for (const auto& [lane, executions] : lanes_of(file, "execution"))
    EXPECT_EQ(executions.size(), static_cast<std::size_t>(Trace::most_executions));
  std::filesystem::remove(file);
}

TEST(Trace, ThatCannotBeWrittenIsAnErrorOnAllRanks) {
  ThreadTeam(3).run([](const Comm& comm) {
    for (const char* file : {"/no/such/folder/trace.json", "/", "/dev/null"})
      expect_error([&] { const Plan plan(comm, box(8), Options().set("trace", file)); },
                   std::string("cannot write ") + file);
    const Plan after(comm, box(8));
  });
}

TEST(Trace, ThatIsGoneWhenThePlanIsDestroyedIsWarnedOf) {
  const std::string file = new_wisdom_file();
  const std::string said = warnings_of([&] {
    ThreadTeam(2).run([&](const Comm& comm) {
      Plan plan(comm, box(8), Options().set("trace", file));
      execute(plan, 1);
      comm.barrier();
      std::filesystem::remove(file);
    });
  });
  EXPECT_TRUE(says(said, "timeline of a plan on rank 1 is not written"));
  std::filesystem::remove(file);
}

TEST(Trace, OfAnOldFileBeginsAnew) {
  const std::string file = new_wisdom_file();
  const auto make = [&] {
    ThreadTeam(2).run([&](const Comm& comm) {
      Plan plan(comm, box(8), Options().set("trace", file));
      execute(plan, 1);
    });
    return lanes_of(file).size();
  };
  const std::string other = file + ".other";
  EXPECT_EQ(make(), 2u);
  EXPECT_EQ(make(), 4u);
  // One that this process has not used, of yesterday.
  std::filesystem::copy_file(file, other);
  std::filesystem::last_write_time(other,
                                   std::filesystem::file_time_type::clock::now() - std::chrono::hours(24));
  ThreadTeam(2).run([&](const Comm& comm) {
    Plan plan(comm, box(8), Options().set("trace", other));
    execute(plan, 1);
  });
  EXPECT_EQ(lanes_of(other).size(), 2u);
  std::filesystem::remove(file);
  std::filesystem::remove(other);
}

/// Ranks of another machine find no file of that name there, or one that is not this program's.
TEST(Trace, OfAMachineWithItsOwnFolderHasTheZeroOfRank0) {
  const std::string file = new_wisdom_file(), other = new_wisdom_file();
  std::ofstream(other) << "something else";
  const double zero = TraceFile(file).begin_or_continue();
  EXPECT_EQ(TraceFile(file).count_plan(), 1);
  TraceFile(other).begin_or_continue_at(zero);
  TraceFile(file).begin_or_continue_at(zero);
  for (const std::string& name : {file, other}) {
    TraceFile(name).add({R"({"ph":"a"})", R"({"ph":"b"})"});
    EXPECT_EQ(Json::parse(text_of_file(name)).at("traceEvents").size(), 3u);
    TraceFile(name).begin_or_continue_at(zero + 1);  // what this process has used is not begun again
    EXPECT_EQ(Json::parse(text_of_file(name)).at("traceEvents").size(), 3u);
  }
  EXPECT_EQ(TraceFile(file).begin_or_continue(), zero);
  EXPECT_EQ(TraceFile(other).begin_or_continue(), zero);
  EXPECT_EQ(TraceFile(file).count_plan(), 2);
  for (const std::string& name : {file, other}) std::filesystem::remove(name);
}

/// Ranks pretend to be on machines of their own, which have one clock all the same.
TEST(Trace, ClocksOfMachinesAreCompared) {
  detail::pretended_ranks_per_node = 1;
  double worst = 1;
  for (int i = 0; i < 10 && worst > 1e-3; ++i) {  // a rank may lose its core
    std::vector<double> ahead(3);
    ThreadTeam(3).run([&](const Comm& comm) { at(ahead, comm.rank()) = std::abs(clock_ahead(comm.impl())); });
    worst = *std::max_element(ahead.begin(), ahead.end());
  }
  detail::pretended_ranks_per_node = 0;
  EXPECT_LT(worst, 1e-3);
}

}  // namespace weft::test
