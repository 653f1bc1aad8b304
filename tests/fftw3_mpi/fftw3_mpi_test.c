/* A program written for FFTW's MPI library, on any number of ranks: every planning function, layouts and
   flags, compared with serial FFTW on the whole array; plans of both in the same functions; what has to be
   refused. With an argument it checks one thing alone: "behind", that FFTW in front of the library is
   noticed. SINGLE: in float. Prints one line, and what is wrong; exits with 1 if anything is. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fftw3-mpi.h>

#ifdef SINGLE
#define FFTW(name) fftwf_##name
#define EPSILON FLT_EPSILON
typedef float real;
#else
#define FFTW(name) fftw_##name
#define EPSILON DBL_EPSILON
typedef double real;
#endif

enum { most_axes = 4, guards = 8 };
enum kind { dft, r2c, c2r, r2r, transpose };
static const char* const names[] = {"dft", "r2c", "c2r", "r2r", "transpose"};

struct problem {
  enum kind kind;
  int axes;
  ptrdiff_t n[most_axes];
  ptrdiff_t howmany, in_block, out_block;
  unsigned flags;
  int sign;
  FFTW(r2r_kind) kinds[most_axes];
};

/* How one array of a transform lies on this rank. */
struct side {
  int axes, cut, swapped, reals; /* reals: of one number */
  ptrdiff_t n[most_axes];        /* of the whole array */
  ptrdiff_t start, count, howmany;
  ptrdiff_t room; /* numbers in a line of the last axis, with padding */
};

static int rank, ranks, failures, checks;

static void expect(int right, const char* what) {
  ++checks;
  if (right) return;
  ++failures;
  fprintf(stderr, "rank %d of %d: %s\n", rank, ranks, what);
}

/* The place in the whole array of the number at `place` of this rank's; -1 for padding. */
static ptrdiff_t whole_place(const struct side* s, ptrdiff_t place) {
  ptrdiff_t at[most_axes], whole = 0;
  const ptrdiff_t item = place % s->howmany;
  place /= s->howmany;
  for (int m = s->axes - 1; m >= 0; --m) {
    const int axis = s->swapped && m < 2 ? 1 - m : m;
    const ptrdiff_t length = axis == s->cut ? s->count : axis == s->axes - 1 ? s->room : s->n[axis];
    at[axis] = place % length;
    place /= length;
    if (at[axis] >= s->n[axis]) return -1;
  }
  at[s->cut] += s->start;
  for (int axis = 0; axis < s->axes; ++axis) whole = whole * s->n[axis] + at[axis];
  return whole * s->howmany + item;
}

static ptrdiff_t numbers(const struct side* s) {
  ptrdiff_t all = s->howmany * s->count;
  for (int axis = 0; axis < s->axes; ++axis)
    if (axis != s->cut) all *= axis == s->axes - 1 ? s->room : s->n[axis];
  return all;
}

static ptrdiff_t whole_numbers(const struct side* s) {
  ptrdiff_t all = s->howmany;
  for (int axis = 0; axis < s->axes; ++axis) all *= s->n[axis];
  return all;
}

static void take_part(const struct side* s, const real* whole, real* mine) {
  for (ptrdiff_t i = 0; i < numbers(s); ++i) {
    const ptrdiff_t from = whole_place(s, i);
    for (int k = 0; k < s->reals; ++k) mine[i * s->reals + k] = from < 0 ? 99 : whole[from * s->reals + k];
  }
}

static double difference(const struct side* s, const real* whole, const real* mine) {
  double most = 0;
  for (ptrdiff_t i = 0; i < numbers(s); ++i) {
    const ptrdiff_t at = whole_place(s, i);
    for (int k = 0; k < s->reals && at >= 0; ++k) {
      const double d = fabs((double)mine[i * s->reals + k] - whole[at * s->reals + k]);
      if (!(d <= most)) most = d; /* also if it is not a number */
    }
  }
  return most;
}

static double largest(const real* x, ptrdiff_t count) {
  double most = 0;
  for (ptrdiff_t i = 0; i < count; ++i) most = fmax(most, fabs((double)x[i]));
  return most;
}

static void fill(real* x, ptrdiff_t count) {
  unsigned state = 12345;
  for (ptrdiff_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    x[i] = (real)(state >> 8) / (real)(1 << 23) - 1;
  }
}

/* What serial FFTW makes of the whole array. Of c2r, `in` becomes the transform of a real array. */
static void serial(const struct problem* p, real* in, real* out, ptrdiff_t in_reals) {
  const int h = (int)p->howmany;
  int n[most_axes];
  FFTW(plan) plan = NULL;
  real* kept = malloc(sizeof(real) * (size_t)in_reals);
  for (int a = 0; a < p->axes; ++a) n[a] = (int)p->n[a];
  fill(in, in_reals);
  if (p->kind == transpose) {
    for (int i = 0; i < n[0] * n[1] * h; ++i) out[i] = in[i];
  } else if (p->kind == dft) {
    plan = FFTW(plan_many_dft)(p->axes, n, h, (FFTW(complex)*)in, NULL, h, 1, (FFTW(complex)*)out, NULL, h, 1,
                               p->sign, FFTW_ESTIMATE);
  } else if (p->kind == r2c) {
    plan = FFTW(plan_many_dft_r2c)(p->axes, n, h, in, NULL, h, 1, (FFTW(complex)*)out, NULL, h, 1,
                                   FFTW_ESTIMATE);
  } else if (p->kind == r2r) {
    plan = FFTW(plan_many_r2r)(p->axes, n, h, in, NULL, h, 1, out, NULL, h, 1, p->kinds, FFTW_ESTIMATE);
  } else {
    FFTW(plan)
    there = FFTW(plan_many_dft_r2c)(p->axes, n, h, out, NULL, h, 1, (FFTW(complex)*)in, NULL, h, 1,
                                    FFTW_ESTIMATE);
    ptrdiff_t points = h;
    for (int a = 0; a < p->axes; ++a) points *= n[a];
    fill(out, points);
    FFTW(execute)(there);
    FFTW(destroy_plan)(there);
    plan = FFTW(plan_many_dft_c2r)(p->axes, n, h, (FFTW(complex)*)in, NULL, h, 1, out, NULL, h, 1,
                                   FFTW_ESTIMATE);
  }
  memcpy(kept, in, sizeof(real) * (size_t)in_reals); /* c2r overwrites it */
  if (plan != NULL) FFTW(execute)(plan);
  FFTW(destroy_plan)(plan);
  memcpy(in, kept, sizeof(real) * (size_t)in_reals);
  free(kept);
}

static FFTW(plan) planned(const struct problem* p, void* in, void* out, MPI_Comm comm) {
  switch (p->kind) {
    case dft:
      return FFTW(mpi_plan_many_dft)(p->axes, p->n, p->howmany, p->in_block, p->out_block, in, out, comm,
                                     p->sign, p->flags);
    case r2c:
      return FFTW(mpi_plan_many_dft_r2c)(p->axes, p->n, p->howmany, p->in_block, p->out_block, in, out, comm,
                                         p->flags);
    case c2r:
      return FFTW(mpi_plan_many_dft_c2r)(p->axes, p->n, p->howmany, p->in_block, p->out_block, in, out, comm,
                                         p->flags);
    case r2r:
      return FFTW(mpi_plan_many_r2r)(p->axes, p->n, p->howmany, p->in_block, p->out_block, in, out, comm,
                                     p->kinds, p->flags);
    default:
      return FFTW(mpi_plan_many_transpose)(p->n[0], p->n[1], p->howmany, p->in_block, p->out_block, in, out,
                                           comm, p->flags);
  }
}

static void execute_on(const struct problem* p, FFTW(plan) plan, void* in, void* out) {
  if (p->kind == dft) FFTW(mpi_execute_dft)(plan, in, out);
  if (p->kind == r2c) FFTW(mpi_execute_dft_r2c)(plan, in, out);
  if (p->kind == c2r) FFTW(mpi_execute_dft_c2r)(plan, in, out);
  if (p->kind == r2r || p->kind == transpose) FFTW(mpi_execute_r2r)(plan, in, out);
}

/* One array and two; on the arrays of planning and on others. */
static void check_problem(const struct problem* p, MPI_Comm comm) {
  const int real_side = p->kind == r2c || p->kind == c2r, last = p->axes - 1;
  const int reals = p->kind == r2r || p->kind == transpose ? 1 : 2;
  const int in_cut = (p->flags & FFTW_MPI_TRANSPOSED_IN) != 0 && p->kind != transpose;
  const int out_cut = (p->flags & FFTW_MPI_TRANSPOSED_OUT) != 0 || p->kind == transpose;
  ptrdiff_t cut_n[most_axes], room[2];
  struct side in = {.axes = p->axes, .cut = in_cut, .reals = reals, .howmany = p->howmany}, out = in;
  char what[160];

  memcpy(cut_n, p->n, sizeof cut_n);
  if (real_side) cut_n[last] = p->n[last] / 2 + 1;
  memcpy(in.n, cut_n, sizeof cut_n);
  memcpy(out.n, cut_n, sizeof cut_n);
  out.cut = out_cut;
  for (int k = 0; k < 2; ++k) {
    struct side* const s = k == 0 ? &in : &out;
    const ptrdiff_t block = k == 0 ? p->in_block : p->out_block;
    ptrdiff_t n[2], start[2];
    room[k] =
        FFTW(mpi_local_size_many_transposed)(p->axes, cut_n, p->howmany, s->cut ? 0 : block,
                                             s->cut ? block : 0, comm, &n[0], &start[0], &n[1], &start[1]);
    s->count = n[s->cut];
    s->start = start[s->cut];
  }
  in.swapped = (p->flags & FFTW_MPI_TRANSPOSED_IN) != 0;
  out.swapped = ((p->flags & FFTW_MPI_TRANSPOSED_OUT) != 0) != (p->kind == transpose);
  in.room = out.room = cut_n[last];
  if (p->kind == r2c || p->kind == c2r) {
    struct side* s = p->kind == r2c ? &in : &out;
    s->n[last] = p->n[last];
    s->reals = 1;
    s->room = 2 * (p->n[last] / 2 + 1);
  }

  const ptrdiff_t in_reals = whole_numbers(&in) * in.reals, out_reals = whole_numbers(&out) * out.reals;
  const ptrdiff_t bytes = (ptrdiff_t)sizeof(real);
  real *whole_in = malloc((size_t)(in_reals * bytes)), *whole_out = malloc((size_t)(out_reals * bytes));
  serial(p, whole_in, whole_out, in_reals);
  const double allowed = 8 * EPSILON * log2((double)out_reals + 2) * (largest(whole_out, out_reals) + 1);

  for (int variant = 0; variant < 4; ++variant) {
    const int in_place = variant % 2, elsewhere = variant / 2;
    const ptrdiff_t size = (room[0] > room[1] ? room[0] : room[1]) * reals;
    real* arrays[4];
    for (int k = 0; k < 4; ++k) {
      arrays[k] = FFTW(alloc_real)((size_t)(size + guards));
      for (ptrdiff_t i = 0; i < size + guards; ++i) arrays[k][i] = -7;
    }
    real *const from = arrays[2 * elsewhere], *const to = in_place ? from : arrays[2 * elsewhere + 1];
    snprintf(what, sizeof what, "%s %tdx%tdx%td of %d axes, howmany %td, flags %#x, %s, %s", names[p->kind],
             p->n[0], p->n[1], p->n[2], p->axes, p->howmany, p->flags, in_place ? "in place" : "out of place",
             elsewhere ? "other arrays" : "");
    FFTW(plan) plan = planned(p, arrays[0], in_place ? arrays[0] : arrays[1], comm);
    expect(plan != NULL, what);
    if (plan == NULL) break;
    for (int again = 0; again < 2; ++again) {
      take_part(&in, whole_in, from);
      if (elsewhere) {
        execute_on(p, plan, from, to);
      } else {
        FFTW(execute)(plan);
      }
      const double error = difference(&out, whole_out, to);
      if (!(error <= allowed)) fprintf(stderr, "error %g, allowed %g\n", error, allowed);
      expect(error <= allowed, what);
      expect(in_place || difference(&in, whole_in, from) == 0, "the input was changed");
    }
    FFTW(destroy_plan)(plan);
    for (int k = 0; k < 4; ++k)
      for (int i = 0; i < guards; ++i) expect(arrays[k][size + i] == -7, "written behind an array");
    for (int k = 0; k < 4; ++k) FFTW(free)(arrays[k]);
  }
  free(whole_in);
  free(whole_out);
}

#define IN FFTW_MPI_TRANSPOSED_IN
#define OUT FFTW_MPI_TRANSPOSED_OUT
#define E FFTW_ESTIMATE

static void check_problems(MPI_Comm comm) {
  /* A transpose's blocks are of the first and of the second axis. */
  const struct problem problems[] = {
      {dft, 1, {12}, 2, 0, 0, E, FFTW_FORWARD, {0}},
      {r2r, 1, {9}, 1, 0, 0, E, 0, {FFTW_REDFT10}},
      {dft, 2, {9, 7}, 1, 0, 0, E, FFTW_FORWARD, {0}},
      {dft, 2, {5, 12}, 3, 0, 0, E | IN, FFTW_BACKWARD, {0}},
      {dft, 2, {2, 3}, 1, 0, 0, E | IN | OUT, FFTW_FORWARD, {0}}, /* some ranks hold nothing */
      {dft, 3, {6, 5, 8}, 1, 0, 0, E, FFTW_BACKWARD, {0}},
      {dft, 3, {6, 5, 4}, 2, 0, 0, E | OUT, FFTW_FORWARD, {0}},
      {dft, 3, {7, 6, 5}, 1, 5, 0, E | FFTW_UNALIGNED, FFTW_FORWARD, {0}},
      {dft, 3, {8, 9, 3}, 1, 4, 3, E | OUT, FFTW_BACKWARD, {0}},
      {dft, 3, {8, 9, 3}, 1, 3, 4, E | IN, FFTW_BACKWARD, {0}},
      {dft, 4, {3, 4, 2, 5}, 1, 0, 0, E | OUT, FFTW_FORWARD, {0}},
      {r2c, 2, {6, 9}, 1, 0, 0, E, 0, {0}},
      {r2c, 2, {7, 8}, 2, 0, 0, E | OUT, 0, {0}},
      {r2c, 3, {6, 5, 7}, 1, 0, 0, E | OUT, 0, {0}},
      {r2c, 3, {4, 6, 8}, 3, 0, 0, E, 0, {0}},
      {r2c, 3, {1, 1, 6}, 2, 0, 0, E | OUT, 0, {0}},
      {c2r, 2, {6, 9}, 1, 0, 0, E | IN, 0, {0}},
      {c2r, 3, {5, 6, 7}, 1, 0, 0, E, 0, {0}},
      {c2r, 3, {5, 6, 8}, 2, 0, 0, E, 0, {0}},
      {c2r, 3, {6, 5, 4}, 2, 2, 6, E | IN, 0, {0}},
      {r2r, 2, {6, 7}, 1, 0, 0, E, 0, {FFTW_REDFT10, FFTW_RODFT10}},
      {r2r, 2, {6, 7}, 2, 0, 0, E | OUT, 0, {FFTW_REDFT01, FFTW_RODFT01}},
      {r2r, 3, {5, 6, 4}, 1, 0, 0, E | IN, 0, {FFTW_REDFT00, FFTW_REDFT11, FFTW_RODFT11}},
      {r2r, 3, {5, 4, 6}, 1, 0, 0, E, 0, {FFTW_RODFT00, FFTW_REDFT10, FFTW_RODFT10}},
      {transpose, 2, {7, 10}, 1, 0, 0, E, 0, {0}},
      {transpose, 2, {6, 5}, 3, 0, 0, E | IN, 0, {0}},
      {transpose, 2, {6, 5}, 2, 4, 3, E | OUT, 0, {0}},
  };
  int size;
  MPI_Comm_size(comm, &size);
  for (size_t i = 0; i < sizeof problems / sizeof problems[0]; ++i) {
    const struct problem* p = &problems[i];
    const ptrdiff_t first = p->flags & IN && p->kind != transpose ? p->n[1] : p->n[0],
                    second = p->flags & OUT || p->kind == transpose ? p->n[1] : p->n[0];
    const int fits = (p->in_block == 0 || (first - 1) / p->in_block < size) &&
                     (p->out_block == 0 || (second - 1) / p->out_block < size);
    if (fits && (p->axes > 1 || size == 1 || p->howmany >= size)) check_problem(p, comm);
  }
}

/* The functions that fill in what is usual, against the ones above. */
static void check_short_forms(void) {
  const ptrdiff_t n[] = {6, 4, 5};
  ptrdiff_t a[4], b[4];
  expect(FFTW(mpi_local_size)(3, n, MPI_COMM_WORLD, a, a + 1) ==
                 FFTW(mpi_local_size_3d)(6, 4, 5, MPI_COMM_WORLD, b, b + 1) &&
             a[0] == b[0] && a[1] == b[1],
         "local_size and local_size_3d differ");
  expect(FFTW(mpi_local_size_transposed)(2, n, MPI_COMM_WORLD, a, a + 1, a + 2, a + 3) ==
                 FFTW(mpi_local_size_2d_transposed)(6, 4, MPI_COMM_WORLD, b, b + 1, b + 2, b + 3) &&
             memcmp(a, b, sizeof a) == 0,
         "local_size_transposed and local_size_2d_transposed differ");
  /* Blocks are of ceil(n/P) rows, the last ranks have less or none. */
  const ptrdiff_t block = (6 + ranks - 1) / ranks, left = 6 - rank * block;
  FFTW(mpi_local_size_2d)(6, 4, MPI_COMM_WORLD, a, a + 1);
  expect(a[0] == (left < 0       ? 0
                  : left < block ? left
                                 : block) &&
             a[1] == (left > 0 ? rank * block : 0),
         "a wrong default block");

  FFTW(complex)* const data = FFTW(alloc_complex)(6 * 4 * 5 * 2);
  FFTW(plan)
  plans[] = {
      FFTW(mpi_plan_dft_2d)(6, 4, data, data, MPI_COMM_WORLD, FFTW_FORWARD, E),
      FFTW(mpi_plan_dft_3d)(6, 4, 5, data, data, MPI_COMM_WORLD, FFTW_FORWARD, E),
      FFTW(mpi_plan_dft)(3, n, data, data, MPI_COMM_WORLD, FFTW_BACKWARD, E),
      FFTW(mpi_plan_dft_r2c_2d)(6, 4, (real*)data, data, MPI_COMM_WORLD, E),
      FFTW(mpi_plan_dft_r2c_3d)(6, 4, 5, (real*)data, data, MPI_COMM_WORLD, E),
      FFTW(mpi_plan_dft_c2r_2d)(6, 4, data, (real*)data, MPI_COMM_WORLD, E),
      FFTW(mpi_plan_dft_c2r_3d)(6, 4, 5, data, (real*)data, MPI_COMM_WORLD, E),
      FFTW(mpi_plan_r2r_2d)(6, 4, (real*)data, (real*)data, MPI_COMM_WORLD, FFTW_REDFT10, FFTW_REDFT10, E),
      FFTW(mpi_plan_r2r_3d)(6, 4, 5, (real*)data, (real*)data, MPI_COMM_WORLD, FFTW_REDFT10, FFTW_REDFT10,
                            FFTW_RODFT00, E),
      FFTW(mpi_plan_transpose)(6, 4, (real*)data, (real*)data, MPI_COMM_WORLD, E),
  };
  for (size_t i = 0; i < sizeof plans / sizeof plans[0]; ++i) {
    expect(plans[i] != NULL, "a short form gave no plan");
    FFTW(destroy_plan)(plans[i]);
  }
  FFTW(free)(data);
}

/* What FFTW's other functions say of a plan of each library. */
static void check_both_kinds_of_plans(void) {
  FFTW(complex)* const x = FFTW(alloc_complex)(64);
  FFTW(plan)
  plans[2] = {FFTW(mpi_plan_dft_2d)(8, 8, x, x, MPI_COMM_WORLD, FFTW_FORWARD, FFTW_MEASURE),
              FFTW(plan_dft_2d)(8, 8, x, x, FFTW_FORWARD, E)};
  expect(plans[0] != NULL, "no plan with FFTW_MEASURE");
  for (int k = 0; k < 2; ++k) {
    double add = -1, mul = -1, fma = -1;
    FFTW(flops)(plans[k], &add, &mul, &fma);
    expect(add + mul + fma > 0, "fftw_flops says that a transform is free");
    expect(FFTW(cost)(plans[k]) >= 0 && FFTW(estimate_cost)(plans[k]) > 0, "a negative cost");
    char* const text = FFTW(sprint_plan)(plans[k]);
    expect(text != NULL && strstr(text, k == 0 ? "8x8" : "dft") != NULL, "a plan does not print what it is");
    free(text);
    FILE* const file = tmpfile();
    FFTW(fprint_plan)(plans[k], file);
    expect(ftell(file) > 0, "fprint_plan prints nothing");
    fclose(file);
    FFTW(destroy_plan)(plans[k]);
  }
  FFTW(destroy_plan)(NULL);
  FFTW(free)(x);
}

/* Threads are Weft's: its local FFTs are planned for one thread of FFTW's, whatever the program has asked
 * FFTW for. */
static void check_threads(void) {
  FFTW(complex)* const x = FFTW(alloc_complex)(64);
  FFTW(init_threads)();
  FFTW(plan_with_nthreads)(2);
  FFTW(plan) plan = FFTW(mpi_plan_dft_2d)(8, 8, x, x, MPI_COMM_WORLD, FFTW_FORWARD, E);
  expect(FFTW(planner_nthreads)() == 2, "planning changed what FFTW's planner had been told");
  char* const text = FFTW(sprint_plan)(plan);
  expect(strstr(text, "threads 2 per rank") != NULL, "fftw_plan_with_nthreads has no effect");
  free(text);
  FFTW(destroy_plan)(plan);
  FFTW(plan_with_nthreads)(1);
  FFTW(free)(x);
}

/* One dimension, whose sizes differ between input and output and with the sign. */
static void check_line(ptrdiff_t n, ptrdiff_t howmany, int sign, int in_place, unsigned flags) {
  const struct problem p = {dft, 1, {n}, howmany, 0, 0, E, sign, {0}};
  const size_t all = (size_t)(2 * n * howmany);
  real *in = malloc(all * sizeof(real)), *out = malloc(all * sizeof(real));
  serial(&p, in, out, (ptrdiff_t)all);
  ptrdiff_t ni, i_start, no, o_start;
  const ptrdiff_t room =
      FFTW(mpi_local_size_many_1d)(n, howmany, MPI_COMM_WORLD, sign, flags, &ni, &i_start, &no, &o_start);
  expect(room >= ni * howmany && room >= no * howmany, "room of a line");
  real* const x = FFTW(alloc_real)((size_t)(2 * room));
  real* const y = in_place ? x : FFTW(alloc_real)((size_t)(2 * room));
  FFTW(plan)
  plan = FFTW(mpi_plan_many_dft)(1, &n, howmany, FFTW_MPI_DEFAULT_BLOCK, FFTW_MPI_DEFAULT_BLOCK,
                                 (FFTW(complex)*)x, (FFTW(complex)*)y, MPI_COMM_WORLD, sign, E | flags);
  expect(plan != NULL, "no plan of one dimension");
  if (ni > 0) memcpy(x, in + 2 * i_start * howmany, (size_t)(2 * ni * howmany) * sizeof(real));
  if (plan != NULL) FFTW(execute)(plan);
  double most = 0;
  for (ptrdiff_t i = 0; i < 2 * no * howmany; ++i)
    most = fmax(most, fabs((double)y[i] - (double)out[2 * o_start * howmany + i]));
  expect(most <= 20 * EPSILON * largest(out, (ptrdiff_t)all), "a line differs from serial FFTW's");
  long mine[2] = {(long)ni, (long)no}, sums[2];
  MPI_Allreduce(mine, sums, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  expect(sums[0] == n && sums[1] == n, "parts of a line that are not all of it");
  FFTW(destroy_plan)(plan);
  FFTW(free)(x);
  if (!in_place) FFTW(free)(y);
  free(in);
  free(out);
}

/* With as many numbers in a point as ranks, the forms that know no sign serve as well, and blocks. */
static void check_wide_points(void) {
  const FFTW(r2r_kind) kinds[] = {FFTW_REDFT10};
  const struct problem wide[] = {{dft, 1, {35}, ranks + 1, 0, 0, E, FFTW_FORWARD, {0}},
                                 {dft, 1, {24}, ranks, 0, 0, E, FFTW_BACKWARD, {0}},
                                 {dft, 1, {13}, ranks, 13, 7, E, FFTW_FORWARD, {0}},
                                 {r2r, 1, {30}, 2 * ranks, 0, 0, E, 0, {kinds[0]}}};
  for (size_t i = 0; i < sizeof wide / sizeof *wide; ++i)
    if (ranks > 1 || wide[i].out_block == 0) check_problem(&wide[i], MPI_COMM_WORLD);
}

static void check_lines(void) {
  const ptrdiff_t lengths[] = {1, 4, 13, 24, 35, 64, 1000};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; ++i)
    for (int k = 0; k < 8; ++k)
      check_line(lengths[i], 1 + k / 4, k % 2 ? FFTW_FORWARD : FFTW_BACKWARD, k / 2 % 2,
                 k == 3 ? FFTW_MPI_SCRAMBLED_OUT : 0);
}

static void check_refusals(void) {
  FFTW(complex)* const x = FFTW(alloc_complex)(256);
  real* const r = (real*)x;
  const ptrdiff_t n[] = {8, 8};
  const FFTW(r2r_kind) hartley[] = {FFTW_DHT, FFTW_REDFT10};
  FFTW(plan) one = FFTW(mpi_plan_r2r)(1, n, r, r, MPI_COMM_WORLD, hartley + 1, E);
  expect((one != NULL) == (ranks == 1), "real data of one dimension: a plan on one rank, none on several");
  FFTW(destroy_plan)(one);
  expect(ranks == 1 || FFTW(mpi_plan_many_dft)(1, n, 1, 4, 4, x, x, MPI_COMM_WORLD, FFTW_FORWARD, E) == NULL,
         "blocks of one dimension");
  expect(FFTW(mpi_plan_r2r)(2, n, r, r, MPI_COMM_WORLD, hartley, E) == NULL, "a plan for FFTW_DHT");
  expect(FFTW(mpi_plan_dft_2d)(8, 8, x, x, MPI_COMM_WORLD, FFTW_FORWARD, E | FFTW_MPI_SCRAMBLED_OUT) == NULL,
         "a scrambled plan");
  expect(FFTW(mpi_plan_dft_2d)(8, 8, x, x, MPI_COMM_WORLD, FFTW_FORWARD, E | FFTW_WISDOM_ONLY) == NULL,
         "a plan of wisdom only");
  expect(FFTW(mpi_plan_dft_2d)(8, 0, x, x, MPI_COMM_WORLD, FFTW_FORWARD, E) == NULL, "a plan of no points");
  expect(FFTW(mpi_plan_dft_2d)(8, 8, x, x, MPI_COMM_WORLD, 3, E) == NULL, "a plan of sign 3");
  expect(FFTW(mpi_plan_dft_r2c_2d)(8, 8, r, x, MPI_COMM_WORLD, E | IN) == NULL, "a transposed real array");
  expect(FFTW(mpi_plan_dft_r2c)(1, n, r, x, MPI_COMM_SELF, E) == NULL, "a real transform of one dimension");
  expect(FFTW(mpi_plan_many_dft)(2, n, 0, 0, 0, x, x, MPI_COMM_WORLD, FFTW_FORWARD, E) == NULL,
         "a plan of nothing");
  expect(ranks == 8 || FFTW(mpi_plan_many_dft)(2, n, 1, 1, 0, x, x, MPI_COMM_WORLD, FFTW_FORWARD, E) == NULL,
         "blocks that are more than ranks");
  /* One array on rank 0, two on the others; a length of 0 on the last rank alone. */
  expect(ranks == 1 ||
             FFTW(mpi_plan_dft_2d)(8, 8, x, rank == 0 ? x : x + 128, MPI_COMM_WORLD, FFTW_FORWARD, E) == NULL,
         "in place on some ranks only");
  expect(FFTW(mpi_plan_dft_2d)(8, rank == ranks - 1 ? 0 : 8, x, x, MPI_COMM_WORLD, FFTW_FORWARD, E) == NULL,
         "a plan although one rank has no points");
  expect(ranks == 1 || FFTW(mpi_plan_dft_2d)(8, 8, x, x, MPI_COMM_WORLD,
                                             rank == 0 ? FFTW_FORWARD : FFTW_BACKWARD, E) == NULL,
         "forward on some ranks and backward on others");
  FFTW(free)(x);
}

/* Ranks without points may pass null; communicators come and go. */
static void check_communicators(void) {
  for (int k = 0; k < 3; ++k) {
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    const struct problem p = {dft, 2, {5, 6}, 1, 0, 0, E, FFTW_FORWARD, {0}};
    check_problem(&p, half);
    MPI_Comm_free(&half);
  }
  FFTW(complex) x[2] = {{1, 0}, {2, 0}}, y[2];
  FFTW(plan)
  plan = FFTW(mpi_plan_dft_2d)(1, 2, rank == 0 ? x : NULL, rank == 0 ? y : NULL, MPI_COMM_WORLD, FFTW_FORWARD,
                               E);
  expect(plan != NULL, "no plan where ranks hold nothing");
  if (plan != NULL) FFTW(execute)(plan);
  expect(rank != 0 || (y[0][0] == 3 && y[1][0] == -1), "wrong where ranks hold nothing");
  FFTW(destroy_plan)(plan);
}

/* Each rank learns something else; rank 0 gets all of it, then all do. */
static void check_wisdom(void) {
  FFTW(complex)* const x = FFTW(alloc_complex)((size_t)(64 + ranks));
  FFTW(forget_wisdom)();
  FFTW(plan) plan = FFTW(plan_dft_1d)(64 + rank, x, x, FFTW_FORWARD, FFTW_MEASURE);
  FFTW(destroy_plan)(plan);
  FFTW(mpi_gather_wisdom)(MPI_COMM_WORLD);
  FFTW(mpi_broadcast_wisdom)(MPI_COMM_WORLD);
  for (int k = 0; k < ranks; ++k) {
    plan = FFTW(plan_dft_1d)(64 + k, x, x, FFTW_FORWARD, FFTW_MEASURE | FFTW_WISDOM_ONLY);
    expect(plan != NULL, "a rank does not know what another one has learnt");
    FFTW(destroy_plan)(plan);
  }
  FFTW(free)(x);
}

int main(int argc, char** argv) {
  int all = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  FFTW(mpi_init)();
  if (argc > 1 && strcmp(argv[1], "behind") == 0) {
    FFTW(complex) x[16];
    expect(FFTW(mpi_plan_dft_2d)(4, 4, x, x, MPI_COMM_SELF, FFTW_FORWARD, E) == NULL,
           "a plan that FFTW would execute");
  } else {
    check_problems(MPI_COMM_WORLD);
    check_short_forms();
    check_both_kinds_of_plans();
    check_threads();
    check_lines();
    check_wide_points();
    check_refusals();
    check_communicators();
    check_wisdom();
    FFTW(mpi_cleanup)();
    const struct problem p = {dft, 2, {4, 4}, 1, 0, 0, E, FFTW_FORWARD, {0}};
    check_problem(&p, MPI_COMM_WORLD);
    MPI_Comm mine;
    MPI_Comm_dup(MPI_COMM_WORLD, &mine);
    check_problem(&p, mine);
    FFTW(mpi_cleanup)();
    check_problem(&p, mine);
    MPI_Comm_free(&mine);
  }
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d checks on each of %d ranks, %d failures\n", checks, ranks, all);
  MPI_Finalize();
  return all > 0;
}
