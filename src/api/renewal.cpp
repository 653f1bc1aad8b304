// How a plan outlives the loss of a network. An execution under way ends in an error on all ranks that have a
// part in it, and leaves the plan broken on each as it hears of it. Before the next execution all ranks meet,
// tell each other why their plans are broken and how many executions they have completed, and plan again.
#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <set>
#include <string>
#include <vector>

#include "api/option_table.hpp"
#include "api/plan_impl.hpp"
#include "api/problem_check.hpp"
#include "base/warning.hpp"
#include "comm/agree.hpp"

namespace weft {

namespace {

/// Whether a failure on one rank reaches all others in the end, as each waits for some in one of the
/// reshapes.
bool joins_all_ranks(const Schedule& schedule, int ranks) {
  std::vector<int> reached(static_cast<std::size_t>(ranks), 0);
  reached.front() = 1;
  const std::vector<int> reshapes = reshape_stages(schedule);
  for (std::ptrdiff_t more = 1, before = 0; more != before;) {
    before = more;
    for (int j = 0; j < static_cast<int>(reshapes.size()); ++j) {
      const std::vector<int> groups = exchange_groups(schedule, j);
      std::set<int> of_reached;
      for (int r = 0; r < ranks; ++r)
        if (at(reached, r) != 0) of_reached.insert(at(groups, r));
      for (int r = 0; r < ranks; ++r)
        if (of_reached.contains(at(groups, r))) at(reached, r) = 1;
    }
    more = std::ranges::count(reached, 1);
  }
  return std::ranges::count(reached, 0) == 0;
}

/// What a rank knows of a plan's executions.
struct Standing {
  Ending ending;
  Index completed;
};

}  // namespace

bool PlanImpl::must_meet() const {
  const std::vector<Leg>& legs = design().legs_of(Direction::forward);
  const bool over_networks = std::ranges::any_of(legs, [](const Leg& leg) { return leg.traits.on_rails; });
  if (spent || !over_networks) return false;
  const bool mine = bound->broken() && joins_all_ranks(design().schedules[0], comm.size());
  // Here ranks agree before an execution, and one that has not heard of the failure would meet the others so.
  return checks_together() ? comm.impl().least(mine ? 0 : 1) == 0 : mine;
}

void PlanImpl::give_up_for_good(const Error& why) {
  spent = true;
  if (!bound->broken()) bound->fail(std::make_exception_ptr(why));
  throw why;
}

void PlanImpl::meet(const char* operation) {
  const int rank = comm.rank();
  const std::vector<Standing> all =
      all_of(comm.impl(), Standing{bound->ending(), started - (bound->broken() ? 1 : 0)});
  const auto some = [&](Ending ending) {
    return std::ranges::any_of(all, [&](const Standing& s) { return s.ending == ending; });
  };
  if (some(Ending::failed) || !some(Ending::lost_network))
    give_up_for_good(
        Error(operation, "a plan whose earlier execution failed in the middle", "a new plan", rank));
  const auto least = std::ranges::min_element(all, {}, &Standing::completed),
             most = std::ranges::max_element(all, {}, &Standing::completed);
  const auto account = [&](const auto& of) {
    return "rank " + std::to_string(of - all.begin()) + " has completed " + std::to_string(of->completed);
  };
  if (least->completed < most->completed)
    give_up_for_good(Error(
        operation,
        "a plan of whose executions " + account(most) + ", and " + account(least) + ", as a network was lost",
        "a new plan, and data of the same execution on all ranks", rank));
}

void PlanImpl::renew(const char* operation) {
  CommImpl& c = comm.impl();
  const std::array<UserArray, 2> before = arrays;
  const bool notes = bound->records_times();
  planning(c, [&] {
    collectively([&] { meet(operation); });
    wishes = wishes_of(options);
    wishes.rails_as_left = true;
    go_on();
    collectively([&] {
      if (c.least(arrays == before ? 1 : 0) == 0)
        give_up_for_good(Error(operation,
                               "a plan whose arrays lie otherwise without the network that was lost",
                               "a new plan", c.rank()));
    });
    together(c, operation, [&] {
      if (stream) bound->use_stream(*stream);
      bound->record_times(notes);
    });
  });
  started = 0;
  const std::string& networks = bound->rails_text();
  if (c.rank() == 0)
    warn("a network was lost; the plan of " + title_of(problem, comm) +
         " goes on: " + networks.substr(0, networks.find('\n')));
}

}  // namespace weft
