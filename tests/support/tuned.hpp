// Plans with an effort that makes trials, and wisdom files, for the tests of both media.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>

#include "support/design_of.hpp"
#include "support/random_problem.hpp"
#include "weft/comm.hpp"
#include "weft/options.hpp"
#include "weft/plan.hpp"
#include "weft/thread_team.hpp"

namespace weft::test {

/// What a plan does on one rank: equal for equal plans, whoever chose them.
struct PlanIdentity {
  Design design;                     ///< without who chose
  Interpreter::Libraries libraries;  ///< that compute its local FFTs
  std::string programs;              ///< of both directions, with where the user's arrays lie
  friend bool operator==(const PlanIdentity&, const PlanIdentity&) = default;
};
// NOLINTNEXTLINE(readability-identifier-naming): GoogleTest looks for this name
void PrintTo(const PlanIdentity& identity, std::ostream* out);

/// A plan as it was made on one rank.
struct PlanRecord {
  Design design;
  Learnt learnt;
  PlanIdentity identity;
  std::string text;  ///< as printed
  int plans = 0;     ///< that were made for it on this rank, itself included
};

/// Makes a plan while no other rank of another team makes one. Collective.
PlanRecord record(const Comm& comm, const Problem& problem, const Options& options);

/// The same on all ranks of a team, which first call `enter`; what rank 0 has made.
PlanRecord record(
    ThreadTeam& team, const Problem& problem, const Options& options,
    const std::function<void(int)>& enter = [](int /*rank*/) {});

/// Few and short trials.
Options quick(const std::string& effort, const std::string& file = "", int trials = 4);

/// A problem of a seed with all choices left open, and an effort that makes trials.
RandomProblem make_tuned_problem(std::uint64_t seed, int ranks, bool mpi, const std::string& effort);

/// The same for executions that try, all that are made.
RandomProblem make_online_problem(std::uint64_t seed, int ranks, bool mpi);

/// The name of a file that is not there.
std::string new_wisdom_file();
/// The same, alike on all ranks. Collective.
std::string new_wisdom_file(const Comm& comm);
/// A wisdom file and what writing it leaves behind.
void remove_wisdom(const std::string& file);
std::string text_of_file(const std::string& file);
/// Every entry of a wisdom file gets these options, as JSON: `"tile": "8"`.
void edit_options(const std::string& file, const std::string& options);

/// Standard error of `step`, with warnings switched on.
std::string warnings_of(const std::function<void()>& step);

}  // namespace weft::test
