#include "api/renewal.hpp"

#include <array>
#include <cstddef>
#include <exception>
#include <optional>
#include <string>

#include "api/option_table.hpp"
#include "api/plan_impl.hpp"
#include "api/problem_check.hpp"
#include "base/backoff.hpp"
#include "base/timing.hpp"
#include "base/warning.hpp"
#include "comm/agree.hpp"
#include "transport/lost_network.hpp"

namespace weft {

std::atomic<double> detail::patience_of_meetings{60};

namespace {

/// What ranks read the maximum of when they meet.
enum Number : std::size_t { completed, not_completed, failed, lost };

std::string count_of(double executions) {
  return std::to_string(static_cast<long long>(executions));
}

}  // namespace

bool lie_alike(const Schedule& a, const Schedule& b) {
  if (!(a.input() == b.input() && a.output() == b.output())) return false;
  const int middle = stage_of_operator(a), other = stage_of_operator(b);
  if (middle < 0 || other < 0) return middle == other;
  return at(a.stages, middle).axes == at(b.stages, other).axes &&
         *at(a.fields, middle).tiling == *at(b.fields, other).tiling;
}

bool PlanImpl::must_meet() const {
  return meeting && bound->broken();
}

void PlanImpl::give_up_for_good(const Error& why) {
  meeting.reset();
  throw why;
}

void PlanImpl::meet(const char* operation) {
  CommImpl& c = comm.impl();
  const auto completed_here = static_cast<double>(started - 1);
  LateMaximum::Numbers mine{};
  mine[completed] = completed_here;
  mine[not_completed] = -completed_here;
  mine[failed] = bound->ending() == Ending::failed ? 1 : 0;
  mine[lost] = bound->ending() == Ending::lost_network ? 1 : 0;
  const double end = seconds_now() + detail::patience_of_meetings;
  const auto have_come = [&](bool all_will) {
    meeting->give(mine);
    for (Backoff backoff; !meeting->complete(); backoff.pause()) {
      c.check_alive(operation);
      c.advance_executions();
      if (!all_will && seconds_now() > end)
        give_up_for_good(
            Error(operation,
                  "a plan whose earlier execution failed in the middle, and of which some rank has "
                  "begun no other for a minute",
                  "the same executions on all ranks, or a new plan", c.rank()));
    }
    if (meeting->is_last())
      give_up_for_good(
          Error(operation, "a plan whose earlier execution failed in the middle, and that some rank has left",
                "a new plan", c.rank()));
  };
  have_come(false);
  const LateMaximum::Numbers& all = meeting->maximum();
  if (all[failed] > 0 || all[lost] == 0)
    give_up_for_good(
        Error(operation, "a plan whose earlier execution failed in the middle", "a new plan", c.rank()));
  if (all[completed] > -all[not_completed])
    give_up_for_good(Error(operation,
                           "a plan of which some rank has completed " + count_of(all[completed]) +
                               " executions, and another one " + count_of(-all[not_completed]) +
                               ", as a network was lost",
                           "a new plan, and data of the same execution on all ranks", c.rank()));
  // A rank may have lost its patience just before the last one came: it has left then, and is told by this.
  have_come(true);
}

void PlanImpl::renew(const char* operation) {
  meet(operation);
  CommImpl& c = comm.impl();
  const std::array<UserArray, 2> arrays_before = arrays;
  const Schedule before = design().schedules[0];
  const Index workspace_before = users_workspace;
  const bool notes = bound->records_times();
  trace.reset();
  online.reset();
  std::optional<DeviceScope> scope;
  if (devices.mine) scope.emplace(*devices.mine);
  try {
    planning(c, [&] {
      wishes = wishes_of(options);
      as_left = true;
      go_on();
      const bool alike = arrays == arrays_before && lie_alike(before, design().schedules[0]) &&
                         (!wishes.users_workspace.value || users_workspace <= workspace_before);
      collectively([&] {
        if (c.least(alike ? 1 : 0) == 0)
          give_up_for_good(Error(operation,
                                 "a plan whose arrays lie otherwise without the network that was lost",
                                 "a new plan", c.rank()));
      });
      together(c, operation, [&] {
        if (stream) bound->use_stream(*stream);
        bound->record_times(notes);
      });
    });
  } catch (...) {  // the next execution looks again
    if (!bound->broken())
      bound->fail(std::make_exception_ptr(
          LostNetwork(operation, "a plan that was not made again", "a network that is there", c.rank())));
    throw;
  }
  started = 0;
  const std::string& networks = bound->rails_text();
  if (c.rank() == 0)
    warn("a network was lost; the plan of " + title_of(problem, comm) +
         " goes on: " + networks.substr(0, networks.find('\n')));
}

}  // namespace weft
