// The plans of the ranks that transform one whole array: threads of a team, on the host or with a GPU each.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "devices.hpp"

namespace weft::python {

class TeamPlans {
 public:
  /// `team`: null for this thread alone. `devices`: one for each rank, or none: arrays on the host. Without
  /// the GIL.
  TeamPlans(const Team* team, const PlanArguments& arguments, const Distribution& input,
            const Distribution& output, std::vector<int> devices)
      : team_(team), devices_(std::move(devices)) {
    const Problem problem = problem_of(arguments, input, output);
    const Options options = options_of(arguments);
    auto plans = std::make_unique<Plans>(team == nullptr ? 1 : team->get("plan").size());
    streams_.resize(plans->size());
    on_ranks([&](const Comm& comm) {
      const auto rank = static_cast<std::size_t>(comm.rank());
      const int device = devices_.empty() ? -1 : devices_.at(rank);
      const OnDevice current(device);
      auto plan = std::make_unique<Plan>(comm, problem, options);
      if (device >= 0) {
        streams_[rank] = std::make_unique<OwnStream>(device);
        plan->set_stream(streams_[rank]->native());
      }
      plans->at(rank) = std::move(plan);
    });
    plans_.set(std::move(plans));
  }

  /// Calls `body(rank, plan)` on every rank. Without the GIL.
  template <class Body>
  void each(const char* operation, const Body& body) {
    Plans& plans = plans_.get(operation);
    on_ranks([&](const Comm& comm) {
      body(static_cast<std::size_t>(comm.rank()), *plans[static_cast<std::size_t>(comm.rank())]);
    });
  }
  const std::vector<std::unique_ptr<Plan>>& plans() const { return plans_.get("plan"); }
  int device(std::size_t rank) const { return devices_.empty() ? -1 : devices_[rank]; }
  const OwnStream& stream(std::size_t rank) const { return *streams_[rank]; }

  std::size_t workspace_bytes() const {
    std::size_t bytes = 0;
    for (const auto& plan : plans()) bytes += plan->workspace_bytes();
    return bytes;
  }

 private:
  using Plans = std::vector<std::unique_ptr<Plan>>;

  template <class Body>
  void on_ranks(const Body& body) const {
    if (team_ == nullptr)
      body(Comm::self());
    else
      team_->get("plan").run(body);
  }

  const Team* team_;
  std::vector<int> devices_;
  std::vector<std::unique_ptr<OwnStream>> streams_;  // outlive the plans
  OfThisProcess<Plans> plans_{"plan"};
};

/// The distance in elements from the beginning of a whole array to the first point of a box.
inline Index first_of(const Box& box, const Strides& strides) {
  Index offset = 0;
  for (int a = 0; a < box.ndim() && !box.empty(); ++a) offset += box.lo[a] * strides[a];
  return offset;
}

}  // namespace weft::python
