// From a problem, wishes and a setting to a plan that is bound to memory, exchanges and local FFTs.
#pragma once

#include <array>
#include <memory>
#include <optional>

#include "api/gather.hpp"
#include "exec/bound_plan.hpp"
#include "weft/options.hpp"

namespace weft {

/// One of the user's arrays on this rank.
struct UserArray {
  Box box;  ///< of one array of the batch
  Order order;
  Element element = Element::complex;
  Layout layout;         ///< with one axis more for a batch
  Strides item_strides;  ///< of one array
  Index distance = 0;    ///< from one array to the next
  std::size_t bytes = 0;
  friend bool operator==(const UserArray&, const UserArray&) = default;
};

/// What a plan is made from.
struct PlanRequest {
  const Comm& comm;
  const Problem& problem;  ///< checked and completed (problem_check.hpp)
  const Options& options;
  const Wishes& wishes;  ///< of these
  const DeviceRanks& devices;
  WorkspaceRoom room = {};
};

struct BoundProblem {
  std::array<UserArray, 2> arrays;  ///< before and after forward
  std::unique_ptr<BoundPlan> plan;
};

/// Binds the design `made`, or the one that follows from `wishes`, which may be those of the request and
/// what was learnt. What turns out to be impossible is added to the setting. A trial warns of nothing: that
/// is for the plan that is chosen. Collective; throws `AgreedFailure`.
BoundProblem bind(const PlanRequest& request, const Wishes& wishes, Setting& setting,
                  std::optional<Design> made = {}, bool trial = false);

}  // namespace weft
