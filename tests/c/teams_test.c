// Threads as ranks: bodies that succeed and that fail.
#include "check.h"

typedef struct given {
  weft_team team;
  int failing;  // the rank whose body fails; -1: none
  int calls[4];
} given;

static int body(weft_comm comm, void* data) {
  given* const mine = data;
  int rank = -1, size = 0;
  const char* medium = NULL;
  GOOD(weft_comm_rank(comm, &rank));
  GOOD(weft_comm_size(comm, &size));
  GOOD(weft_comm_medium(comm, &medium));
  CHECK(size == 4 && rank >= 0 && rank < 4 && has_part(medium, "threads"));
  ++mine->calls[rank];
  if (rank == mine->failing) return 7;
  const weft_status status = weft_comm_barrier(comm);
  if (mine->failing < 0) return status == WEFT_SUCCESS ? 0 : 1;
  CHECK(status == WEFT_FAILURE && has_part(weft_last_message(), "the body returned 7"));
  return 1;
}

static int misuse(weft_comm comm, void* data) {
  given* const mine = data;
  int rank = -1;
  weft_team copy = mine->team;
  GOOD(weft_comm_rank(comm, &rank));
  if (rank == 0) {
    FAILS(weft_team_run(mine->team, body, data), WEFT_FAILURE, "while the team is running");
    FAILS(weft_team_free(&copy), WEFT_FAILURE, "freed while it runs");
  }
  weft_comm own = comm;  // a body may free its communicator, but need not
  if (rank == 1) GOOD(weft_comm_free(&own));
  return 0;
}

static int fails_in_a_call(weft_comm comm, void* data) {
  (void)data;
  int rank = -1;
  GOOD(weft_comm_rank(comm, &rank));
  return (int)(rank == 2 ? weft_wait(NULL) : weft_comm_barrier(comm));
}

static int splits(weft_comm comm, void* data) {
  (void)data;
  int rank = -1, part_rank = -1, part_size = 0;
  weft_comm part = NULL;
  GOOD(weft_comm_rank(comm, &rank));
  GOOD(weft_comm_split(comm, rank == 3 ? 0 : 1, &part));
  GOOD(weft_comm_rank(part, &part_rank));
  GOOD(weft_comm_size(part, &part_size));
  CHECK(part_rank == rank % 3 && part_size == (rank == 3 ? 1 : 3));
  GOOD(weft_comm_barrier(part));
  GOOD(weft_comm_free(&part));
  return 0;
}

void test_teams(void) {
  given mine = {.failing = -1};
  int size = 0;
  GOOD(weft_team_create(4, &mine.team));
  GOOD(weft_team_size(mine.team, &size));
  CHECK(size == 4);
  GOOD(weft_team_run(mine.team, body, &mine));
  mine.failing = 2;
  FAILS(weft_team_run(mine.team, body, &mine), WEFT_FAILURE,
        "the body returned 7; expected 0 from every rank (rank 2)");
  mine.failing = -1;
  GOOD(weft_team_run(mine.team, body, &mine));
  for (int r = 0; r < 4; ++r) CHECK(mine.calls[r] == 3);
  GOOD(weft_team_run(mine.team, misuse, &mine));
  GOOD(weft_team_run(mine.team, splits, NULL));
  FAILS(weft_team_run(mine.team, fails_in_a_call, NULL), WEFT_FAILURE,
        "the body returned 2, and its last failure was: weft: wait: NULL");
  FAILS(weft_team_run(mine.team, NULL, NULL), WEFT_BAD_ARGUMENT, "body is NULL");
  GOOD(weft_team_free(&mine.team));
  FAILS(weft_team_create(0, &mine.team), WEFT_FAILURE, "0 ranks");
  FAILS(weft_team_create(2, NULL), WEFT_BAD_ARGUMENT, "team is NULL");
}
