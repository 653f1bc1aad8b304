// All ranks fail together: what goes wrong on one is thrown on all, as the failure of the lowest failing
// rank.
#pragma once

#include <exception>
#include <optional>

#include "comm/comm_impl.hpp"
#include "weft/error.hpp"

namespace weft {

/// Agrees on whether `failure` is set anywhere; if so, throws the lowest failing rank's on every rank.
/// Collective. Allocates nothing if all is well.
void agree_on(CommImpl& comm, const std::optional<Error>& failure);

/// Runs `step`, which must not communicate, and agrees on its outcome. Collective.
template <class Step>
void agree(CommImpl& comm, const char* operation, const Step& step) {
  std::optional<Error> failure;
  try {
    step();
  } catch (const Error& e) {
    failure = e;
  } catch (const std::exception& e) {
    failure = Error(operation, e.what(), "");
  } catch (...) {
    failure = Error(operation, "an exception of unknown type", "");
  }
  agree_on(comm, failure);
}

}  // namespace weft
