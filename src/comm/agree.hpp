// All ranks fail together: a failure on any rank is thrown on all ranks, as the error of the lowest failing
// rank.
#pragma once

#include <exception>
#include <new>
#include <optional>

#include "comm/comm_impl.hpp"
#include "weft/error.hpp"

namespace weft {

/// If `failure` is set on any rank, throws that of the lowest failing rank on every rank. Collective.
/// Allocates nothing if no rank has failed.
void agree_on(CommImpl& comm, const std::optional<Error>& failure);

/// Steps of which every rank takes all even if one fails, so that no rank waits for another inside a step. At
/// the end the ranks agree on the first failure.
class JointSteps {
 public:
  explicit JointSteps(const char* operation) : operation_(operation) {}

  template <class Step>
  void take(const Step& step) {
    std::optional<Error> failure;
    try {
      step();
    } catch (const Error& e) {
      failure = e;
    } catch (const std::bad_alloc&) {
      failure = Error(operation_, "no memory left", "fewer points per rank");
    } catch (const std::exception& e) {
      failure = Error(operation_, e.what(), "");
    } catch (...) {
      failure = Error(operation_, "an exception of unknown type", "");
    }
    if (!failure_) failure_ = failure;
  }
  /// A step that throws the same `weft::Error` on all ranks or on none. A rank that fails otherwise leaves:
  /// the others may wait for it inside.
  template <class Step>
  void take_together(CommImpl& comm, const Step& step) {
    take([&] {
      try {
        step();
      } catch (const Error&) {
        throw;
      } catch (...) {
        comm.leave_collectives(std::current_exception());
        throw;
      }
    });
  }
  /// Collective.
  void agree(CommImpl& comm) const { agree_on(comm, failure_); }

 private:
  const char* operation_;
  std::optional<Error> failure_;
};

/// Runs `step`, which must not communicate, and throws on all ranks if it failed on any. Collective.
template <class Step>
void agree(CommImpl& comm, const char* operation, const Step& step) {
  JointSteps steps(operation);
  steps.take(step);
  steps.agree(comm);
}

/// A failure that is thrown on all ranks, which can therefore still communicate.
struct AgreedFailure final : std::exception {
  // NOLINTNEXTLINE(bugprone-throw-keyword-missing): a member
  explicit AgreedFailure(const Error& failure) : error(failure), original(std::current_exception()) {}
  const char* what() const noexcept override { return error.what(); }
  Error error;
  std::exception_ptr original;
};

/// Runs steps of planning, which throw `AgreedFailure`, and throws what that was made from. Anything else has
/// failed on this rank alone: the others, which would wait for it, are told.
template <class Steps>
void planning(CommImpl& comm, const Steps& steps) {
  try {
    steps();
  } catch (const AgreedFailure& failure) {
    std::rethrow_exception(failure.original);
  } catch (...) {
    comm.complete_collectives();
    comm.leave_collectives(std::current_exception());
    throw;
  }
}

/// Runs a step that throws the same `weft::Error` on all ranks or on none, and throws it as `AgreedFailure`.
/// Collective.
template <class Step>
auto collectively(const Step& step) {
  try {
    return step();
  } catch (const Error& e) {
    throw AgreedFailure(e);
  }
}

/// Runs a step that does not communicate; a failure on any rank is thrown as `AgreedFailure` on all.
/// Collective.
template <class Step>
void together(CommImpl& comm, const char* operation, const Step& step) {
  collectively([&] { agree(comm, operation, step); });
}

}  // namespace weft
