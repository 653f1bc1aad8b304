// What --measure-machine finds of the links among MPI ranks: with exchange ucx also of every number of
// networks that a machine has. How fast these are says nothing here.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/test_hook.hpp"
#include "comm/comm_impl.hpp"
#include "measure_machine.hpp"
#include "model/machine_json.hpp"
#include "support/described_machine.hpp"
#include "support/has_exchange.hpp"
#include "weft/mpi.hpp"
#include "weft/weft.hpp"

namespace weft::test {

namespace {

/// The rails of these ranks by a printed plan, "exchange ucx 2 rails: eth0 (...), ..."; 0 if there is no
/// plan.
int rails_of(const Comm& comm) {
  Problem p;
  p.shape = {8, 8, 8};
  try {
    const std::string text = Plan(comm, p, Options().set("exchange", "ucx")).to_string();
    const std::string before = "\nexchange ucx ";
    return std::atoi(text.c_str() + text.find(before) + before.size());
  } catch (const Error&) {
    return 0;  // no network device but loopback
  }
}

}  // namespace

TEST(MeasuredLinks, OfOneMachineHaveNoRails) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  const std::vector<LinkDescription> links = bench::measure_links(comm);
  if (comm.rank() > 0) return;
  ASSERT_EQ(links.size(), 2U);
  for (const LinkDescription& l : links) {
    EXPECT_EQ(l.between, over_node);
    EXPECT_TRUE(l.rails.empty());
  }
}

TEST(MeasuredLinks, BetweenMachinesHaveTheRailsOfPlans) {
  const ScopedSwitch machines(detail::pretended_ranks_per_node, 1);
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  const bool has_ucx = why_no_exchange(comm, "ucx").empty();
  const int rails = has_ucx ? rails_of(comm) : 0;
  MachineDescription machine = described_machine();
  machine.links = bench::measure_links(comm);
  if (comm.rank() > 0) return;
  ASSERT_EQ(machine.links.size(), 1U);
  const LinkDescription& network = machine.links.front();
  EXPECT_EQ(network.between, over_network);
  EXPECT_EQ(network.rails.size(), static_cast<std::size_t>(rails));
  EXPECT_EQ(read_machine(to_json(machine)), machine);  // which checks it
  // These ranks copy what they send, by shared memory or loopback: nothing of that is free.
  EXPECT_GT(network.busy_share, 0);
  for (const RailsDescription& r : network.rails) EXPECT_GT(r.busy_share, 0);
  if (!has_ucx) return;
  DescribedPlan plan;
  plan.options.set("exchange", "ucx");
  for (int n = 1; n <= rails; ++n) {
    plan.options.set("rails", n);
    const Prediction p = plan.on(machine).prediction;
    EXPECT_EQ(p.rails.used, n);
    EXPECT_EQ(p.rails.bytes_per_s, network.rails[static_cast<std::size_t>(n) - 1].bytes_per_s);
    EXPECT_GT(p.seconds, 0);
  }
}

}  // namespace weft::test
