// Handles that are none: NULL, freed, freed twice, of another kind, of a slot that is used again, garbage.
#include <stdint.h>

#include "check.h"
#include "check_problem.h"

enum { many = 300 };  // more than fit into the first chunk of handles

static weft_plan garbage(uintptr_t value) {
  return (weft_plan)value;
}

static void test_kinds(weft_comm comm, weft_options options, weft_team team, weft_plan plan) {
  int number = 0;
  FAILS(weft_comm_rank((weft_comm)(void*)plan, &number), WEFT_BAD_HANDLE, "a plan; expected a communicator");
  FAILS(weft_comm_rank((weft_comm)(void*)options, &number), WEFT_BAD_HANDLE,
        "options; expected a communicator");
  FAILS(weft_team_size((weft_team)(void*)comm, &number), WEFT_BAD_HANDLE, "a communicator; expected a team");
  FAILS(weft_options_set((weft_options)(void*)team, "tile", "1"), WEFT_BAD_HANDLE,
        "a team; expected options");
  FAILS(weft_wait((weft_plan)(void*)comm), WEFT_BAD_HANDLE, "wait: a communicator; expected a plan");
  weft_plan disguised = (weft_plan)(void*)comm;
  FAILS(weft_plan_free(&disguised), WEFT_BAD_HANDLE, "free: a communicator; expected a plan");
  GOOD(weft_comm_rank(comm, &number));  // it is still there
}

static void test_garbage(weft_plan plan) {
  FAILS(weft_wait(NULL), WEFT_BAD_HANDLE, "wait: NULL; expected a plan");
  const uintptr_t values[] = {1,
                              4,
                              16,
                              0x1234567,
                              0xdeadbeefdeadbeefu,
                              UINTPTR_MAX,
                              (uintptr_t)&plan,
                              (uintptr_t)plan ^ 0x40,
                              (uintptr_t)plan + ((uintptr_t)1 << 40)};
  for (size_t i = 0; i < sizeof values / sizeof values[0]; ++i)
    FAILS(weft_wait(garbage(values[i])), WEFT_BAD_HANDLE, "a value that is no handle of Weft");
}

static void test_freed(weft_comm comm) {
  const weft_problem problem = small_problem();
  weft_plan plan = NULL, again = NULL;
  GOOD(weft_plan_create(comm, &problem, NULL, &plan));
  weft_plan copy = plan;
  GOOD(weft_plan_free(&plan));
  CHECK(plan == NULL);
  GOOD(weft_plan_free(&plan));
  GOOD(weft_plan_free(NULL));
  FAILS(weft_forward(copy, NULL, NULL), WEFT_BAD_HANDLE, "forward: a plan that was freed");
  FAILS(weft_plan_free(&copy), WEFT_BAD_HANDLE, "a plan that was freed");
  GOOD(weft_plan_create(comm, &problem, NULL, &again));  // in the slot of the first
  CHECK(again != copy);
  FAILS(weft_wait(copy), WEFT_BAD_HANDLE, "a plan that was freed");
  GOOD(weft_wait(again));
  GOOD(weft_plan_free(&again));
}

static void test_many(void) {
  weft_options all[many];
  for (int i = 0; i < many; ++i) {
    GOOD(weft_options_create(&all[i]));
    GOOD(weft_options_set_int(all[i], "tile", i));
  }
  for (int i = 0; i < many; ++i) {
    char* value = NULL;
    GOOD(weft_options_get(all[i], "tile", &value));
    int number = 0;
    for (const char* c = value; *c != 0; ++c) number = 10 * number + (*c - '0');
    CHECK(number == i);
    weft_free(value);
  }
  for (int i = 0; i < many; ++i) GOOD(weft_options_free(&all[i]));
}

void test_handles(void) {
  const weft_problem problem = small_problem();
  weft_comm comm = NULL;
  weft_options options = NULL;
  weft_team team = NULL;
  weft_plan plan = NULL;
  GOOD(weft_comm_self(&comm));
  GOOD(weft_options_create(&options));
  GOOD(weft_team_create(1, &team));
  GOOD(weft_plan_create(comm, &problem, options, &plan));
  test_kinds(comm, options, team, plan);
  test_garbage(plan);
  test_freed(comm);
  test_many();
  GOOD(weft_comm_free(&comm));  // the plan goes on
  GOOD(weft_options_free(&options));
  weft_layout layout = {.size = sizeof layout};
  GOOD(weft_plan_layout(plan, WEFT_INPUT, &layout));
  GOOD(weft_plan_free(&plan));
  GOOD(weft_team_free(&team));
}
