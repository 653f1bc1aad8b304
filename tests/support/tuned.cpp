#include "support/tuned.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/test_hook.hpp"
#include "comm/comm_impl.hpp"
#include "support/scoped_variable.hpp"

namespace weft::test {

PlanRecord record(const Comm& comm, const Problem& problem, const Options& options) {
  // One hook for all ranks that are threads of this process.
  static std::atomic<int> plans[64];
  const auto mine = static_cast<std::size_t>(comm.rank());
  std::optional<ScopedTestHook> hook;
  const bool installs = comm.rank() == 0 || comm.impl().threads() == nullptr;
  if (installs) {
    TestHook counting;
    counting.at_point = [](const char* point, int rank) {
      if (std::string(point) == "plan") ++plans[static_cast<std::size_t>(rank)];
    };
    hook.emplace(counting);
  }
  plans[mine] = 0;
  comm.barrier();
  const Plan plan(comm, problem, options);
  comm.barrier();
  PlanRecord r;
  r.plans = plans[mine];
  r.text = plan.to_string();
  std::istringstream lines(r.text);
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with("trials:") && !line.starts_with("wisdom:")) r.identity += line + "\n";
  const std::string other = "wisdom";  // who chose makes no difference
  for (std::size_t at = 0; (at = r.identity.find(other, at)) != std::string::npos;)
    r.identity.replace(at, other.size(), "trial");
  for (const Direction d : {Direction::forward, Direction::backward}) r.identity += plan.program_to_string(d);
  comm.barrier();
  return r;
}

Options quick(const std::string& effort, const std::string& file, int trials) {
  Options o;
  o.set("effort", effort).set("trials", std::to_string(trials)).set("budget", "5s");
  if (!file.empty()) o.set("wisdom", file);
  return o;
}

RandomProblem make_tuned_problem(std::uint64_t seed, int ranks, bool mpi, const std::string& effort) {
  RandomProblem p = make_random_problem(seed, ranks, mpi);
  p.options = quick(effort);
  if (p.user_workspace) p.options.set("workspace", "user");
  p.exchanges = {"auto"};
  p.delays = false;
  return p;
}

std::string new_wisdom_file(const std::string& number) {
  std::string file = testing::TempDir() + "/weft-tuned-" + number + ".json";
  remove_wisdom(file);
  return file;
}

void remove_wisdom(const std::string& file) {
  for (const char* end : {"", ".lock", ".corrupt"}) std::filesystem::remove(file + end);
}

std::string text_of_file(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

void edit_options(const std::string& file, const std::string& options) {
  std::string text = text_of_file(file);
  const std::string key = "\"options\": {";
  for (std::size_t at = 0; (at = text.find(key, at)) != std::string::npos; at += key.size())
    text.replace(at + key.size(), text.find('}', at) - at - key.size(), options);
  std::ofstream(file) << text;
}

std::string warnings_of(const std::function<void()>& step) {
  const ScopedVariable warnings("WEFT_WARNINGS", std::nullopt);
  testing::internal::CaptureStderr();
  step();
  return testing::internal::GetCapturedStderr();
}

}  // namespace weft::test
