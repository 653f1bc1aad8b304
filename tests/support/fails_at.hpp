// A rank that fails in the middle of an execution.
#pragma once

#include <string>

#include "base/test_hook.hpp"
#include "weft/error.hpp"

namespace weft::test {

/// Rank 1 throws "broken on purpose" before operation `when`, counted from 0 over all its executions.
inline TestHook rank_1_fails_at(int when) {
  TestHook hook;
  hook.at_point = [when, operations = 0](const char* point, int rank) mutable {
    if (std::string(point) == "op" && rank == 1 && operations++ == when)
      throw Error("test", "broken on purpose", "");
  };
  return hook;
}

}  // namespace weft::test
