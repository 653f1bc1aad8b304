// The command line of weft-bench and the files that it writes.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "output_file.hpp"
#include "support/expect_error.hpp"
#include "support/tuned.hpp"
#include "weft/version.hpp"

namespace weft::test {

using bench::Case;

namespace {

/// What the command line comes to: the exit status, or none, and what was printed.
struct Read {
  std::optional<int> status;
  Case c;
  std::string out, err;
};

Read read(const std::vector<const char*>& arguments) {
  std::vector<const char*> all{"weft-bench"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  Read r;
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  r.status = bench::read_arguments(r.c, static_cast<int>(all.size()), all.data(), true);
  r.out = testing::internal::GetCapturedStdout();
  r.err = testing::internal::GetCapturedStderr();
  return r;
}

}  // namespace

TEST(CommandLine, HelpIsGroupedAndHasExamples) {
  const Read r = read({"--help"});
  EXPECT_EQ(r.status, 0);
  std::size_t at = 0;
  for (const char* part : {"\nProblem:\n",
                           "--shape",
                           "\nRanks:\n",
                           "--comm",
                           "\nMeasurement:\n",
                           "--json",
                           "\nPlan:\n",
                           "--exchange",
                           "\nPlan: parameters of pipelines:\n",
                           "--tile",
                           "\nPlan: arrays in memory of GPUs:\n",
                           "--staging",
                           "\nTuning:\n",
                           "--wisdom",
                           "\nHelp:\n",
                           "--version",
                           "\nExamples:\n",
                           "\nPipelines:\n",
                           "\nExchanges:\n",
                           "\nEnvironment variables:\n"}) {
    const std::size_t next = r.out.find(part, at);
    EXPECT_NE(next, std::string::npos) << part << " is missing or not in its place in\n" << r.out;
    at = std::min(next, r.out.size());
  }
}

TEST(CommandLine, ItsExamplesCanBeRead) {
  std::istringstream help(read({"--help"}).out);
  int examples = 0;
  for (std::string line; std::getline(help, line);) {
    const std::size_t at = line.find("weft-bench --");
    if (!line.starts_with("  ") || at == std::string::npos) continue;
    std::istringstream rest(line.substr(at + std::string("weft-bench ").size()));
    std::vector<std::string> words{std::istream_iterator<std::string>(rest), {}};
    std::vector<const char*> arguments;
    for (const std::string& word : words) arguments.push_back(word.c_str());
    EXPECT_EQ(read(arguments).status, std::nullopt) << line;
    ++examples;
  }
  EXPECT_EQ(examples, 9);
}

TEST(CommandLine, ALineIsTwoAxesOrANumberOfPoints) {
  const Read axes = read({"--shape", "8,6,10", "--line", "0,2"});
  EXPECT_EQ(axes.status, std::nullopt);
  EXPECT_EQ(axes.c.problem().line, (AxisVector<int>{0, 2}));
  const Read points = read({"--line", "96"});
  EXPECT_EQ(points.status, std::nullopt);
  EXPECT_EQ(points.c.shape, "8,12");
  EXPECT_EQ(points.c.line, "0,1");
  const auto refuses = [](const std::vector<const char*>& arguments, const char* text) {
    const Read r = read(arguments);
    EXPECT_EQ(r.status, 1);
    EXPECT_TRUE(says(r.err, text));
  };
  refuses({"--shape", "8,12", "--line", "96"}, "the number 96 beside --shape 8,12");
  refuses({"--line", "97"}, "no prime");
  refuses({"--line", "many"}, "two axes: 0,1, or a number of points");
}

TEST(CommandLine, Version) {
  const Read r = read({"--version"});
  EXPECT_EQ(r.status, 0);
  EXPECT_EQ(r.out, std::string("weft-bench ") + version() + "\n");
}

TEST(CommandLine, NamesThatDoNotExistSuggestTheNearest) {
  const auto refuses = [](const std::vector<const char*>& arguments, const char* text) {
    const Read r = read(arguments);
    EXPECT_NE(r.status.value_or(0), 0);
    EXPECT_TRUE(says(r.err, text));
  };
  refuses({"--shap", "8,8,8"}, "unknown argument --shap; the nearest is --shape");
  refuses({"--exchnage=p2p"}, "unknown argument --exchnage; the nearest is --exchange");
  refuses({"--pipeline", "plane"}, "the nearest is planes");
  refuses({"stray"}, "unknown argument stray; weft-bench --help");
  Case c;
  c.transform = "c2c,dtc2,r2c";
  expect_error([&] { static_cast<void>(c.problem()); }, "the nearest is dct2");
}

TEST(CommandLine, FilesAreOpenedAtOnceAndKeepWhatTheyHadUntilTheEnd) {
  expect_error([] { const bench::OutputFile file("/no/such/folder/x.json"); },
               "cannot write /no/such/folder/x.json: No such file or directory");
  const std::string name = testing::TempDir() + "weft-bench-" + std::to_string(getpid()) + ".json";
  {
    const bench::OutputFile unused(name);
    EXPECT_TRUE(std::filesystem::exists(name));
  }
  EXPECT_FALSE(std::filesystem::exists(name));
  for (const char* text : {"first", "second"}) {
    bench::OutputFile file(name);
    file.write(text);
  }
  { const bench::OutputFile unused(name); }
  EXPECT_EQ(text_of_file(name), "second");
  std::filesystem::remove(name);
}

}  // namespace weft::test
