// How failures leave the library towards C. Every entry point does its work inside `guarded`, which turns
// what is thrown into a status and keeps the message for the calling thread.
#pragma once

#include <exception>
#include <string>

#include "weft/error.hpp"
#include "weft/weft.h"

namespace weft::c {

/// A failure that has a status of its own; any other `weft::Error` is WEFT_FAILURE.
class Failure final : public Error {
 public:
  Failure(weft_status status, const Error& error) : Error(error), status_(status) {}
  weft_status status() const { return status_; }

 private:
  weft_status status_;
};

/// A mistake in what an entry point was given: WEFT_BAD_ARGUMENT.
Failure bad_argument(const std::string& operation, const std::string& got, const std::string& expected);

/// Throws unless a pointer that the caller has to give is there; `name` is that of the argument.
void check_given(const void* pointer, const char* operation, const char* name);

/// To be called while an exception is handled: keeps its message for this thread and returns its status.
weft_status keep_failure() noexcept;
/// What `keep_failure` would keep and return of an exception.
Failure failure_of(const std::exception_ptr& failure);
/// Forgets the message of this thread.
void forget_failure() noexcept;
/// Throws what weft_team_run reports of a body that has returned `result`, with this thread's message.
[[noreturn]] void throw_failure_of_body(int result, int rank);

/// For a mistake that one rank has found before a collective step: the other ranks, which are in it or wait
/// for this one, fail as well by `refuse`, which throws on all. The status is of this rank's own failure.
template <class Refuse>
[[noreturn]] void fail_together(const std::exception_ptr& mine, const Refuse& refuse) {
  const Failure own = failure_of(mine);
  try {
    refuse(own);
  } catch (const Error& agreed) {
    throw Failure(own.status(), agreed);
  }
  throw Failure(own);
}

template <class Work>
weft_status guarded(const Work& work) noexcept {
  try {
    work();
    return WEFT_SUCCESS;
  } catch (...) {
    return keep_failure();
  }
}

}  // namespace weft::c
