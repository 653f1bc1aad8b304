// Mistakes in plans. What is wrong on one rank only fails on all, says the same there, and leaves them able
// to go on.
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "check_problem.h"

typedef struct mistake {
  const char* message;
  weft_status status;
  void (*make)(weft_problem* problem, weft_distribution* input);
} mistake;

typedef struct later_problem {
  weft_problem known;
  int64_t later;
} later_problem;

static void small(weft_problem* p, weft_distribution* d) {
  (void)d;
  p->size = offsetof(weft_problem, line) - 8;  // the first version ends there
}
static void huge(weft_problem* p, weft_distribution* d) {
  (void)d;
  p->size = SIZE_MAX / 2;
}
static void no_size(weft_problem* p, weft_distribution* d) {
  (void)d;
  p->size = 0;
}
static void later(weft_problem* p, weft_distribution* d) {
  (void)d;
  p->size = sizeof(later_problem);
  ((later_problem*)p)->later = 5;
}
static void axes(weft_problem* p, weft_distribution* d) {
  (void)d;
  p->ndim = 9;
}
static void no_axes(weft_problem* p, weft_distribution* d) {
  (void)d;
  p->ndim = 0;
}
static void transform(weft_problem* p, weft_distribution* d) {
  (void)d;
  const int number = 77;
  memcpy(&p->transforms[1], &number, sizeof number);
}
static void precision(weft_problem* p, weft_distribution* d) {
  (void)d;
  const int number = -1;
  memcpy(&p->precision, &number, sizeof number);
}
static void memory(weft_problem* p, weft_distribution* d) {
  (void)d;
  const int number = 2;
  memcpy(&p->memory, &number, sizeof number);
}
static void element(weft_problem* p, weft_distribution* d) {
  (void)d;
  const int number = 3;
  memcpy(&p->element, &number, sizeof number);
}
static void scale(weft_problem* p, weft_distribution* d) {
  (void)d;
  const int number = 3;
  memcpy(&p->backward_scale, &number, sizeof number);
}
static void cut(weft_problem* p, weft_distribution* d) {
  (void)p;
  const int number = 9;
  memcpy(&d->cut, &number, sizeof number);
}
static void no_boxes(weft_problem* p, weft_distribution* d) {
  (void)p;
  d->cut = WEFT_BOX;
}
static void distribution_size(weft_problem* p, weft_distribution* d) {
  (void)p;
  d->size = 8;
}
static void order(weft_problem* p, weft_distribution* d) {
  (void)p;
  d->order[0] = d->order[1] = 1;
}
static void strides(weft_problem* p, weft_distribution* d) {
  (void)p;
  d->strides[0] = 1;
}
static void length(weft_problem* p, weft_distribution* d) {
  (void)d;
  p->shape[2] = -4;
}

static const mistake mistakes[] = {
    {"weft_problem has the size", WEFT_BAD_ARGUMENT, small},
    {"weft_problem has the size", WEFT_BAD_ARGUMENT, huge},
    {"weft_problem has the size 0; expected sizeof(weft_problem)", WEFT_BAD_ARGUMENT, no_size},
    {"that this version of the library does not know", WEFT_BAD_ARGUMENT, later},
    {"plan: shape: 9 axes", WEFT_BAD_ARGUMENT, axes},
    {"plan: shape: 0 axes", WEFT_BAD_ARGUMENT, no_axes},
    {"plan: transforms along axis 1: 77; expected a value of weft_transform, 0 to 10", WEFT_BAD_ARGUMENT,
     transform},
    {"plan: precision: -1", WEFT_BAD_ARGUMENT, precision},
    {"plan: memory: 2", WEFT_BAD_ARGUMENT, memory},
    {"plan: element: 3", WEFT_BAD_ARGUMENT, element},
    {"plan: backward scale: 3", WEFT_BAD_ARGUMENT, scale},
    {"plan: input cut: 9; expected a value of weft_cut, 0 to 8", WEFT_BAD_ARGUMENT, cut},
    {"plan: input: boxes is NULL", WEFT_BAD_ARGUMENT, no_boxes},
    {"weft_distribution has the size 8", WEFT_BAD_ARGUMENT, distribution_size},
    {"order", WEFT_FAILURE, order},
    {"strides", WEFT_FAILURE, strides},
    {"shape", WEFT_FAILURE, length},
};

// On one rank or on all, and afterwards the ranks can go on.
static void fails_together(weft_comm comm, int wrong, weft_status status, const char* message,
                           const weft_problem* problem, weft_options options, weft_plan* plan) {
  int rank = -1;
  GOOD(weft_comm_rank(comm, &rank));
  const weft_status mine = rank == wrong ? status : WEFT_FAILURE;
  FAILS(weft_plan_create(comm, problem, options, plan), mine, message);
  weft_error error = {.size = sizeof error};
  GOOD(weft_last_error(&error));
  CHECK(error.rank == wrong);
  GOOD(weft_comm_barrier(comm));
}

static void test_wrong_on_one(weft_comm comm, int rank, int wrong) {
  weft_plan plan = NULL;
  for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; ++i) {
    later_problem problem = {.known = small_problem()};
    weft_distribution input = {.size = sizeof input};
    problem.known.input = &input;
    if (rank == wrong) mistakes[i].make(&problem.known, &input);
    fails_together(comm, wrong, mistakes[i].status, mistakes[i].message, &problem.known, NULL, &plan);
  }
  const weft_problem problem = small_problem();
  weft_options freed = NULL;
  GOOD(weft_options_create(&freed));
  weft_options copy = freed;
  GOOD(weft_options_free(&freed));
  const int mine = rank == wrong;
  fails_together(comm, wrong, WEFT_BAD_ARGUMENT, "problem is NULL", mine ? NULL : &problem, NULL, &plan);
  fails_together(comm, wrong, WEFT_BAD_ARGUMENT, "plan is NULL", &problem, NULL, mine ? NULL : &plan);
  fails_together(comm, wrong, WEFT_BAD_HANDLE, "options that was freed", &problem, mine ? copy : NULL, &plan);
  CHECK(plan == NULL);
}

static void test_later_members(weft_comm comm) {
  later_problem problem = {.known = small_problem()};
  problem.known.size = sizeof problem;  // a member that is zero need not be known
  weft_plan plan = NULL;
  GOOD(weft_plan_create(comm, &problem.known, NULL, &plan));
  struct {
    weft_layout known;
    int64_t later;
  } layout = {.known = {.size = sizeof layout}, .later = 5};
  GOOD(weft_plan_layout(plan, WEFT_OUTPUT, &layout.known));
  CHECK(layout.later == 0 && layout.known.size == sizeof layout && layout.known.box.ndim == 3);
  GOOD(weft_plan_free(&plan));
}

static void test_executions(weft_comm comm) {
  const weft_problem problem = small_problem();
  weft_plan plan = NULL;
  int complete = 0;
  char* text = NULL;
  weft_layout layout = {.size = sizeof layout};
  const int number = 2;
  weft_direction sideways;
  weft_side third;
  memcpy(&sideways, &number, sizeof number);
  memcpy(&third, &number, sizeof number);
  GOOD(weft_plan_create(comm, &problem, NULL, &plan));
  FAILS(weft_execute(plan, sideways, NULL, NULL, NULL, 0), WEFT_BAD_ARGUMENT, "execute: 2");
  FAILS(weft_start(plan, sideways, NULL, NULL, NULL, 0), WEFT_BAD_ARGUMENT, "start: 2");
  FAILS(weft_plan_program(plan, sideways, &text), WEFT_BAD_ARGUMENT, "plan: program: 2");
  FAILS(weft_plan_layout(plan, third, &layout), WEFT_BAD_ARGUMENT, "a value of weft_side");
  FAILS(weft_plan_layout(plan, WEFT_INPUT, NULL), WEFT_BAD_ARGUMENT, "layout is NULL");
  layout.size = 4;
  FAILS(weft_plan_layout(plan, WEFT_INPUT, &layout), WEFT_BAD_ARGUMENT, "weft_layout has the size 4");
  FAILS(weft_test(plan, NULL), WEFT_BAD_ARGUMENT, "complete is NULL");
  FAILS(weft_plan_set_stream(plan, NULL), WEFT_FAILURE, "host");
  FAILS(weft_forward(plan, &layout, &layout), WEFT_FAILURE, "forward");  // out of place, and one array
  GOOD(weft_test(plan, &complete));
  CHECK(complete == 1);
  GOOD(weft_plan_free(&plan));
}

// A mistake of the last rank in an execution, where the ranks look for each other's, and in a split.
static void test_one_rank_alone(weft_comm comm, int rank, int size) {
  const weft_problem problem = small_problem();
  const int wrong = rank == size - 1, number = 2;
  weft_options options = NULL;
  weft_plan plan = NULL;
  weft_comm part = NULL;
  size_t bytes = 0;
  void *in = NULL, *out = NULL;
  weft_direction direction = WEFT_FORWARD;
  GOOD(weft_options_create(&options));
  GOOD(weft_options_set(options, "check", "collective"));
  GOOD(weft_plan_create(comm, &problem, options, &plan));
  GOOD(weft_options_free(&options));
  GOOD(weft_plan_buffer_bytes(plan, &bytes));
  GOOD(weft_alloc(bytes, &in));
  GOOD(weft_alloc(bytes, &out));
  if (wrong) memcpy(&direction, &number, sizeof number);
  const weft_status expected = wrong ? WEFT_BAD_ARGUMENT : WEFT_FAILURE;
  FAILS(weft_execute(plan, direction, in, out, NULL, 0), expected, "execute: 2; expected");
  FAILS(weft_start(plan, direction, in, out, NULL, 0), expected, "start: 2; expected");
  GOOD(weft_forward(plan, in, out));
  weft_free(in);
  weft_free(out);
  GOOD(weft_plan_free(&plan));
  if (wrong) {
    FAILS(weft_comm_split(comm, 0, NULL), WEFT_BAD_ARGUMENT, "part is NULL");
  } else {
    GOOD(weft_comm_split(comm, 0, &part));
    GOOD(weft_comm_free(&part));
  }
  GOOD(weft_comm_barrier(comm));
}

void test_errors(weft_comm comm) {
  int rank = -1, size = 0;
  GOOD(weft_comm_rank(comm, &rank));
  GOOD(weft_comm_size(comm, &size));
  test_wrong_on_one(comm, rank, size - 1);
  if (size > 1) test_wrong_on_one(comm, rank, 0);
  test_later_members(comm);
  test_executions(comm);
  test_one_rank_alone(comm, rank, size);
}
