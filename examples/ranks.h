/* What every example in C needs before it can begin: a command line, and ranks to run on. The ranks are those
 * of MPI_COMM_WORLD or the threads of this process; the body of the example cannot tell which, and is given
 * the one thing besides Weft that it needs from them, a sum. The counterpart of ranks.hpp.
 */
#ifndef WEFT_EXAMPLES_RANKS_H
#define WEFT_EXAMPLES_RANKS_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weft/weft.h"
#ifdef WEFT_WITH_MPI
#include "weft/weft_mpi.h"
#endif

#define MOST_RANKS 64

typedef struct ranks {
  weft_comm comm;
  int rank, size;
  double* parts; /* one per rank among threads; NULL among MPI ranks */
  int64_t grid;  /* points along an axis */
} ranks;

/* The body of an example: 0 if its answer is right, the same on all ranks. */
typedef int (*example_body)(const ranks* all);

/* Ends the program if a call has failed, and says why. */
static inline void check(weft_status status) {
  if (status == WEFT_SUCCESS) return;
  fprintf(stderr, "%s\n", weft_last_message());
  exit(1);
}

/* The sum of a number over all ranks, on all ranks. Collective. */
static inline double sum_of(const ranks* all, double mine) {
  double total = 0;
#ifdef WEFT_WITH_MPI
  if (all->parts == NULL) {
    MPI_Allreduce(&mine, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return total;
  }
#endif
  all->parts[all->rank] = mine;
  check(weft_comm_barrier(all->comm));
  for (int r = 0; r < all->size; ++r) total += all->parts[r];
  check(weft_comm_barrier(all->comm));
  return total;
}

/* Prints the closing line on one rank; returns 0 if the error is allowed, which NaN never is. */
static inline int closing(const ranks* all, const char* name, double error, double allowed) {
  const int right = error <= allowed;
  if (all->rank == 0)
    printf("%s: error %.1e (allowed %.0e): %s\n", name, error, allowed, right ? "right" : "WRONG");
  return right ? 0 : 1;
}

static inline int run_body(example_body body, ranks all) {
  check(weft_comm_rank(all.comm, &all.rank));
  check(weft_comm_size(all.comm, &all.size));
  return body(&all);
}

typedef struct thread_data {
  example_body body;
  ranks all;
} thread_data;

static inline int run_thread(weft_comm comm, void* data) {
  const thread_data* const given = data;
  ranks mine = given->all;
  mine.comm = comm;
  return run_body(given->body, mine);
}

static inline int run_on_threads(example_body body, int size, int64_t grid) {
  double parts[MOST_RANKS];
  thread_data data = {body, {NULL, 0, 0, parts, grid}};
  weft_team team = NULL;
  check(weft_team_create(size, &team));
  const weft_status status = weft_team_run(team, run_thread, &data);
  check(weft_team_free(&team));
  return status == WEFT_SUCCESS ? 0 : 1;
}

#ifdef WEFT_WITH_MPI
static inline int run_on_mpi(example_body body, int64_t grid) {
  MPI_Init(NULL, NULL);
  ranks all = {NULL, 0, 0, NULL, grid};
  check(weft_comm_mpi(MPI_COMM_WORLD, &all.comm));
  const int result = run_body(body, all);
  check(weft_comm_free(&all.comm));
  MPI_Finalize();
  return result;
}
#endif

/* The whole of main: [--grid N] [--comm mpi|threads:P]. */
static inline int run_example(int argc, char** argv, int64_t grid, example_body body) {
#ifdef WEFT_WITH_MPI
  const char* comm = "mpi";
#else
  const char* comm = "threads:4";
#endif
  for (int i = 1; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--grid") == 0) grid = atoll(argv[i + 1]);
    if (strcmp(argv[i], "--comm") == 0) comm = argv[i + 1];
  }
  const int threads = strncmp(comm, "threads:", 8) == 0 ? atoi(comm + 8) : 0;
  if (grid >= 2 && grid <= 4096 && threads > 0 && threads <= MOST_RANKS)
    return run_on_threads(body, threads, grid);
#ifdef WEFT_WITH_MPI
  if (grid >= 2 && grid <= 4096 && strcmp(comm, "mpi") == 0) return run_on_mpi(body, grid);
#endif
  fprintf(stderr, "usage: %s [--grid N] [--comm mpi|threads:P], with 2 <= N <= 4096 and 1 <= P <= %d\n",
          argv[0], MOST_RANKS);
  return 2;
}

#endif
