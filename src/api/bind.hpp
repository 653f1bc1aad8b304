// From a problem, wishes and a setting to a plan that is bound to memory, exchanges and local FFTs.
#pragma once

#include <array>
#include <memory>
#include <optional>

#include "api/gather.hpp"
#include "exec/bound_plan.hpp"

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
};

/// Before and after forward. Throws `weft::Error` if the memory that the problem describes does not fit.
std::array<UserArray, 2> user_arrays(const Problem& problem, const Schedule& forward, int rank);

/// What is transformed, on how many ranks: the first line of a printed plan.
std::string title_of(const Problem& problem, const Comm& comm);

struct BindRequest {
  const Comm& comm;
  const Problem& problem;
  const Wishes& wishes;
  const DeviceRanks& devices;
  Setting& setting;                 ///< what turns out to be impossible is added
  std::optional<Design> made = {};  ///< of these, if it is known already
  bool trial = false;               ///< to be timed: warnings are for the plan that is chosen
};

struct BoundProblem {
  std::array<UserArray, 2> arrays;  ///< before and after forward
  std::unique_ptr<BoundPlan> plan;
};

/// Collective; throws `AgreedFailure`.
BoundProblem bind(const BindRequest& request);

}  // namespace weft
