// The late maximum among threads: ranks that leave are waited for by nobody.
#include <gtest/gtest.h>

#include "support/leaving.hpp"
#include "weft/weft.hpp"

namespace weft::test {

TEST(LateMaximum, RanksLeaveWhenTheyLike) {
  for (const int ranks : {1, 2, 5}) {
    ThreadTeam team(ranks);
    for (unsigned seed = 0; seed < 20; ++seed)
      team.run([&](const Comm& comm) { give_and_leave(comm, seed); });
  }
}

}  // namespace weft::test
