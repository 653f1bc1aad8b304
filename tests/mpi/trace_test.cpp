// Timelines of plans among MPI ranks: processes that share nothing but the file.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "support/expect_error.hpp"
#include "support/scoped_variable.hpp"
#include "support/tuned.hpp"
#include "weft/mpi.hpp"
#include "weft/weft.hpp"

namespace weft::test {

namespace {

Problem cube() {
  Problem p;
  p.shape = {24, 24, 24};
  return p;
}

void execute(Plan& plan) {
  Buffer<std::complex<double>> in(plan.input_count()), out(plan.output_count());
  plan.forward(in.data(), out.data());
}

}  // namespace

TEST(Trace, OfAllProcessesIsOneFileWithOneClock) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  const std::string file = new_wisdom_file(comm);
  {
    const ScopedVariable variable("WEFT_TRACE", file);
    // The halves make their plans, and use the file, without knowing of each other.
    const Comm half = comm.split(comm.rank() % 2);
    Plan of_half(half, cube());
    execute(of_half);
    Plan of_all(comm, cube(), Options().set("exchange", "p2p"));
    execute(of_all);
  }
  comm.barrier();
  if (comm.rank() != 0) return;
  std::map<int, std::map<int, std::pair<double, double>>> executions;  // by plan and rank
  const auto trace = nlohmann::json::parse(text_of_file(file));
  for (const auto& event : trace.at("traceEvents")) {
    if (event.at("ph") != "X" || event.at("cat") != "execution") continue;
    const double begin = event.at("ts");
    executions[event.at("pid")][event.at("tid")] = {begin, begin + event.at("dur").get<double>()};
  }
  EXPECT_EQ(executions.size(), comm.size() == 1 ? 2u : 3u);
  // Each rank needs something from every other one, so that none is done before the last has begun.
  double last_begin = 0, first_end = 1e300;
  const auto& of_all = executions.rbegin()->second;
  EXPECT_EQ(of_all.size(), static_cast<std::size_t>(comm.size()));
  for (const auto& [rank, times] : of_all) {
    last_begin = std::max(last_begin, times.first);
    first_end = std::min(first_end, times.second);
  }
  EXPECT_LT(last_begin, first_end);
  std::filesystem::remove(file);
}

TEST(Trace, IsAskedForByAllRanksOrByNone) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  if (comm.size() == 1) return;
  const std::string file = new_wisdom_file(comm);
  const ScopedVariable variable("WEFT_TRACE", comm.rank() == 1 ? std::optional(file) : std::nullopt);
  expect_error([&] { const Plan plan(comm, cube()); }, "ranks must give the same problem");
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(Trace, ThatCannotBeWrittenIsAnErrorOnAllRanks) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  const ScopedVariable variable("WEFT_TRACE", "/no/such/folder/trace.json");
  expect_error([&] { const Plan plan(comm, cube()); }, "cannot write /no/such/folder/trace.json");
}

}  // namespace weft::test
