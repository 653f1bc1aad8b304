// One-dimensional transforms over all ranks: two axes as one line, complex or real.
#include <complex.h>
#include <math.h>

#include "check.h"
#include "check_problem.h"

/* Six times four points as one line, and what it is by its definition. */
static void test_complex_line(weft_comm comm) {
  weft_problem problem = {.size = sizeof problem, .ndim = 2, .line = {0, 1}};
  GOOD(weft_line_shape(24, problem.shape));
  CHECK(problem.shape[0] == 4 && problem.shape[1] == 6);
  FAILS(weft_line_shape(23, problem.shape), WEFT_FAILURE, "23 points");
  FAILS(weft_line_shape(24, NULL), WEFT_BAD_ARGUMENT, "shape is NULL");
  weft_plan plan = NULL;
  GOOD(weft_plan_create(comm, &problem, NULL, &plan));
  weft_layout in = {.size = sizeof in}, out = {.size = sizeof out};
  GOOD(weft_plan_layout(plan, WEFT_INPUT, &in));
  GOOD(weft_plan_layout(plan, WEFT_OUTPUT, &out));
  double complex *x = NULL, *y = NULL;
  GOOD(weft_alloc((size_t)in.count * sizeof *x, (void**)&x));
  GOOD(weft_alloc((size_t)out.count * sizeof *y, (void**)&y));
  int64_t at = 0;
  for (int64_t a = in.box.lo[0]; a < in.box.hi[0]; ++a)
    for (int64_t b = in.box.lo[1]; b < in.box.hi[1]; ++b) x[at++] = (double)((6 * a + b) % 5) - 2.0 * I;
  GOOD(weft_forward(plan, x, y));
  at = 0;
  for (int64_t a = out.box.lo[0]; a < out.box.hi[0]; ++a)
    for (int64_t b = out.box.lo[1]; b < out.box.hi[1]; ++b) {
      double complex sum = 0;
      for (int j = 0; j < 24; ++j)
        sum += ((double)(j % 5) - 2.0 * I) * cexp(-2 * acos(-1.0) * I * (double)(j * (a + 4 * b) % 24) / 24);
      CHECK(cabs(y[at++] - sum) < 1e-12);
    }
  weft_free(x);
  weft_free(y);
  GOOD(weft_plan_free(&plan));
}

/* How a real line is cut: its axes, and what is given of its modes. */
typedef struct real_line {
  int64_t shape[2];
  int halved;       /* the r2c axis: 1 for the modes 0 to n/2, 0 for half of the columns */
  int cut;          /* the axis along which the output is cut; of 1 with axis 0 fastest in memory */
  weft_scale scale; /* of either direction */
  int in_place;
} real_line;

static double point(int64_t j) {
  return (double)((j * j * 31 + j * 17) % 101) / 50 - 1;
}

static double complex sum_of_line(int64_t n, int64_t k) {
  double complex sum = 0;
  for (int64_t j = 0; j < n; ++j)
    sum += point(j) * cexp(-2 * acos(-1.0) * I * (double)(j * k % n) / (double)n);
  return sum;
}

/* Forward beside sums; then backward from the modes that count, beside the points. */
static void check_real_line(weft_comm comm, const real_line* c) {
  const int64_t n = c->shape[0] * c->shape[1];
  weft_distribution output = {.size = sizeof output, .cut = WEFT_SLAB, .axis = c->cut};
  if (c->cut == 1) output.order[0] = 1;
  weft_problem problem = {
      .size = sizeof problem, .ndim = 2, .shape = {c->shape[0], c->shape[1]}, .line = {0, 1}};
  problem.transforms[c->halved] = WEFT_R2C;
  problem.output = &output;
  problem.forward_scale = problem.backward_scale = c->scale;
  problem.in_place = c->in_place;
  weft_plan plan = NULL;
  GOOD(weft_plan_create(comm, &problem, NULL, &plan));
  weft_layout in = {.size = sizeof in}, out = {.size = sizeof out};
  GOOD(weft_plan_layout(plan, WEFT_INPUT, &in));
  GOOD(weft_plan_layout(plan, WEFT_OUTPUT, &out));
  CHECK(!in.is_complex && in.element_bytes == 8 && out.is_complex && out.element_bytes == 16);
  CHECK(out.count == 0 || out.box.hi[1 - c->cut] ==
                              (c->halved == 1 - c->cut ? c->shape[c->halved] / 2 + 1 : c->shape[1 - c->cut]));
  size_t bytes = 0;
  double* x = NULL;
  double complex* y = NULL;
  GOOD(weft_plan_buffer_bytes(plan, &bytes));
  GOOD(weft_alloc(bytes, (void**)&x));
  if (c->in_place) {
    y = (double complex*)x;
  } else {
    GOOD(weft_alloc(bytes, (void**)&y));
  }
  const double factor = c->scale == WEFT_UNSCALED ? 1
                        : c->scale == WEFT_FULL   ? 1.0 / (double)n
                                                  : 1 / sqrt((double)n);
  const double bound = 1e-14 * (double)n;
  /* The input is the line as it is. */
  for (int64_t i = 0; i < in.count; ++i) x[i] = point(in.box.lo[0] * c->shape[1] + i);
  GOOD(weft_forward(plan, x, y));
  double worst = 0;
  int64_t at[WEFT_MAX_AXES];
  for (int more = begin(&out.box, at); more; more = next(&out.box, at)) {
    double complex* const here =
        y + out.strides[0] * (at[0] - out.box.lo[0]) + out.strides[1] * (at[1] - out.box.lo[1]);
    const int64_t k = at[0] + c->shape[0] * at[1];
    /* Natural order: rank by rank, one mode after the other. */
    if (c->halved == 1 && c->cut == 1) CHECK(here - y == k - c->shape[0] * out.box.lo[1]);
    worst = fmax(worst, cabs(*here - factor * sum_of_line(n, k)));
    /* Backward ignores what fills the last row behind n/2. */
    *here = c->halved == 1 && 2 * k > n ? 1000 + 1000 * I : sum_of_line(n, k);
  }
  CHECK(worst < factor * bound);
  GOOD(weft_backward(plan, y, x));
  worst = 0;
  for (int64_t i = 0; i < in.count; ++i)
    worst = fmax(worst, fabs(x[i] - factor * (double)n * point(in.box.lo[0] * c->shape[1] + i)));
  CHECK(worst < factor * (double)n * bound);
  if (!c->in_place) weft_free(y);
  weft_free(x);
  GOOD(weft_plan_free(&plan));
}

static void test_real_lines(weft_comm comm) {
  const int64_t shapes[][2] = {
      {4, 6}, {6, 4}, {3, 5}, {5, 6}, {7, 9}}; /* of 24, 30, and odd 15 and 63 points */
  const weft_scale scales[] = {WEFT_UNSCALED, WEFT_SYMMETRIC, WEFT_FULL};
  for (size_t s = 0; s < sizeof shapes / sizeof *shapes; ++s)
    for (int halved = 0; halved < 2; ++halved)
      for (int cut = 0; cut < 2; ++cut) {
        real_line c = {{shapes[s][0], shapes[s][1]}, halved, cut, scales[s % 3], 0};
        check_real_line(comm, &c);
        c.in_place = 1;
        check_real_line(comm, &c);
      }
}

static void test_mistakes(weft_comm comm) {
  weft_problem problem = {.size = sizeof problem, .ndim = 2, .shape = {4, 6}, .line = {0, 1}};
  weft_plan plan = NULL;
  problem.transforms[1] = WEFT_NONE;
  FAILS(weft_plan_create(comm, &problem, NULL, &plan), WEFT_FAILURE, "c2c along both axes of a line");
  problem.transforms[1] = WEFT_DCT2;
  FAILS(weft_plan_create(comm, &problem, NULL, &plan), WEFT_FAILURE,
        "dct2 along axis 1; expected c2c along both axes of a line, or r2c along one of them; a DCT or DST "
        "is r2c "
        "of the line that is extended evenly or oddly");
  problem.transforms[0] = problem.transforms[1] = WEFT_R2C;
  FAILS(weft_plan_create(comm, &problem, NULL, &plan), WEFT_FAILURE, "r2c along at most one axis");
  problem = (weft_problem){.size = sizeof problem, .ndim = 3, .shape = {4, 6, 8}, .line = {0, 1}};
  problem.transforms[1] = WEFT_R2C;
  FAILS(weft_plan_create(comm, &problem, NULL, &plan), WEFT_FAILURE,
        "c2c along axis 2 beside r2c along the second axis of a line");
  problem.transforms[0] = WEFT_R2C; /* half of the columns goes with it */
  problem.transforms[1] = WEFT_C2C;
  GOOD(weft_plan_create(comm, &problem, NULL, &plan));
  GOOD(weft_plan_free(&plan));
}

void test_lines(weft_comm comm) {
  test_complex_line(comm);
  test_real_lines(comm);
  test_mistakes(comm);
}
