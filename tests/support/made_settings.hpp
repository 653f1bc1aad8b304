// What designs are made for on machines that are not here.
#pragma once

#include <string>
#include <vector>

#include "api/option_table.hpp"
#include "api/problem_check.hpp"
#include "design/design.hpp"
#include "weft/options.hpp"
#include "weft/problem.hpp"

namespace weft::test {

/// As MPI ranks have them.
inline std::vector<Offer> mpi_offers(bool several_nodes) {
  return {{"direct", {.form = Form::boxes, .stores = true, .in_graphs = true}, ""},
          {"p2p", {.any_length = true}, "", several_nodes},
          {"p2pw", {.form = Form::boxes, .beside_stores = true}, ""},
          {"alltoallv", {.concurrent = false, .blocks = true}, ""},
          {"alltoall", {.form = Form::padded, .concurrent = false}, ""},
          {"nccl",
           {.concurrent = false, .by_name_only = true, .serves_host = false, .by_device = true},
           " with arrays on the host",
           true},
          {"nvshmem",
           {.concurrent = false,
            .own_workspace = true,
            .lays_workspace = true,
            .one_group = true,
            .by_name_only = true,
            .serves_host = false,
            .by_device = true},
           " with arrays on the host",
           true}};
}

/// Processes on machines of so many ranks each.
inline Setting processes(int ranks, int per_node) {
  Setting setting;
  setting.medium = "mpi";
  for (int r = 0; r < ranks; ++r) setting.nodes.push_back(r / per_node);
  setting.hardware_threads = {64};
  setting.offers = mpi_offers(setting.several_nodes());
  if (per_node == 1) setting.offers.front().why_not = " where no two ranks share a machine";
  return setting;
}

/// GPUs of one machine that reach each other within so many of consecutive ranks.
inline Setting gpus(int ranks, int reach) {
  Setting setting = processes(ranks, ranks);
  setting.devices.emplace();
  setting.devices->islands = islands_of(setting.nodes, [&](int a, int b) { return a / reach == b / reach; });
  if (reach < ranks) setting.devices->no_peers = "two halves";
  for (Offer& offer : setting.offers) {
    offer.why_not = "";
    if (!offer.traits.stores && !offer.traits.by_device && !stages(offer.traits))
      offer.why_not = " with arrays in memory of a GPU";
  }
  return setting;
}

inline Problem bricks_of_cube(Index n) {
  Problem p;
  p.shape = {n, n, n};
  p.input = Distribution::brick();
  p.output = Distribution::brick();
  return p;
}

inline Design design_for(Problem problem, const Setting& setting, const Options& options = {}) {
  if (setting.devices) problem.memory = MemoryKind::cuda;
  check_problem(problem, setting.ranks());
  return design(problem, wishes_of(options), setting);
}

}  // namespace weft::test
