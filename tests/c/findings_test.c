// What plans tell about themselves.
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "check_problem.h"

static void test_texts(weft_plan plan) {
  char* text = NULL;
  GOOD(weft_plan_text(plan, &text));
  CHECK(has_part(text, "6x5x4"));
  weft_free(text);
  GOOD(weft_plan_explain(plan, &text));
  CHECK(has_part(text, "by rules"));
  weft_free(text);
  GOOD(weft_plan_explain_json(plan, &text));
  CHECK(text[0] == '{' && has_part(text, "\"chosen\": \"by rules") && has_part(text, "\"candidates\""));
  weft_free(text);
  GOOD(weft_plan_program(plan, WEFT_BACKWARD, &text));
  CHECK(has_part(text, "fft"));
  weft_free(text);
  FAILS(weft_plan_text(plan, NULL), WEFT_BAD_ARGUMENT, "text is NULL");
}

typedef struct later_time {
  weft_operation_time known;
  int64_t later;
} later_time;

static void test_times(weft_plan plan, const void* in, void* out) {
  weft_operation_time* times = NULL;
  later_time* longer = NULL;
  size_t count = 1, as_many = 0;
  GOOD(weft_plan_record_times(plan, 1));
  GOOD(weft_forward(plan, in, out));
  GOOD(weft_plan_record_times(plan, 0));
  GOOD(weft_plan_operation_times(plan, sizeof *times, &times, &count));
  CHECK(count > 0);
  int ffts = 0;
  for (size_t i = 0; i < count; ++i) {
    CHECK(times[i].begin >= 0 && times[i].end >= times[i].begin && times[i].stage >= 0);
    ffts += strcmp(times[i].kind, "fft") == 0;
  }
  CHECK(ffts > 0);
  GOOD(weft_plan_operation_times(plan, sizeof *longer, (weft_operation_time**)&longer, &as_many));
  CHECK(as_many == count && longer[count - 1].later == 0);
  CHECK(memcmp(&longer[count - 1].known, &times[count - 1], sizeof *times) == 0);
  weft_free(longer);
  weft_free(times);
  FAILS(weft_plan_operation_times(plan, 8, &times, &count), WEFT_BAD_ARGUMENT, "has the size 8");
}

static void test_accuracy(weft_comm comm, int rank, int size) {
  const weft_problem problem = small_problem();
  const char* codecs[] = {"none", "fp32"};
  for (int i = 0; i < 2; ++i) {
    weft_options options = NULL;
    weft_plan plan = NULL;
    weft_accuracy accuracy = {.size = sizeof accuracy, .l2 = -1};
    void* array = NULL;
    size_t bytes = 0;
    const char* medium = NULL;
    GOOD(weft_comm_medium(comm, &medium));
    GOOD(weft_options_create(&options));
    GOOD(weft_options_set(options, "codec", codecs[i]));
    GOOD(weft_options_set(options, "exchange", strcmp(medium, "mpi") == 0 ? "p2p" : "copy"));
    GOOD(weft_plan_create(comm, &problem, options, &plan));
    GOOD(weft_plan_buffer_bytes(plan, &bytes));
    GOOD(weft_alloc(bytes, &array));
    for (size_t j = 0; j < bytes / sizeof(double); ++j) ((double*)array)[j] = 1.0 / (double)(j + 3);
    GOOD(weft_plan_measured_error(plan, WEFT_FORWARD, array, &accuracy));
    CHECK(accuracy.l2 <= accuracy.bound && accuracy.bound <= 1e-6 && accuracy.maximum <= 1e-6);
    CHECK((accuracy.l2 > 0) == (i == 1 && size > 1));
    accuracy.size = 1;
    FAILS(weft_plan_measured_error(plan, WEFT_FORWARD, array, &accuracy), WEFT_BAD_ARGUMENT,
          "has the size 1");
    if (i == 1 && size > 1) {  // a mistake of one rank
      accuracy.size = sizeof accuracy;
      FAILS(weft_plan_measured_error(plan, WEFT_FORWARD, array, rank == 0 ? NULL : &accuracy),
            rank == 0 ? WEFT_BAD_ARGUMENT : WEFT_FAILURE, "accuracy is NULL");
      GOOD(weft_plan_measured_error(plan, WEFT_FORWARD, array, &accuracy));
    }
    weft_free(array);
    GOOD(weft_options_free(&options));
    GOOD(weft_plan_free(&plan));
  }
}

static void check_numbers(double* found, size_t count, const double* expected, size_t from,
                          size_t expected_count) {
  CHECK(count == expected_count);
  for (size_t i = 0; i < count && i < expected_count; ++i) CHECK(found[i] == expected[from + i]);
  weft_free(found);
}

/* 6 x 5 x 4 points of which the last axis is halved: what one rank has of axis 0, and all of the others. */
static void test_modes(weft_comm comm, int rank, int size) {
  weft_problem problem = small_problem();
  problem.transforms[2] = WEFT_R2C;
  weft_plan plan = NULL;
  GOOD(weft_plan_create(comm, &problem, NULL, &plan));
  const weft_box slab = slab_of(&problem, 0, rank, size);
  const size_t first = (size_t)slab.lo[0], mine = (size_t)(slab.hi[0] - slab.lo[0]);
  double* found = NULL;
  size_t count = 0;
  int64_t length = 0;
  GOOD(weft_plan_wavenumbers(plan, 0, WEFT_NYQUIST_KEPT, &found, &count));
  check_numbers(found, count, (const double[]){0, 1, 2, -3, -2, -1}, first, mine);
  GOOD(weft_plan_wavenumbers(plan, 0, WEFT_NYQUIST_ZERO, &found, &count));
  check_numbers(found, count, (const double[]){0, 1, 2, 0, -2, -1}, first, mine);
  GOOD(weft_plan_dealiasing_mask(plan, 0, 2.0 / 3, &found, &count));
  check_numbers(found, count, (const double[]){1, 1, 0, 0, 0, 1}, first, mine);
  GOOD(weft_plan_hermitian_weights(plan, 2, &found, &count));
  check_numbers(found, count, (const double[]){1, 2, 1}, 0, mine > 0 ? 3 : 0);
  GOOD(weft_plan_logical_length(plan, 1, &length));
  CHECK(length == 5);
  FAILS(weft_plan_wavenumbers(plan, 3, WEFT_NYQUIST_KEPT, &found, &count), WEFT_FAILURE, "axis 3");
  FAILS(weft_plan_wavenumbers(plan, 0, (weft_nyquist)7, &found, &count), WEFT_BAD_ARGUMENT, "weft_nyquist");
  FAILS(weft_plan_hermitian_weights(plan, 0, NULL, &count), WEFT_BAD_ARGUMENT, "values is NULL");
  FAILS(weft_plan_logical_length(plan, -1, &length), WEFT_FAILURE, "axis -1");

  weft_layout out = {.size = sizeof out};
  double complex* modes = NULL;
  GOOD(weft_plan_layout(plan, WEFT_OUTPUT, &out));
  GOOD(weft_alloc((size_t)out.count * out.element_bytes, (void**)&modes));
  for (int64_t i = 0; i < out.count; ++i) modes[i] = 3.0 + 4.0 * I; /* every mode's square is 25 */
  GOOD(weft_plan_shell_spectrum(plan, modes, NULL, &found, &count));
  double sum = 0;
  for (size_t s = 0; s < count; ++s) sum += found[s];
  CHECK(count == 5 && found[0] == 25 && sum == 25 * 6 * 5 * 4); /* up to |(3, 2, 2)| */
  weft_free(found);
  GOOD(weft_plan_shell_spectrum(plan, modes, (const double[]){0, 0, 0}, &found, &count));
  check_numbers(found, count, (const double[]){25 * 6 * 5 * 4}, 0, 1);
  if (size > 1) { /* a mistake of one rank */
    FAILS(weft_plan_shell_spectrum(plan, modes, NULL, rank == 0 ? NULL : &found, &count),
          rank == 0 ? WEFT_BAD_ARGUMENT : WEFT_FAILURE, "sums is NULL");
  }
  weft_free(modes);
  GOOD(weft_plan_free(&plan));
}

/* One wave through modes that do not hold it and through some that do, and back. */
static void test_kept_modes(weft_comm comm) {
  weft_problem problem = {.size = sizeof problem, .ndim = 2, .shape = {12, 10}, .modes = {8, 0}};
  problem.backward_scale = WEFT_FULL;
  weft_distribution columns = {.size = sizeof columns, .cut = WEFT_SLAB, .axis = 1};
  problem.output = &columns;
  weft_plan plan = NULL;
  GOOD(weft_plan_create(comm, &problem, NULL, &plan));
  weft_layout in = {.size = sizeof in}, out = {.size = sizeof out};
  GOOD(weft_plan_layout(plan, WEFT_INPUT, &in));
  GOOD(weft_plan_layout(plan, WEFT_OUTPUT, &out));
  CHECK(out.box.lo[0] == 0 && (out.count == 0 || out.box.hi[0] == 8));
  double complex *x = NULL, *y = NULL;
  GOOD(weft_alloc((size_t)in.count * sizeof *x, (void**)&x));
  GOOD(weft_alloc((size_t)out.count * sizeof *y, (void**)&y));
  for (int wave = 3; wave <= 5; ++wave) { /* 4 is the mode in the middle, which is shared; 5 is left out */
    const double kept = wave == 5 ? 0 : 1, back = wave == 4 ? 0.5 : kept;
    int64_t at = 0;
    for (int64_t a = in.box.lo[0]; a < in.box.hi[0]; ++a)
      for (int64_t b = in.box.lo[1]; b < in.box.hi[1]; ++b)
        x[at++] = cexp(2 * acos(-1.0) * I * (double)(wave * a) / 12);
    GOOD(weft_forward(plan, x, y));
    at = 0;
    for (int64_t a = out.box.lo[0]; a < out.box.hi[0]; ++a)
      for (int64_t b = out.box.lo[1]; b < out.box.hi[1]; ++b)
        CHECK(cabs(y[at++] - (a == wave && b == 0 ? 120 * kept : 0)) < 1e-12);
    GOOD(weft_backward(plan, y, x));
    at = 0;
    for (int64_t a = in.box.lo[0]; a < in.box.hi[0]; ++a)
      for (int64_t b = in.box.lo[1]; b < in.box.hi[1]; ++b) {
        const double complex forth = cexp(2 * acos(-1.0) * I * (double)(wave * a) / 12);
        CHECK(cabs(x[at++] - back * (wave == 4 ? forth + conj(forth) : forth)) < 1e-13);
      }
  }
  weft_free(x);
  weft_free(y);
  GOOD(weft_plan_free(&plan));
  problem.points[0] = 13;
  FAILS(weft_plan_create(comm, &problem, NULL, &plan), WEFT_FAILURE, "plan: points: 13 along axis 0");
  problem.points[0] = 5;
  GOOD(weft_plan_create(comm, &problem, NULL, &plan));
  GOOD(weft_plan_layout(plan, WEFT_INPUT, &in));
  CHECK(in.box.hi[0] <= 5);
  GOOD(weft_plan_free(&plan));
  problem.points[0] = 0;
  problem.modes[0] = 13;
  FAILS(weft_plan_create(comm, &problem, NULL, &plan), WEFT_FAILURE, "1 to 12");
  problem.modes[0] = 8;
  problem.modes_nyquist = (weft_modes_nyquist)7;
  FAILS(weft_plan_create(comm, &problem, NULL, &plan), WEFT_BAD_ARGUMENT, "weft_modes_nyquist");
}

/* The derivative along the first axis, of modes that the operator counts as well. */
typedef struct {
  const double* k;
  int64_t modes;
  int failing;
} slope;

static int derive(const weft_block* block, void* user) {
  slope* const s = user;
  if (s->failing) return 7;
  if (block->size < sizeof *block || block->ndim != 2 || block->fields != 1 || block->results != 2) return 1;
  if (block->memory != WEFT_HOST || block->stream != NULL) return 3;
  if (block->element != WEFT_COMPLEX || block->precision != WEFT_FLOAT64) return 2;
  for (int64_t i = block->lo[0]; i < block->hi[0]; ++i)
    for (int64_t j = block->lo[1]; j < block->hi[1]; ++j) {
      double complex* const u = (double complex*)block->data + (i - block->lo[0]) * block->strides[0] +
                                (j - block->lo[1]) * block->strides[1];
      u[block->field_stride] = I * s->k[i] * *u;
      s->modes += 1;
    }
  return 0;
}

static void test_operators(weft_comm comm, int size) {
  weft_problem problem = {.size = sizeof problem, .ndim = 2, .shape = {12, 10}, .results = 2};
  problem.between = WEFT_BETWEEN_MODES;
  problem.backward_scale = WEFT_FULL;
  weft_plan plan = NULL;
  GOOD(weft_plan_create(comm, &problem, NULL, &plan));
  weft_layout in = {.size = sizeof in}, out = {.size = sizeof out};
  GOOD(weft_plan_layout(plan, WEFT_INPUT, &in));
  GOOD(weft_plan_layout(plan, WEFT_OUTPUT, &out));
  CHECK(out.count == 2 * in.count);
  double* k = NULL;
  size_t count = 0;
  GOOD(weft_plan_wavenumbers(plan, 0, WEFT_NYQUIST_ZERO, &k, &count));
  CHECK(count == 12 && k[11] == -1);
  double complex *x = NULL, *y = NULL;
  GOOD(weft_alloc((size_t)in.count * sizeof *x, (void**)&x));
  GOOD(weft_alloc((size_t)out.count * sizeof *y, (void**)&y));
  int64_t at = 0;
  for (int64_t a = in.box.lo[0]; a < in.box.hi[0]; ++a)
    for (int64_t b = in.box.lo[1]; b < in.box.hi[1]; ++b)
      x[at++] = cexp(2 * acos(-1.0) * I * (double)(3 * a) / 12);
  slope s = {.k = k};
  GOOD(weft_apply(plan, WEFT_FORWARD, x, y, derive, &s, NULL, 0));
  CHECK(size > 1 || s.modes == 120);
  for (at = 0; at < in.count; ++at) {
    CHECK(cabs(y[at] - x[at]) < 1e-14);
    CHECK(cabs(y[at + out.distance] - 3 * I * x[at]) < 1e-13);
  }
  if (size == 1) { /* a failure in the middle ends the communicator */
    weft_comm self = NULL;
    weft_plan alone = NULL;
    GOOD(weft_comm_self(&self));
    GOOD(weft_plan_create(self, &problem, NULL, &alone));
    FAILS(weft_apply(alone, WEFT_FORWARD, x, y, NULL, NULL, NULL, 0), WEFT_BAD_ARGUMENT, "NULL");
    s.failing = 1;
    FAILS(weft_apply(alone, WEFT_FORWARD, x, y, derive, &s, NULL, 0), WEFT_FAILURE,
          "an operator that returned 7");
    GOOD(weft_plan_free(&alone));
    GOOD(weft_comm_free(&self));
  }
  weft_free(x);
  weft_free(y);
  weft_free(k);
  GOOD(weft_plan_free(&plan));
  problem.between = (weft_between)9;
  FAILS(weft_plan_create(comm, &problem, NULL, &plan), WEFT_BAD_ARGUMENT, "weft_between");
  problem.between = WEFT_BETWEEN_NONE;
  FAILS(weft_plan_create(comm, &problem, NULL, &plan), WEFT_FAILURE, "as there is no operator");
}

/* Each rank has the column of its own number; of a wave, one mode of the last rank is there. */
static void test_columns(weft_comm comm, int rank, int size) {
  const weft_mode_column mine = {.first = {-2, rank, 3}, .count = 5};
  weft_distribution columns = {
      .size = sizeof columns, .cut = WEFT_COLUMNS, .columns = &mine, .column_count = 1};
  weft_problem problem = {.size = sizeof problem, .ndim = 3, .shape = {8, 12, 10}, .output = &columns};
  weft_plan plan = NULL;
  GOOD(weft_plan_create(comm, &problem, NULL, &plan));
  weft_layout in = {.size = sizeof in}, out = {.size = sizeof out};
  GOOD(weft_plan_layout(plan, WEFT_INPUT, &in));
  GOOD(weft_plan_layout(plan, WEFT_OUTPUT, &out));
  CHECK(out.box.ndim == 1 && out.count == 5 && out.box.lo[0] == 5 * rank && out.box.hi[0] == 5 * (rank + 1));
  weft_mode_column* found = NULL;
  size_t count = 0;
  GOOD(weft_plan_columns(plan, &found, &count));
  CHECK(count == 1 && found->count == 5 && found->first[0] == -2 && found->first[1] == rank);
  weft_free(found);
  double* k = NULL;
  GOOD(weft_plan_wavenumbers(plan, 0, WEFT_NYQUIST_KEPT, &k, &count));
  CHECK(count == 5 && k[0] == -2 && k[4] == 2);
  weft_free(k);
  double complex *x = NULL, modes[5];
  GOOD(weft_alloc((size_t)in.count * sizeof *x, (void**)&x));
  int64_t at = 0;
  for (int64_t a = in.box.lo[0]; a < in.box.hi[0]; ++a)
    for (int64_t b = in.box.lo[1]; b < in.box.hi[1]; ++b)
      for (int64_t c = in.box.lo[2]; c < in.box.hi[2]; ++c)
        x[at++] = cexp(2 * acos(-1.0) * I *
                       ((double)-a / 8 + (double)((size - 1) * b) / 12 + (double)(3 * c) / 10));
  GOOD(weft_forward(plan, x, modes));
  for (int i = 0; i < 5; ++i) CHECK(cabs(modes[i] - (rank == size - 1 && i == 1 ? 960 : 0)) < 1e-11);
  GOOD(weft_backward(plan, modes, x));
  CHECK(in.count == 0 || fabs(cabs(x[0]) - 960) < 1e-10);
  weft_free(x);
  GOOD(weft_plan_free(&plan));
  columns.columns = NULL;
  FAILS(weft_plan_create(comm, &problem, NULL, &plan), WEFT_BAD_ARGUMENT, "columns is NULL");
  columns = (weft_distribution){.size = sizeof columns, .cut = WEFT_SPHERE, .radius = 1};
  GOOD(weft_plan_create(comm, &problem, NULL, &plan));
  GOOD(weft_plan_layout(plan, WEFT_OUTPUT, &out));
  CHECK(size > 1 || out.count == 7);
  GOOD(weft_plan_free(&plan));
  problem.output = NULL;
  GOOD(weft_plan_create(comm, &problem, NULL, &plan));
  FAILS(weft_plan_columns(plan, &found, &count), WEFT_FAILURE, "a plan whose modes are boxes");
  GOOD(weft_plan_free(&plan));
}

void test_findings(weft_comm comm) {
  int rank = -1, size = 0;
  GOOD(weft_comm_rank(comm, &rank));
  GOOD(weft_comm_size(comm, &size));
  const weft_problem problem = small_problem();
  weft_plan plan = NULL;
  size_t bytes = 0;
  double factor = 0;
  void *in = NULL, *out = NULL;
  GOOD(weft_plan_create(comm, &problem, NULL, &plan));
  GOOD(weft_plan_scale_factor(plan, &factor));
  CHECK(factor == 6 * 5 * 4);
  weft_layout layout = {.size = sizeof layout};
  GOOD(weft_plan_layout(plan, WEFT_INPUT, &layout));
  const weft_box slab = slab_of(&problem, 0, rank, size);
  CHECK(memcmp(&layout.box, &slab, sizeof slab) == 0 && layout.count == weft_box_count(&slab));
  CHECK(layout.strides[0] == 20 && layout.strides[1] == 4 && layout.strides[2] == 1 && layout.offset == 0);
  CHECK(layout.order[0] == 0 && layout.order[2] == 2 && layout.element_bytes == 16 && layout.is_complex == 1);
  GOOD(weft_plan_buffer_bytes(plan, &bytes));
  GOOD(weft_alloc(bytes, &in));
  GOOD(weft_alloc(bytes, &out));
  test_texts(plan);
  test_times(plan, in, out);
  weft_free(in);
  weft_free(out);
  GOOD(weft_plan_free(&plan));
  test_accuracy(comm, rank, size);
  test_modes(comm, rank, size);
  test_kept_modes(comm);
  test_operators(comm, size);
  test_columns(comm, rank, size);
}
