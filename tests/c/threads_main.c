// The tests of the C interface without MPI: on one rank, and on the threads of teams.
#include <stdio.h>

#include "check.h"

static int body(weft_comm comm, void* data) {
  (void)data;
  test_on(comm);
  return 0;
}

int main(void) {
  test_values();
  test_handles();
  test_teams();
  weft_comm self = NULL;
  GOOD(weft_comm_self(&self));
  test_on(self);
  GOOD(weft_comm_free(&self));
  for (int size = 2; size <= 4; ++size) {
    weft_team team = NULL;
    GOOD(weft_team_create(size, &team));
    GOOD(weft_team_run(team, body, NULL));
    GOOD(weft_team_free(&team));
  }
  printf("C: %d failures\n", failures());
  return failures() == 0 ? 0 : 1;
}
