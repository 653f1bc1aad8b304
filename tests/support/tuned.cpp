#include "support/tuned.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/test_hook.hpp"
#include "comm/comm_impl.hpp"
#include "support/first_rank.hpp"
#include "support/scoped_variable.hpp"

namespace weft::test {

namespace {

/// What was chosen, as if nobody had chosen it.
Design without_origins(Design design) {
  design.contiguous = {design.contiguous.value};
  design.threads = {design.threads.value};
  design.plain_executions = {design.plain_executions.value};
  for (auto& legs : design.legs)
    for (Leg& leg : legs) {
      leg.exchange_reason = "";
      for (ChosenParameter& p : leg.parameters) p.origin = "";
    }
  return design;
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): GoogleTest looks for this name
void PrintTo(const PlanIdentity& identity, std::ostream* out) {
  *out << to_string(identity.design) << identity.programs << "local FFT";
  for (const auto& [library, elsewise] : identity.libraries) *out << " " << library;
  *out << "\n";
}

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
  r.design = design_of(plan);
  r.learnt = learnt_of(plan);
  r.identity = {without_origins(r.design), PlanImpl::of(plan).bound->libraries(), ""};
  for (const Direction d : {Direction::forward, Direction::backward})
    r.identity.programs += plan.program_to_string(d);
  r.text = plan.to_string();
  r.plans = plans[mine];
  comm.barrier();
  return r;
}

PlanRecord record(ThreadTeam& team, const Problem& problem, const Options& options,
                  const std::function<void(int)>& enter) {
  return on_first_rank(team, [&](const Comm& comm) {
    enter(comm.rank());
    return record(comm, problem, options);
  });
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

RandomProblem make_online_problem(std::uint64_t seed, int ranks, bool mpi) {
  const bool coded = seed % 3 == 0;
  RandomProblem p =
      coded ? make_coded_problem(seed, ranks, mpi) : make_tuned_problem(seed, ranks, mpi, "online");
  constexpr int executions = 12;
  p.options.set("effort", "online").set("online", executions);
  p.exchanges.resize(1);
  p.online = true;
  p.repeats = executions / 2 + 1;
  p.delays = !mpi && seed % 2 == 0;  // processes that take turns are slow enough
  return p;
}

std::string new_wisdom_file() {
  static std::atomic<int> count = 0;
  std::string file = testing::TempDir() + "/weft-tuned-" + std::to_string(getpid()) + "-" +
                     std::to_string(count++) + ".json";
  remove_wisdom(file);
  return file;
}

std::string new_wisdom_file(const Comm& comm) {
  return comm.impl().broadcast(new_wisdom_file(), 0);
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
