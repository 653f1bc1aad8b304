// What is behind a Plan: what it was made from, what was chosen, and the bound plan.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "api/bind.hpp"
#include "api/learning.hpp"
#include "api/online.hpp"
#include "api/plan_trace.hpp"
#include "weft/plan.hpp"

namespace weft {

/// Pointers that were found to be in memory of a plan's kind, the latest ones: enough for two sets of arrays
/// that take turns. To ask the driver takes 0.7 us for each, where small boxes on GPUs take 25 us in all. It
/// is not noticed if one was freed and memory of another kind is in its place now.
class PlacesFound {
 public:
  bool contains(const void* pointer) const { return std::ranges::find(found_, pointer) != found_.end(); }
  void add(const void* pointer) { found_[next_++ % found_.size()] = pointer; }

 private:
  std::array<const void*, 6> found_{};
  std::size_t next_ = 0;
};

struct PlanImpl {
  using Arrays = Plan::Arrays;
  using Type = Plan::Type;

  /// What is behind a plan, for those who look at more than users do.
  static const PlanImpl& of(const Plan& plan) { return plan.impl(); }

  /// Collective; throws the same `weft::Error` on all ranks, unless one has failed by itself.
  static std::unique_ptr<PlanImpl> make(const Comm& comm, const Problem& problem, const Options& options);
  PlanImpl(const Comm& communicator, const Problem& given, const Options& of_user)
      : comm(communicator), problem(given), options(of_user) {}
  ~PlanImpl();
  PlanImpl(const PlanImpl&) = delete;
  PlanImpl& operator=(const PlanImpl&) = delete;

  std::vector<std::string> read();
  void go_on();
  void bind_as_learnt(const PlanRequest& request);
  /// `Plan::refuse`.
  [[noreturn]] static void refuse(const Comm& comm, const Error& why);
  /// Checks the user's arrays and begins an execution.
  void start(Direction direction, const Arrays& of_user);
  /// Whether the ranks meet before an execution, as the last one has failed in the middle (renewal.hpp).
  bool must_meet() const;
  /// Makes a plan that was broken by the loss of a network again, over those that are left. Throws the same
  /// `weft::Error` on all ranks if it was broken by something else, or if ranks have completed different
  /// executions; and on those that have come, if some do not. Collective.
  void renew(const char* operation);
  /// The first part of it.
  void meet(const char* operation);
  /// Throws the error; the plan cannot be made again.
  [[noreturn]] void give_up_for_good(const Error& why);
  /// Takes the execution under way further; whether it is complete.
  bool advance(Patience patience);
  /// The same without waiting; a complete execution stays under way.
  void look();
  /// Completes the execution under way, if there is one.
  void wait();
  bool uses_networks() const;
  /// Whether misuse of an execution on one rank fails on all.
  bool checks_together() const;
  /// A rank that cannot start the execution that the other ranks start lets them fail, where they look for
  /// failures of other ranks. Always throws.
  [[noreturn]] void refuse_execution(const char* operation, const Error& why) const;
  /// Throws `weft::Error` if what `which` names, or null, is not in memory of the plan's kind, or not
  /// aligned.
  void check_place(const char* operation, const char* which, const void* pointer) const;
  /// The same, but for what an execution has found there before.
  void check_place_once(const char* operation, const char* which, const void* pointer);
  /// Throws `weft::Error` if an execution with these arrays is a mistake.
  void check_arrays(Direction direction, const Arrays& of_user);
  /// The same of one rank alone: the error says that others may wait.
  void check_arrays_alone(Direction direction, const Arrays& of_user);
  /// `Plan::measured_error`, of elements of a type.
  Accuracy measured_error(Direction direction, const void* in, Type type);
  /// `measured_error` by a rank that cannot: the other ranks fail, unless they find out alone that there is
  /// no error.
  [[noreturn]] void refuse_measuring(Direction direction, const Error& why) const;
  const Design& design() const { return bound->design(); }
  Explanation explain() const;
  std::string to_string() const;

  Comm comm;
  Problem problem;
  Options options;
  Wishes wishes;
  DeviceRanks devices;
  Setting setting;
  Learnt learnt;
  std::array<UserArray, 2> arrays;  ///< before and after forward
  PlacesFound places_found;
  std::vector<ModeColumn> columns;  ///< of this rank, if modes are given by columns
  std::unique_ptr<BoundPlan> bound;
  bool complete = false;                 ///< it has been made
  Index started = 0;                     ///< executions, since the plan was made or made again
  std::unique_ptr<LateMaximum> meeting;  ///< of ranks whose plan was broken; null: it cannot be made again
  bool as_left = false;                  ///< it was made again: `Setting::rails_as_left`
  std::optional<void*> stream = {};      ///< of the user, if he has given one
  std::optional<PlanTrace> trace;        ///< if option trace names a file
  Index users_workspace = 0;             ///< bytes that the user gives, if he does
  std::unique_ptr<Online> online;        ///< with effort online
};

}  // namespace weft
