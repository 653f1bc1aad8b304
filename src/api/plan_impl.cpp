#include "api/plan_impl.hpp"

#include <algorithm>

#include "api/option_table.hpp"
#include "api/problem_check.hpp"
#include "base/environment.hpp"
#include "base/test_hook.hpp"
#include "base/text.hpp"
#include "base/timing.hpp"
#include "base/warning.hpp"
#include "comm/agree.hpp"

namespace weft {

std::unique_ptr<PlanImpl> PlanImpl::make(const Comm& comm, const Problem& problem, const Options& options) {
  CommImpl& c = comm.impl();
  c.check_alive("plan");
  std::unique_ptr<PlanImpl> made;
  std::optional<DeviceRange> range;
  planning(c, [&] {
    std::vector<std::string> mine;
    together(c, "plan", [&] {
      range.emplace(("weft plan " + by_x(problem.shape)).c_str());
      made = std::make_unique<PlanImpl>(comm, problem, options);
      mine = made->read();
    });
    compare_lines(c, mine);
    made->go_on();
    made->complete = true;
  });
  return made;
}

void PlanImpl::refuse(const Comm& comm, const Error& why) {
  CommImpl& c = comm.impl();
  c.check_alive("plan");
  planning(c, [&] { together(c, "plan", [&] { throw why; }); });  // as the first step of `make`
  throw Error("plan", "a rank failed and was not heard", "no such failure: please report it");
}

/// What the user wants, line by line. Local.
std::vector<std::string> PlanImpl::read() {
  test_point("plan", comm.rank());
  warn_of_unknown_variables();
  check_problem(problem, comm.size());
  wishes = wishes_of(options);
  if (wishes.effort.value == Effort::online && problem.memory != MemoryKind::host)
    throw Error("plan: option effort", "online with arrays in memory of GPUs", "measure or patient");
  std::vector<std::string> lines = describe(problem);
  for (const std::string& line : describe(options)) lines.push_back(line);
  return lines;
}

/// What all ranks want alike. Collective.
void PlanImpl::go_on() {
  CommImpl& c = comm.impl();
  PlanRequest request{comm, problem, options, wishes, devices};
  collectively([&] {
    devices = find_devices(c, problem);
    setting = gather_setting(c, problem, wishes, devices);
    setting.rails_as_left = as_left;
    learnt = learn(request, setting);
  });
  setting.constants = learnt.constants;
  if (setting.given.columns) columns = setting.given.columns->of_rank(c.rank());
  const bool tunes = wishes.effort.value == Effort::online;
  if (tunes && Online::why_not(*this).empty()) {
    collectively([&] { open_networks(c, wishes, setting); });
    together(c, "plan", [&] { request.room.least = online_workspace(request, setting, learnt.options); });
  }
  const double begin = seconds_now();
  bind_as_learnt(request);
  const double took = seconds_now() - begin;
  users_workspace = bound->workspace_bytes();
  // Where ranks agree before each execution, one that has not heard of a failure would wait for those that
  // meet.
  if (!meeting && !checks_together() && uses_networks()) collectively([&] { meeting = c.late_maximum(); });
  if (!devices.mine) collectively([&] { keep_learnt(request, learnt); });
  if (const std::string& file = wishes.trace.value; !file.empty())
    trace.emplace(c, *bound, file, title_of(problem, comm), to_string());
  if (tunes)
    collectively([&] {
      const std::vector<double> all = all_of(c, took);
      online = std::make_unique<Online>(*this, *std::max_element(all.begin(), all.end()));
    });
}

/// Whether exchanges of the plan, or of those that executions may try, are on rails.
bool PlanImpl::uses_networks() const {
  const std::vector<Leg>& legs = design().legs_of(Direction::forward);
  return std::ranges::any_of(legs, [](const Leg& leg) { return leg.traits.on_rails; }) ||
         std::ranges::any_of(setting.offers, [](const Offer& offer) { return offer.rails > 1; });
}

PlanImpl::~PlanImpl() {
  if (complete && trace) trace->write(*bound);
}

/// What was found may be impossible by now, and the user has not asked for it.
void PlanImpl::bind_as_learnt(const PlanRequest& request) {
  const auto bind_now = [&] {
    BoundProblem b = bind(request, wishes, setting);
    arrays = b.arrays;
    bound = std::move(b.plan);
  };
  if (learnt.options.empty()) return bind_now();
  try {
    together(comm.impl(), "plan",
             [&] { wishes = wishes_of(request.options, learnt.options, learnt.origin); });
    return bind_now();
  } catch (const AgreedFailure& failure) {
    comm.impl().check_alive("plan");
    const std::string who = name_of(learnt.origin);
    if (comm.rank() == 0) warn("what " + who + " says of this problem does not work: " + failure.what());
    learnt.options.clear();
    learnt.candidates.clear();
    learnt.origin = Origin::rule;
    learnt.text = who + ": what it says of this problem does not work";
  }
  wishes = wishes_of(request.options);
  setting.closed = {};
  bind_now();
}

/// Among threads agreeing costs next to nothing, and a failure on one rank alone would break the others'
/// plans.
bool PlanImpl::checks_together() const {
  return wishes.collective_check.value || setting.threads;
}

void PlanImpl::refuse_execution(const char* operation, const Error& why) const {
  CommImpl& c = comm.impl();
  c.check_alive(operation);
  if (checks_together()) agree(c, operation, [&] { throw why; });
  throw Error(why);
}

void PlanImpl::start(Direction direction, const Arrays& of_user) {
  CommImpl& c = comm.impl();
  c.check_alive(name_of(direction));
  if (must_meet()) renew(name_of(direction));
  if (checks_together()) {
    agree(c, name_of(direction), [&] { check_arrays(direction, of_user); });
  } else {
    check_arrays_alone(direction, of_user);
  }
  const void* in = of_user.in;
  void* out = of_user.out;
  if (problem.in_place) {  // a side without points may be any pointer
    const bool reads = arrays[direction == Direction::forward ? 0 : 1].bytes > 0;
    if (reads) out = const_cast<void*>(in);
    in = out;
  }
  ++started;
  const auto begin = [&] {
    bound->start(direction, in, out, of_user.workspace, of_user.op);
    return false;
  };
  if (!online) {
    begin();
    return;
  }
  online->before(direction);
  online->take(begin);
}

bool PlanImpl::advance(Patience patience) {
  const auto go_on = [&] { return bound->advance(patience); };
  return online ? online->take(go_on) : go_on();
}

void PlanImpl::look() {
  const auto go_on = [&] {
    bound->go_on(Patience::look);
    return false;
  };
  online ? online->take(go_on) : go_on();
}

void PlanImpl::wait() {
  const auto wait_for_it = [&] {
    bound->wait();
    return true;
  };
  online ? online->take(wait_for_it) : wait_for_it();
}

}  // namespace weft
