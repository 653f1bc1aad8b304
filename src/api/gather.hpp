// From what each rank was given to what all ranks know: the tilings and memory orders of all.
#pragma once

#include "comm/comm_impl.hpp"
#include "schedule/planner.hpp"
#include "weft/problem.hpp"

namespace weft {

/// Boxes and orders as the ranks gave them.
struct Gathered {
  std::vector<Box> input_boxes, output_boxes;      ///< only for distributions by box
  std::vector<Order> input_orders, output_orders;  ///< empty where no rank asked for one of a `fastest` side
};

/// Collective.
Gathered gather(CommImpl& comm, const Problem& problem);

/// Checks the boxes and names the distributions; the request has one axis more for a batch. Local; throws
/// `weft::Error`.
ScheduleRequest resolve(const Problem& problem, const Gathered& gathered, int ranks);

/// A batch is one axis more, the last one, and the slowest in memory.
void add_batch(ScheduleRequest& request, Index batch);

}  // namespace weft
