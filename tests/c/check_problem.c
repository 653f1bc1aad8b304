#include "check_problem.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "direct_sum.h"

int begin(const weft_box* box, int64_t* at) {
  for (int a = 0; a < box->ndim; ++a) at[a] = box->lo[a];
  return weft_box_count(box) > 0;
}

int next(const weft_box* box, int64_t* at) {
  for (int a = box->ndim - 1; a >= 0; --a) {
    if (++at[a] < box->hi[a]) return 1;
    at[a] = box->lo[a];
  }
  return 0;
}

weft_box slab_of(const weft_problem* problem, int axis, int rank, int size) {
  weft_box box = {.ndim = problem->ndim};
  for (int a = 0; a < problem->ndim; ++a) box.hi[a] = problem->shape[a];
  const int64_t n = problem->shape[axis], each = n / size, larger = n % size;
  box.lo[axis] = rank * each + (rank < larger ? rank : larger);
  box.hi[axis] = box.lo[axis] + each + (rank < larger ? 1 : 0);
  return box;
}

weft_problem small_problem(void) {
  weft_problem problem = {.size = sizeof problem, .ndim = 3, .shape = {6, 5, 4}};
  return problem;
}

// What is not written by a transform keeps these bytes.
enum { untouched = 0x5a };

typedef struct side_array {
  weft_layout layout;
  int is_double;
  unsigned char* memory;
} side_array;

static double real_at(const side_array* array, int64_t place) {
  return array->is_double ? ((const double*)array->memory)[place]
                          : (double)((const float*)array->memory)[place];
}

static double complex get(const side_array* array, int64_t place) {
  if (!array->layout.is_complex) return real_at(array, place);
  return real_at(array, 2 * place) + I * real_at(array, 2 * place + 1);
}

static void put_real(const side_array* array, int64_t place, double value) {
  if (array->is_double)
    ((double*)array->memory)[place] = value;
  else
    ((float*)array->memory)[place] = (float)value;
}

static void put(const side_array* array, int64_t place, double complex value) {
  if (!array->layout.is_complex) {
    put_real(array, place, creal(value));
    return;
  }
  put_real(array, 2 * place, creal(value));
  put_real(array, 2 * place + 1, cimag(value));
}

static int64_t place_of(const weft_layout* layout, const int64_t* at, int64_t item) {
  int64_t place = layout->offset + item * layout->distance;
  for (int a = 0; a < layout->box.ndim; ++a) place += (at[a] - layout->box.lo[a]) * layout->strides[a];
  return place;
}

static void fill(const side_array* array, const weft_problem* problem, int64_t batch) {
  const whole_array whole = {
      .ndim = problem->ndim,
      .shape = {problem->shape[0], problem->shape[1], problem->shape[2], problem->shape[3], problem->shape[4],
                problem->shape[5], problem->shape[6], problem->shape[7]}};
  int64_t at[WEFT_MAX_AXES];
  for (int64_t item = 0; item < batch; ++item)
    for (int more = begin(&array->layout.box, at); more; more = next(&array->layout.box, at))
      put(array, place_of(&array->layout, at, item), input_at(&whole, at, item, array->layout.is_complex));
}

// The largest difference from `factor` times the expected array of an item.
static double error_of(const side_array* array, const whole_array* expected, int64_t item, double factor) {
  double worst = 0;
  int64_t at[WEFT_MAX_AXES];
  for (int more = begin(&array->layout.box, at); more; more = next(&array->layout.box, at)) {
    const double error =
        cabs(get(array, place_of(&array->layout, at, item)) - factor * value_at(expected, at));
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

// Whether all elements beside those of the box have the bytes that they had.
static int others_untouched(const side_array* array, int64_t batch) {
  const size_t bytes = array->layout.element_bytes, count = (size_t)array->layout.count;
  unsigned char* const known = calloc(count + 1, 1);
  int64_t at[WEFT_MAX_AXES];
  for (int64_t item = 0; item < batch; ++item)
    for (int more = begin(&array->layout.box, at); more; more = next(&array->layout.box, at))
      known[place_of(&array->layout, at, item)] = 1;
  int untouched_all = 1;
  for (size_t i = 0; i < count * bytes; ++i)
    if (!known[i / bytes] && array->memory[i] != untouched) untouched_all = 0;
  free(known);
  return untouched_all;
}

static double scale_of(weft_scale scale, double logical) {
  return scale == WEFT_FULL ? 1 / logical : scale == WEFT_SYMMETRIC ? 1 / sqrt(logical) : 1;
}

static void execute(weft_plan plan, way how, weft_direction direction, const void* in, void* out) {
  void* workspace = NULL;
  size_t bytes = 0;
  int complete = 0;
  switch (how) {
    case PLAIN:
      GOOD(direction == WEFT_FORWARD ? weft_forward(plan, in, out) : weft_backward(plan, in, out));
      break;
    case OWN_WORKSPACE:
      GOOD(weft_plan_workspace_bytes(plan, &bytes));
      GOOD(weft_alloc(bytes, &workspace));
      GOOD(weft_execute(plan, direction, in, out, workspace, bytes));
      weft_free(workspace);
      break;
    case STARTED:
      GOOD(weft_start(plan, direction, in, out, NULL, 0));
      if (direction == WEFT_BACKWARD)
        while (!complete && GOOD(weft_test(plan, &complete))) continue;
      GOOD(weft_wait(plan));
      GOOD(weft_test(plan, &complete));
      CHECK(complete == 1);
      break;
  }
}

static side_array array_of(weft_plan plan, const weft_problem* problem, weft_side side) {
  side_array array = {.layout = {.size = sizeof array.layout}};
  array.is_double = problem->precision == WEFT_FLOAT64;
  GOOD(weft_plan_layout(plan, side, &array.layout));
  CHECK(array.layout.element_bytes == (array.is_double ? 8u : 4u) * (array.layout.is_complex ? 2u : 1u));
  return array;
}

static void compare(const weft_problem* problem, const side_array* in, const side_array* out, way how,
                    weft_plan plan, const char* name) {
  const int64_t batch = problem->batch == 0 ? 1 : problem->batch;
  double logical = 0;
  GOOD(weft_plan_scale_factor(plan, &logical));
  const double there = scale_of(problem->forward_scale, logical);
  const double back = scale_of(problem->backward_scale, logical) * there * logical;
  const double epsilon = problem->precision == WEFT_FLOAT64 ? DBL_EPSILON : FLT_EPSILON;
  const double allowed = 10 * epsilon * (1 + log2(logical));

  fill(in, problem, batch);
  execute(plan, how, WEFT_FORWARD, in->memory, out->memory);
  int right = 1;
  for (int64_t item = 0; item < batch; ++item) {
    whole_array input = input_of(problem, item, in->layout.is_complex), sums = direct_sum(problem, &input);
    right = right && error_of(out, &sums, item, there) <= allowed * there * largest_of(&sums);
    if (!problem->in_place) right = right && error_of(in, &input, item, 1) <= epsilon;
    free_array(&sums);
    free_array(&input);
  }
  check_that(right, "forward is the sum, and leaves its input as it was", name, __FILE__, __LINE__);

  execute(plan, how, WEFT_BACKWARD, out->memory, in->memory);
  right = 1;
  for (int64_t item = 0; item < batch; ++item) {
    whole_array input = input_of(problem, item, in->layout.is_complex);
    right = right && error_of(in, &input, item, back) <= 4 * allowed * back * largest_of(&input);
    free_array(&input);
  }
  check_that(right, "backward leads back", name, __FILE__, __LINE__);
  if (!problem->in_place)
    check_that(others_untouched(in, batch) && others_untouched(out, batch), "nothing else is touched", name,
               __FILE__, __LINE__);
}

void check_problem(weft_comm comm, const weft_problem* problem, way how, const char* name) {
  weft_options options = NULL;
  weft_plan plan = NULL;
  if (how == OWN_WORKSPACE) {
    GOOD(weft_options_create(&options));
    GOOD(weft_options_set(options, "workspace", "user"));
  }
  if (!GOOD(weft_plan_create(comm, problem, options, &plan))) {
    fprintf(stderr, "in problem %s\n", name);
    return;
  }
  GOOD(weft_options_free(&options));
  side_array in = array_of(plan, problem, WEFT_INPUT), out = array_of(plan, problem, WEFT_OUTPUT);
  size_t bytes = 0;
  GOOD(weft_plan_buffer_bytes(plan, &bytes));
  CHECK(bytes >= (size_t)in.layout.count * in.layout.element_bytes);
  CHECK(bytes >= (size_t)out.layout.count * out.layout.element_bytes);
  in.memory = malloc(bytes + 1);
  out.memory = problem->in_place ? in.memory : malloc(bytes + 1);
  memset(in.memory, untouched, bytes);
  memset(out.memory, untouched, bytes);
  compare(problem, &in, &out, how, plan, name);
  if (!problem->in_place) free(out.memory);
  free(in.memory);
  GOOD(weft_plan_free(&plan));
  CHECK(plan == NULL);
}
