// Trials, what a program is told of them, how it ends them, and the wisdom that they leave.
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "check_problem.h"

static atomic_int reports, questions, answer;

static void told(const weft_trial_progress* progress) {
  ++reports;
  CHECK(progress->size == sizeof *progress && progress->trial >= 1 && progress->most_trials == 3);
  CHECK(progress->seconds > 0 && progress->best_seconds > 0 && progress->best_seconds <= progress->seconds);
  CHECK(progress->round[0] != 0 && progress->options != NULL && progress->best_options != NULL);
  CHECK(progress->seconds_left <= 20);
}

static int asked(void) {
  ++questions;
  return answer;
}

static weft_status plan_by_trials(weft_comm comm) {
  const weft_problem problem = small_problem();
  weft_options options = NULL;
  weft_plan plan = NULL;
  GOOD(weft_options_create(&options));
  GOOD(weft_options_set(options, "effort", "measure"));
  GOOD(weft_options_set_int(options, "trials", 3));
  GOOD(weft_options_set(options, "budget", "20s"));
  const weft_status status = weft_plan_create(comm, &problem, options, &plan);
  GOOD(weft_options_free(&options));
  GOOD(weft_plan_free(&plan));
  GOOD(weft_comm_barrier(comm));
  return status;
}

// Rank 0 does what concerns its whole process, while the others wait.
static void test_wisdom(weft_comm comm, int rank, const char* file) {
  int done = -1;
  if (rank == 0) {
    GOOD(weft_export_wisdom(file, &done));
    CHECK(done == 1);
    GOOD(weft_forget_wisdom());
    reports = 0;
    GOOD(weft_import_wisdom(file, &done));
    CHECK(done == 1);
    CHECK(remove(file) == 0);
    char lock[120];
    snprintf(lock, sizeof lock, "%s.lock", file);  // under which writers take turns
    remove(lock);
    GOOD(weft_import_wisdom(file, &done));
    CHECK(done == 0);
    FAILS(weft_import_wisdom(NULL, &done), WEFT_BAD_ARGUMENT, "file is NULL");
    FAILS(weft_export_wisdom(NULL, NULL), WEFT_BAD_ARGUMENT, "file is NULL");
  }
  GOOD(weft_comm_barrier(comm));
  GOOD(plan_by_trials(comm));
  CHECK(rank != 0 || reports == 0);  // wisdom made trials needless
}

void test_trials(weft_comm comm) {
  int rank = -1, size = 0;
  const char* medium = NULL;
  GOOD(weft_comm_rank(comm, &rank));
  GOOD(weft_comm_size(comm, &size));
  GOOD(weft_comm_medium(comm, &medium));
  char file[100];
  snprintf(file, sizeof file, "weft_c_test_%s_%d.wisdom", medium, size);
  if (size == 1) return;  // there is nothing to choose
  const int first_of_process = rank == 0 || strcmp(medium, "mpi") == 0;
  if (first_of_process) {
    answer = reports = questions = 0;
    GOOD(weft_forget_wisdom());
    GOOD(weft_report_trials_to(told));
    GOOD(weft_interrupt_trials_if(asked));
  }
  GOOD(weft_comm_barrier(comm));
  GOOD(plan_by_trials(comm));
  CHECK(rank != 0 || reports > 0);
  CHECK(questions > 0);
  test_wisdom(comm, rank, file);
  if (first_of_process) {
    GOOD(weft_forget_wisdom());
    answer = 1;
  }
  GOOD(weft_comm_barrier(comm));
  FAILS(plan_by_trials(comm), WEFT_FAILURE, "interrupted");
  if (first_of_process) {
    GOOD(weft_report_trials_to(NULL));
    GOOD(weft_interrupt_trials_if(NULL));
    reports = questions = 0;
  }
  GOOD(weft_comm_barrier(comm));
  GOOD(plan_by_trials(comm));
  CHECK(reports == 0 && questions == 0);
  GOOD(weft_comm_barrier(comm));
  if (first_of_process) GOOD(weft_forget_wisdom());
}
