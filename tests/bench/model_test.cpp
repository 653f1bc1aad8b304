// The command line of weft-model: its help, its errors, what its commands print and the JSON that they write.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "model/machine_json.hpp"
#include "model/run_command.hpp"
#include "support/described_machine.hpp"
#include "support/says.hpp"
#include "support/tuned.hpp"
#include "weft/version.hpp"

namespace weft::test {

namespace {

struct Said {
  int status = 0;
  std::string out, err;
};

Said said(const std::vector<std::string>& arguments) {
  std::vector<const char*> all{"weft-model"};
  for (const std::string& a : arguments) all.push_back(a.c_str());
  Said s;
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  s.status = bench::run_command(static_cast<int>(all.size()), all.data());
  s.out = testing::internal::GetCapturedStdout();
  s.err = testing::internal::GetCapturedStderr();
  return s;
}

/// The object that a command writes.
nlohmann::json json_of(std::vector<std::string> arguments) {
  const std::string name = testing::TempDir() + "weft-model-" + std::to_string(getpid()) + ".json";
  arguments.insert(arguments.end(), {"--json", name});
  const Said s = said(arguments);
  EXPECT_EQ(s.status, 0) << s.err;
  const std::string text = text_of_file(name);
  std::filesystem::remove(name);
  return nlohmann::json::parse(text);
}

}  // namespace

TEST(ModelCommand, HelpListsTheCommandsAndEachGroupsItsOptions) {
  const Said all = said({"--help"});
  EXPECT_EQ(all.status, 0);
  for (const char* part :
       {"\nCommands:\n", "predict", "scaling", "compare", "messages", "phase", "roofline", "\nExamples:\n"})
    EXPECT_TRUE(says(all.out, part));
  for (const char* command : {"predict", "scaling", "compare", "messages", "phase", "roofline"}) {
    const Said one = said({command, "--help"});
    EXPECT_EQ(one.status, 0);
    for (const char* part : {"\nProblem:\n", "\nResults:\n", "--json", "\nHelp:\n", "Examples:\n"})
      EXPECT_TRUE(says(one.out, part));
  }
  EXPECT_EQ(said({"--version"}).out, std::string("weft-model ") + version() + "\n");
}

TEST(ModelCommand, ItsExamplesRun) {
  const auto cd = std::filesystem::current_path();
  const std::filesystem::path folder = testing::TempDir() + "weft-model-" + std::to_string(getpid());
  std::filesystem::create_directories(folder / "bench");
  std::filesystem::current_path(folder);
  std::filesystem::create_directory_symlink(WEFT_MACHINES, "bench/machines");
  for (const char* file : {"here.json", "cluster.json"})
    std::filesystem::copy_file("bench/machines/summit.json", file);
  std::ofstream("gpu.json") << to_json(described_machine_with_device());
  int examples = 0;
  std::vector<std::vector<std::string>> helps{
      {"--help"}, {"messages", "--help"}, {"phase", "--help"}, {"roofline", "--help"}};
#ifdef WEFT_WITH_MPI  // builds without MPI know no exchanges among processes
  for (const char* command : {"predict", "scaling", "compare"}) helps.push_back({command, "--help"});
#endif
  for (const std::vector<std::string>& help : helps) {
    std::istringstream lines(said(help).out);
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("  weft-model ")) continue;
      std::istringstream rest(line.substr(std::string("  weft-model ").size()));
      const std::vector<std::string> words{std::istream_iterator<std::string>(rest), {}};
      EXPECT_EQ(said(words).status, 0) << line;
      ++examples;
    }
  }
#ifdef WEFT_WITH_MPI
  EXPECT_EQ(examples, 25);
  for (const char* name : {"p.json", "t.json", "weak.json"})
    EXPECT_TRUE(std::filesystem::exists(name)) << name;
#else
  EXPECT_EQ(examples, 13);
#endif
  for (const char* name : {"phase.json", "messages.json", "roofline.json"})
    EXPECT_TRUE(std::filesystem::exists(name)) << name;
  std::filesystem::current_path(cd);
  std::filesystem::remove_all(folder);
}

TEST(ModelCommand, PredictsArraysOfDevices) {
  const std::string name = testing::TempDir() + "weft-model-gpu-" + std::to_string(getpid()) + ".json";
  std::ofstream(name) << to_json(described_machine_with_device());
  for (const char* device : {"--device", "--memory"}) {
    const nlohmann::json one =
        json_of({"predict", "--machine", name, device, "cuda", "--ranks", "1", "--threads"});
    EXPECT_GT(one["directions"][0]["operations"]["launch"], 0);
  }
  // Two threads with one GPU go through pinned memory, with one each they do not.
  const std::vector<std::string> two{
      "predict",   "--machine",        name, "--device", "cuda",     "--ranks",  "2",
      "--threads", "--ranks-per-node", "2",  "--shape",  "64,64,64", "--output", "slab1"};
  EXPECT_FALSE(json_of(two)["directions"][0]["operations"].contains("stage"));
  // Each stream is a lane of its own in a trace, and the host has none.
  const std::string trace = name + ".trace";
  std::vector<std::string> traced = two;
  traced.insert(traced.end(), {"--trace", trace});
  EXPECT_EQ(said(traced).status, 0);
  const std::string drawn = text_of_file(trace);
  for (const char* part : {"rank 0, compute", "rank 1, transfer"}) EXPECT_TRUE(says(drawn, part));
  EXPECT_FALSE(says(drawn, "\"launch\""));
  std::filesystem::remove(trace);
  std::vector<std::string> shared = two;
  shared.insert(shared.end(), {"--devices-per-node", "1"});
  EXPECT_GT(json_of(shared)["directions"][0]["operations"]["stage"], 0);
  const nlohmann::json chosen = json_of({"choose", "--machine", name, "--device", "cuda", "--ranks", "2",
                                         "--ranks-per-node", "2", "--threads"});
  EXPECT_GT(chosen["explanation"]["candidates"].size(), 2U);
  std::ofstream(name) << to_json(described_machine());
  EXPECT_TRUE(says(said({"predict", "--machine", name, "--device", "cuda", "--ranks", "1"}).err,
                   "a machine description with a device"));
  std::filesystem::remove(name);
}

TEST(ModelCommand, ErrorsNameTheArgument) {
  const auto refuses = [](const std::vector<std::string>& arguments, const char* text) {
    const Said s = said(arguments);
    EXPECT_NE(s.status, 0);
    EXPECT_TRUE(says(s.err, text));
    EXPECT_EQ(s.out, "");
  };
  refuses({}, "no command; expected one of predict, choose, scaling, compare, messages, phase, roofline");
  refuses({"phsae"}, "unknown command phsae; the nearest is phase");
  refuses({"--josn"}, "unknown argument --josn");
  refuses({"phase", "--rnaks", "6"}, "weft-model phase: unknown argument --rnaks; the nearest is --ranks");
  refuses({"predict"}, "--machine is required");
  refuses({"predict", "--machine", "/no/such.json"}, "a file that cannot be read: /no/such.json");
  refuses({"predict", "--machine", std::string(WEFT_MACHINES) + "/summit.json", "--set", "tile"},
          "--set: tile; expected NAME=VALUE");
  refuses({"predict", "--machine", std::string(WEFT_MACHINES) + "/summit.json", "--set", "exchange=p3p"},
          "p3p");
#ifndef WEFT_WITH_MPI
  refuses({"predict", "--machine", std::string(WEFT_MACHINES) + "/summit.json"}, "a build without MPI");
#endif
  refuses({"predict", "--machine", std::string(WEFT_MACHINES) + "/summit.json", "--trace", "/no/such/t.json"},
          "weft-model: --trace: cannot write /no/such/t.json");
  refuses({"phase", "stray"}, "unknown argument stray");
  refuses({"phase", "--latency", "nan"}, "--latency: \"nan\"; expected a finite number above zero");
  refuses({"phase", "--bandwidth", "-1"}, "--bandwidth: \"-1\"");
  refuses({"phase", "--model", "grid"}, "--model: grid not in");
  refuses({"phase", "--ranks", "6,0"}, "--ranks: ");
  refuses({"messages", "--grid", "8,9"}, "--grid: 8,9; expected two numbers with the product 64");
  refuses({"messages", "--input", "brik"},
          "--input: \"brik\"; expected one of brick, pencil, slab; the nearest is brick");
  refuses({"messages", "--decompositions", "pensil"}, "--decompositions: \"pensil\"");
  refuses({"messages", "--shape", "64,64"}, "--shape: ");
  refuses({"roofline", "--json", "/no/such/folder/x.json"},
          "weft-model: --json: cannot write /no/such/folder/x.json");
}

TEST(ModelCommand, MessagesOfSchedulesStandBesideTheFormulas) {
  const Said s = said({"messages", "--ranks", "64"});
  EXPECT_TRUE(says(s.out, "pencil - pencil       P^2/3    16.00     16  P^1/2     8.00      8\n"));
  EXPECT_TRUE(says(
      s.out,
      "pencil 1x8x8 - pencil 8x1x8              16.00         8.00         8         7       1835008\n"));
  const nlohmann::json json = json_of({"messages", "--ranks", "27"});
  EXPECT_EQ(json["command"], "messages");
  EXPECT_EQ(json["table"].size(), 6u);
  for (const auto& row : json["table"]) EXPECT_EQ(row["cube_root"]["value"], row["cube_root"]["counted"]);
  EXPECT_EQ(json["schedules"][1]["reshapes"].size(), 4u);
}

TEST(ModelCommand, PhaseDrawsTheMapOfSummit) {
  const Said s = said({"phase", "--sizes", "1024,512"});
  EXPECT_TRUE(says(s.out, "     512     S     S     S     S     S     S     P     p     p     p     302\n"));
  const nlohmann::json json = json_of({"phase", "--sizes", "64,4096", "--ranks", "8192,6"});
  EXPECT_EQ(json["rows"][0]["choices"][0]["ranks"], 6);
  EXPECT_EQ(json["rows"][0]["choices"][1]["faster"], ".");  // 64 x 128 pencils of 64³
  EXPECT_EQ(json["rows"][1]["choices"][1]["faster"], "p");
  EXPECT_TRUE(json_of({"phase", "--model", "table"})["rows"][0]["tie_ranks"].is_null());
}

#ifdef WEFT_WITH_MPI
/// A lane of a trace: its spans by their begin, and for how many ranks it stands.
struct PredictedLane {
  int stands_for = 1;
  std::vector<nlohmann::json> executions, operations;
};

std::map<int, PredictedLane> lanes_of(const nlohmann::json& trace) {
  std::map<int, PredictedLane> lanes;
  for (const nlohmann::json& e : trace["traceEvents"]) {
    PredictedLane& lane = lanes[e["tid"].get<int>()];
    if (e["name"] == "thread_name") lane.stands_for = e["args"].value("stands_for", 1);
    if (e["ph"] == "X") (e["cat"] == "execution" ? lane.executions : lane.operations).push_back(e);
  }
  return lanes;
}

TEST(ModelCommand, TheTimelineOfAPredictionAddsUpToIt) {
  const std::string file = testing::TempDir() + "weft-model-trace-" + std::to_string(getpid()) + ".json";
  const auto end_of = [](const nlohmann::json& e) { return e["ts"].get<double>() + e["dur"].get<double>(); };
  // All of them replayed, and one of each class.
  for (const auto& [ranks, pipeline] : {std::pair(12, "windowed"), std::pair(96, "sequential")}) {
    const nlohmann::json predicted = json_of(
        {"predict", "--machine", std::string(WEFT_MACHINES) + "/summit.json", "--ranks",
         std::to_string(ranks), "--ranks-per-node", "6", "--shape", "96,96,96", "--set", "exchange=p2p",
         "--set", std::string("pipeline=") + pipeline, "--direction", "both", "--trace", file});
    const nlohmann::json trace = nlohmann::json::parse(text_of_file(file));
    std::filesystem::remove(file);
    const double forward = 1e6 * predicted["directions"][0]["seconds"].get<double>();
    double last = 0;
    int stand_for = 0, peers = 0;
    for (const auto& [rank, lane] : lanes_of(trace)) {
      SCOPED_TRACE("rank " + std::to_string(rank));
      stand_for += lane.stands_for;
      ASSERT_EQ(lane.executions.size(), 2u);
      EXPECT_EQ(lane.executions[0]["name"], "forward");
      EXPECT_EQ(lane.executions[1]["name"], "backward");
      EXPECT_GE(lane.executions[1]["ts"].get<double>(), forward - 0.1);
      double before = 0;
      for (const nlohmann::json& o : lane.operations) {
        EXPECT_GE(o["ts"].get<double>(), before - 1e-9) << o;
        EXPECT_TRUE(o["args"]["bytes"].get<double>() > 0 || o["dur"].get<double>() >= 0.08) << o;
        before = end_of(o);
        if (o["args"].contains("peer")) ++peers;
      }
      last = std::max(last, before);
    }
    EXPECT_EQ(stand_for, ranks);
    EXPECT_GT(peers, 0);
    EXPECT_NEAR(last, 1e6 * predicted["seconds"].get<double>(), 0.1);
    const auto plan = std::find_if(trace["traceEvents"].begin(), trace["traceEvents"].end(),
                                   [](const nlohmann::json& e) { return e["name"] == "plan"; });
    ASSERT_NE(plan, trace["traceEvents"].end());
    EXPECT_TRUE(says((*plan)["args"]["text"].get<std::string>(), "decomposition "));
  }
}
#endif

#ifdef WEFT_WITH_MPI
/// The points of bench/published.json that need no other links than those of the description. The bound is
/// coarse: docs/model.md has what they come to.
TEST(ModelCommand, PublishedTimesAreNotFar) {
  const std::string machines = WEFT_MACHINES;
  const nlohmann::json data = nlohmann::json::parse(text_of_file(machines + "/../published.json"));
  int points = 0;
  for (const nlohmann::json& point : data["points"]) {
    nlohmann::json run = data["run"];
    run.merge_patch(point["run"]);
    if (!run["links"].empty() || !(point.contains("seconds") || point.contains("gflops"))) continue;
    const auto text = [](const nlohmann::json& v) { return v.is_string() ? v.get<std::string>() : v.dump(); };
    std::vector<std::string> words{"predict", "--machine", machines + "/summit.json", "--ranks",
                                   run["ranks"].dump()};
    for (const auto& [name, value] : run["problem"].items())
      words.insert(words.end(), {"--" + name, text(value)});
    for (const auto& [name, value] : run["settings"].items())
      words.insert(words.end(), {"--set", name + "=" + text(value)});
    const nlohmann::json predicted = json_of(words);
    double published = 0, n = 1;
    for (std::istringstream lengths(run["problem"]["shape"].get<std::string>()); lengths;) {
      std::string length;
      if (std::getline(lengths, length, ',')) n *= std::stod(length);
    }
    if (point.contains("seconds")) {
      published = point["seconds"][1];
    } else {
      published = 5 * n * std::log2(n) / (1e9 * point["gflops"][1].get<double>());
    }
    const double seconds =
        predicted["seconds"].get<double>() / static_cast<double>(predicted["directions"].size());
    EXPECT_LT(std::abs(std::log(seconds / published)), std::log(1.3)) << point["name"] << ": " << seconds;
    ++points;
  }
  EXPECT_GE(points, 5);
}
#endif

TEST(ModelCommand, RooflineOfSummitIsItsCurve) {
  const nlohmann::json json = json_of({"roofline"});
  for (const auto& row : json["rows"])
    EXPECT_NEAR(row["eq3_gflops_per_s"].get<double>() * 1e9 / row["roof_flops_per_s"].get<double>(), 1, 1e-4);
}

}  // namespace weft::test
