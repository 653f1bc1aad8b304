// All ranks fail together: what goes wrong on one is thrown on all, as the failure of the lowest failing
// rank.
#pragma once

#include <exception>
#include <new>
#include <optional>

#include "comm/comm_impl.hpp"
#include "weft/error.hpp"

namespace weft {

/// Agrees on whether `failure` is set anywhere; if so, throws the lowest failing rank's on every rank.
/// Collective. Allocates nothing if all is well.
void agree_on(CommImpl& comm, const std::optional<Error>& failure);

/// Steps that communicate: every rank takes all of them, whatever fails in between, so that no other rank
/// waits for it inside a step, and agrees on the first failure at the end.
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
  /// Collective.
  void agree(CommImpl& comm) const { agree_on(comm, failure_); }

 private:
  const char* operation_;
  std::optional<Error> failure_;
};

/// Runs `step`, which must not communicate, and agrees on its outcome. Collective.
template <class Step>
void agree(CommImpl& comm, const char* operation, const Step& step) {
  JointSteps steps(operation);
  steps.take(step);
  steps.agree(comm);
}

/// A failure that all ranks know of: the ranks can go on talking.
struct AgreedFailure final : std::exception {
  // NOLINTNEXTLINE(bugprone-throw-keyword-missing): a member
  explicit AgreedFailure(const Error& failure) : error(failure), original(std::current_exception()) {}
  const char* what() const noexcept override { return error.what(); }
  Error error;
  std::exception_ptr original;
};

/// Runs a step whose `weft::Error` is the same on all ranks, and marks it as such. Collective.
template <class Step>
auto collectively(const Step& step) {
  try {
    return step();
  } catch (const Error& e) {
    throw AgreedFailure(e);
  }
}

/// The same of a step that does not communicate: what goes wrong on one rank goes wrong on all.
template <class Step>
void together(CommImpl& comm, const char* operation, const Step& step) {
  collectively([&] { agree(comm, operation, step); });
}

}  // namespace weft
