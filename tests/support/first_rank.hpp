// What one rank of a team gives, for tests that look at it once.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include "weft/thread_team.hpp"

namespace weft::test {

/// What `f` gives on rank 0. All ranks call it.
template <class F>
auto on_first_rank(ThreadTeam& team, const F& f) {
  std::optional<std::invoke_result_t<F, const Comm&>> first;
  team.run([&](const Comm& comm) {
    auto mine = f(comm);
    if (comm.rank() == 0) first = std::move(mine);
  });
  return *std::move(first);
}
template <class F>
auto on_first_rank(int ranks, const F& f) {
  ThreadTeam team(ranks);
  return on_first_rank(team, f);
}

}  // namespace weft::test
