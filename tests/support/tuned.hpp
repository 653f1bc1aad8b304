// Plans with an effort that makes trials, and wisdom files, for the tests of both media.
#pragma once

#include <functional>
#include <string>

#include "support/random_problem.hpp"
#include "weft/comm.hpp"
#include "weft/options.hpp"
#include "weft/plan.hpp"

namespace weft::test {

/// What a plan says of itself on one rank.
struct PlanRecord {
  std::string text;  ///< as printed
  /// As printed, and the operations, without who chose and what of it was measured: equal for equal plans.
  std::string identity;
  int plans = 0;  ///< that were made for it on this rank, itself included
};

/// Makes a plan while no other rank of another team makes one. Collective.
PlanRecord record(const Comm& comm, const Problem& problem, const Options& options);

/// Few and short trials.
Options quick(const std::string& effort, const std::string& file = "", int trials = 4);

/// A problem of a seed with all choices left open, and an effort that makes trials.
RandomProblem make_tuned_problem(std::uint64_t seed, int ranks, bool mpi, const std::string& effort);

/// The name of a file that is not there, alike on all ranks of a launch if `number` is.
std::string new_wisdom_file(const std::string& number);
/// A wisdom file and what writing it leaves behind.
void remove_wisdom(const std::string& file);
std::string text_of_file(const std::string& file);
/// Every entry of a wisdom file gets these options, as JSON: `"tile": "8"`.
void edit_options(const std::string& file, const std::string& options);

/// Standard error of `step`, with warnings switched on.
std::string warnings_of(const std::function<void()>& step);

}  // namespace weft::test
