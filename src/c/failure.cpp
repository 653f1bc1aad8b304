#include "c/failure.hpp"

#include <new>

#include "c/structs.hpp"
#include "comm/comm_impl.hpp"

namespace weft::c {

namespace {

// The last failure of a thread. The pointer needs no destructor, so that a call that fails while the thread
// or the process ends finds it in order; what such a late call keeps is never freed.
thread_local const Error* last = nullptr;
thread_local bool last_is_aftermath = false;
thread_local bool not_kept = false;  ///< memory did not suffice to keep it

struct AtEndOfThread {
  ~AtEndOfThread() { forget_failure(); }
  void needed() const {}  ///< makes the destructor be called
};
thread_local AtEndOfThread at_end_of_thread;

void keep(const Error& error, bool is_aftermath) {
  at_end_of_thread.needed();
  const Error* const mine = new Error(error);
  forget_failure();
  last = mine;
  last_is_aftermath = is_aftermath;
}

/// Calls f(status, error, whether it is the consequence of another one) for the exception that is handled.
template <class F>
void describe_current(const F& f) {
  try {
    throw;
  } catch (const Failure& e) {
    f(e.status(), e, false);
  } catch (const Aftermath& e) {
    f(WEFT_FAILURE, e, true);
  } catch (const Error& e) {
    f(WEFT_FAILURE, e, false);
  } catch (const std::bad_alloc&) {
    f(WEFT_NO_MEMORY, Error("memory", "no memory left", "fewer points per rank"), false);
  } catch (const std::exception& e) {
    f(WEFT_INTERNAL, Error("internal", e.what(), "no such failure: please report it"), false);
  } catch (...) {
    f(WEFT_INTERNAL, Error("internal", "an exception of unknown type", "no such failure: please report it"),
      false);
  }
}

struct StatusName {
  weft_status status;
  const char* name;
};
constexpr StatusName status_names[] = {
    {WEFT_SUCCESS, "WEFT_SUCCESS"},       {WEFT_FAILURE, "WEFT_FAILURE"},
    {WEFT_BAD_HANDLE, "WEFT_BAD_HANDLE"}, {WEFT_BAD_ARGUMENT, "WEFT_BAD_ARGUMENT"},
    {WEFT_NO_MEMORY, "WEFT_NO_MEMORY"},   {WEFT_INTERNAL, "WEFT_INTERNAL"},
};

}  // namespace

Failure bad_argument(const std::string& operation, const std::string& got, const std::string& expected) {
  return {WEFT_BAD_ARGUMENT, Error(operation, got, expected)};
}

void check_given(const void* pointer, const char* operation, const char* name) {
  if (pointer == nullptr) throw bad_argument(operation, std::string(name) + " is NULL", "a pointer");
}

weft_status keep_failure() noexcept {
  weft_status result = WEFT_INTERNAL;
  try {
    describe_current([&](weft_status status, const Error& error, bool is_aftermath) {
      result = status;
      keep(error, is_aftermath);
    });
  } catch (...) {
    forget_failure();
    not_kept = true;
    result = WEFT_NO_MEMORY;
  }
  return result;
}

weft_status status_of(const std::exception_ptr& failure) noexcept {
  weft_status result = WEFT_NO_MEMORY;
  try {
    std::rethrow_exception(failure);
  } catch (...) {
    try {
      describe_current([&](weft_status status, const Error&, bool) { result = status; });
    } catch (...) {  // NOLINT(bugprone-empty-catch): memory did not suffice for the text
    }
  }
  return result;
}

void forget_failure() noexcept {
  delete last;
  last = nullptr;
  last_is_aftermath = not_kept = false;
}

void throw_failure_of_body(int result, int rank) {
  const std::string message = weft_last_message();
  const std::string got = "the body returned " + std::to_string(result) +
                          (message.empty() ? "" : ", and its last failure was: " + message);
  if (last_is_aftermath) throw Aftermath("thread team", got, "0 from every rank", rank);
  throw Error("thread team", got, "0 from every rank", rank);
}

}  // namespace weft::c

using namespace weft::c;

const char* weft_status_name(weft_status status) {
  const int number = number_of(status);
  for (const StatusName& s : status_names)
    if (s.status == number) return s.name;
  return "no status of Weft";
}

const char* weft_last_message(void) {
  if (not_kept) return "weft: memory: no memory left to say what failed";
  return last != nullptr ? last->what() : "";
}

weft_status weft_last_error(weft_error* error) {
  // Not by `guarded`, which would replace what is asked for.
  if (error == nullptr || !has_known_size(*error)) return WEFT_BAD_ARGUMENT;
  weft_error parts{};
  parts.operation = last != nullptr ? last->operation().c_str() : "";
  parts.got = last != nullptr ? last->got().c_str() : weft_last_message();
  parts.expected = last != nullptr ? last->expected().c_str() : "";
  parts.rank = last != nullptr ? last->rank() : -1;
  store(*error, parts);
  return WEFT_SUCCESS;
}

weft_status weft_set_last_error(weft_status status, const char* operation, const char* got,
                                const char* expected) {
  const auto text = [](const char* given) { return given != nullptr ? given : ""; };
  guarded([&] { throw weft::Error(text(operation), text(got), text(expected)); });
  return status;
}
