// Ready-made operators on modes: of a plane wave against its exact derivatives, convolutions against sums.
#include <complex.h>
#include <math.h>
#include <stddef.h>

#include "check.h"
#include "check_problem.h"
#include "plane_wave.h"

static const double exact = 1e-11;

/* Whether `op` makes the expected results of the fields, which it gets all at once. */
static void check_operator(weft_comm comm, weft_mode_operator* op, const wave* fields, int count,
                           const wave* expected, int results) {
  weft_problem problem = problem_of_waves();
  problem.between = WEFT_BETWEEN_MODES;
  problem.backward_scale = WEFT_FULL;
  problem.batch = count;
  problem.results = results;
  weft_distribution columns = {.size = sizeof columns, .cut = WEFT_SLAB, .axis = 1};
  problem.output = &columns;
  weft_plan plan = NULL;
  double *x = NULL, *y = NULL;
  weft_layout in = {.size = sizeof in}, out = {.size = sizeof out};
  GOOD(weft_plan_create(comm, &problem, NULL, &plan));
  GOOD(weft_plan_layout(plan, WEFT_INPUT, &in));
  GOOD(weft_plan_layout(plan, WEFT_OUTPUT, &out));
  GOOD(weft_alloc((size_t)in.count * sizeof *x, (void**)&x));
  GOOD(weft_alloc((size_t)out.count * sizeof *y, (void**)&y));
  fill_waves(&in, fields, count, x);
  GOOD(weft_apply_mode_operator(plan, WEFT_FORWARD, x, y, *op, NULL, 0));
  CHECK(error_of_waves(&out, expected, results, y) < exact);
  weft_free(x);
  weft_free(y);
  GOOD(weft_plan_free(&plan));
  GOOD(weft_mode_operator_free(op));
  CHECK(*op == NULL);
}

static weft_problem with_modes(void) {
  weft_problem problem = problem_of_waves();
  problem.between = WEFT_BETWEEN_MODES;
  return problem;
}

static double damped(double k, void* user) {
  return 1 / (1 + k * *(const double*)user);
}

static void test_scalars(weft_comm comm) {
  const weft_problem problem = with_modes();
  const double *L = wave_lengths, *k = wave_k;
  const double k2 = k[0] * k[0] + k[1] * k[1] + k[2] * k[2];
  const wave f = {2, 1, 5};
  weft_mode_operator op = NULL;
  for (int a = 0; a < 3; ++a) {
    GOOD(weft_mode_operator_derivative(&problem, a, 1, L, &op));
    check_operator(comm, &op, &f, 1, &(wave){-k[a], 2 * k[a], 0}, 1);
    GOOD(weft_mode_operator_derivative(&problem, a, 2, L, &op));
    check_operator(comm, &op, &f, 1, &(wave){-2 * k[a] * k[a], -k[a] * k[a], 0}, 1);
    GOOD(weft_mode_operator_derivative(&problem, a, 1, NULL, &op)); /* a domain of 2 pi: 1, 2, 3 periods */
    check_operator(comm, &op, &f, 1, &(wave){-(a + 1), 2 * (a + 1), 0}, 1);
  }
  GOOD(weft_mode_operator_laplacian(&problem, L, &op));
  check_operator(comm, &op, &f, 1, &(wave){-2 * k2, -k2, 0}, 1);
  GOOD(weft_mode_operator_inverse_helmholtz(&problem, 2.5, L, &op));
  check_operator(comm, &op, &f, 1, &(wave){2 / (k2 + 2.5), 1 / (k2 + 2.5), 2}, 1);
  GOOD(weft_mode_operator_inverse_helmholtz(&problem, 0, L, &op));
  check_operator(comm, &op, &f, 1, &(wave){2 / k2, 1 / k2, 0}, 1);
  const double distances[3] = {0.1, 0.2, -0.05};
  const double turn = k[0] * 0.1 + k[1] * 0.2 - k[2] * 0.05;
  GOOD(weft_mode_operator_shift(&problem, distances, L, &op));
  check_operator(comm, &op, &f, 1, &(wave){2 * cos(turn) - sin(turn), 2 * sin(turn) + cos(turn), 5}, 1);
  double width = 0.5;
  const double factor = damped(sqrt(k2), &width);
  GOOD(weft_mode_operator_filter(&problem, damped, &width, L, &op));
  check_operator(comm, &op, &f, 1, &(wave){2 * factor, factor, 5}, 1);
}

/* Vectors with amplitudes a along three axes: of their wave k, and in both orders of components. */
static void test_vectors(weft_comm comm) {
  const weft_problem problem = with_modes();
  const wave u[3] = {{1, 0, 3}, {-2, 0, 4}, {4, 0, 5}};
  const double a[3] = {1, -2, 4}, mean[3] = {3, 4, 5};
  for (int order = 0; order < 2; ++order) {
    const weft_components components = order == 0 ? WEFT_FIRST_AXIS_FIRST : WEFT_LAST_AXIS_FIRST;
    double k[3];
    for (int c = 0; c < 3; ++c) k[c] = wave_k[order == 0 ? c : 2 - c];
    const double along = k[0] * a[0] + k[1] * a[1] + k[2] * a[2];
    const double k2 = k[0] * k[0] + k[1] * k[1] + k[2] * k[2];
    weft_mode_operator op = NULL;
    wave expected[6];
    for (int c = 0; c < 3; ++c) expected[c] = (wave){0, k[c], 0};
    GOOD(weft_mode_operator_gradient(&problem, wave_lengths, components, &op));
    check_operator(comm, &op, &(wave){1, 0, 7}, 1, expected, 3);
    for (int c = 0; c < 6; ++c) expected[c] = (wave){0, k[c % 3] * a[c / 3], 0};
    GOOD(weft_mode_operator_gradient(&problem, wave_lengths, components, &op));
    check_operator(comm, &op, u, 2, expected, 6);
    GOOD(weft_mode_operator_divergence(&problem, wave_lengths, components, &op));
    check_operator(comm, &op, u, 3, &(wave){0, along, 0}, 1);
    for (int c = 0; c < 3; ++c) {
      const int d = (c + 1) % 3, e = (c + 2) % 3;
      expected[c] = (wave){0, k[d] * a[e] - k[e] * a[d], 0};
    }
    GOOD(weft_mode_operator_curl(&problem, wave_lengths, components, &op));
    check_operator(comm, &op, u, 3, expected, 3);
    for (int c = 0; c < 3; ++c) expected[c] = (wave){a[c] - k[c] * along / k2, 0, mean[c]};
    GOOD(weft_mode_operator_solenoidal_part(&problem, wave_lengths, components, &op));
    check_operator(comm, &op, u, 3, expected, 3);
  }
}

enum { rows = 4, lines = 6 };

static double complex number_at(int64_t i, int64_t j, int seed) {
  const int64_t place = (i + rows) % rows * lines + (j + lines) % lines;
  return (double)((place * place * 31 + place * 17 + seed) % 101) / 50 - 1 +
         I * ((double)((place * 29 + 3 * seed) % 97) / 48 - 1);
}

/* The sum of kernel(y) f(x - y), or of its conjugate times f(x + y). */
static double complex convolved(int64_t i, int64_t j, int conjugated) {
  double complex sum = 0;
  for (int64_t a = 0; a < rows; ++a)
    for (int64_t b = 0; b < lines; ++b)
      sum += conjugated ? conj(number_at(a, b, 5)) * number_at(i + a, j + b, 1)
                        : number_at(a, b, 5) * number_at(i - a, j - b, 1);
  return sum;
}

static void test_product(weft_comm comm) {
  weft_problem problem = {.size = sizeof problem, .ndim = 2, .shape = {rows, lines}};
  weft_distribution modes_there = {.size = sizeof modes_there, .cut = WEFT_BOX};
  weft_plan plan = NULL, kernel = NULL;
  weft_box between = {0};
  weft_layout in = {.size = sizeof in}, out = {.size = sizeof out};
  problem.between = WEFT_BETWEEN_MODES;
  problem.backward_scale = WEFT_FULL;
  GOOD(weft_plan_create(comm, &problem, NULL, &plan));
  GOOD(weft_plan_between_box(plan, &between));
  problem.between = WEFT_BETWEEN_NONE;
  modes_there.boxes = &between;
  problem.output = &modes_there;
  GOOD(weft_plan_create(comm, &problem, NULL, &kernel));
  GOOD(weft_plan_layout(kernel, WEFT_INPUT, &in));
  GOOD(weft_plan_layout(kernel, WEFT_OUTPUT, &out));
  double complex *x = NULL, *modes = NULL, *y = NULL;
  GOOD(weft_alloc((size_t)in.count * sizeof *x, (void**)&x));
  GOOD(weft_alloc((size_t)out.count * sizeof *modes, (void**)&modes));
  GOOD(weft_alloc((size_t)in.count * sizeof *y, (void**)&y));
  int64_t at[2], i = 0;
  for (int more = begin(&in.box, at); more; more = next(&in.box, at)) x[i++] = number_at(at[0], at[1], 5);
  GOOD(weft_forward(kernel, x, modes));
  i = 0;
  for (int more = begin(&in.box, at); more; more = next(&in.box, at)) x[i++] = number_at(at[0], at[1], 1);
  for (int conjugated = 0; conjugated < 2; ++conjugated) {
    weft_mode_operator op = NULL;
    GOOD(weft_mode_operator_product(plan, modes, conjugated, &op));
    GOOD(weft_apply_mode_operator(plan, WEFT_FORWARD, x, y, op, NULL, 0));
    i = 0;
    for (int more = begin(&in.box, at); more; more = next(&in.box, at))
      CHECK(cabs(y[i++] - convolved(at[0], at[1], conjugated)) < exact);
    GOOD(weft_mode_operator_free(&op));
  }
  weft_mode_operator op = NULL;
  FAILS(weft_plan_between_box(kernel, &between), WEFT_FAILURE, "between");
  FAILS(weft_plan_between_box(plan, NULL), WEFT_BAD_ARGUMENT, "box is NULL");
  FAILS(weft_mode_operator_product(kernel, modes, 0, &op), WEFT_FAILURE,
        "product: a plan without an operator");
  FAILS(weft_mode_operator_product(plan, modes, 0, NULL), WEFT_BAD_ARGUMENT, "op is NULL");
  FAILS(weft_mode_operator_product(NULL, modes, 0, &op), WEFT_BAD_HANDLE, "product: NULL; expected a plan");
  if (weft_box_count(&between) > 0)
    FAILS(weft_mode_operator_product(plan, NULL, 0, &op), WEFT_FAILURE, "product: a null pointer");
  CHECK(op == NULL);
  weft_free(x);
  weft_free(modes);
  weft_free(y);
  GOOD(weft_plan_free(&plan));
  GOOD(weft_plan_free(&kernel));
}

static void test_wrong_problems(void) {
  const double negative[3] = {1, -2, 3};
  weft_problem problem = with_modes();
  weft_mode_operator op = NULL;
  FAILS(weft_mode_operator_laplacian(NULL, NULL, &op), WEFT_BAD_ARGUMENT, "laplacian: problem is NULL");
  FAILS(weft_mode_operator_laplacian(&problem, NULL, NULL), WEFT_BAD_ARGUMENT, "laplacian: op is NULL");
  FAILS(weft_mode_operator_laplacian(&problem, negative, &op), WEFT_FAILURE, "lengths {1");
  FAILS(weft_mode_operator_gradient(&problem, negative, WEFT_FIRST_AXIS_FIRST, &op), WEFT_FAILURE, "lengths");
  FAILS(weft_mode_operator_gradient(&problem, NULL, (weft_components)7, &op), WEFT_BAD_ARGUMENT,
        "gradient: 7; expected a value of weft_components, 0 to 1");
  FAILS(weft_mode_operator_derivative(&problem, 3, 1, NULL, &op), WEFT_FAILURE, "derivative: axis 3");
  FAILS(weft_mode_operator_derivative(&problem, 0, -1, NULL, &op), WEFT_FAILURE, "order -1");
  FAILS(weft_mode_operator_inverse_helmholtz(&problem, HUGE_VAL, NULL, &op), WEFT_FAILURE, "a finite number");
  FAILS(weft_mode_operator_shift(&problem, NULL, NULL, &op), WEFT_BAD_ARGUMENT, "distances is NULL");
  FAILS(weft_mode_operator_filter(&problem, NULL, NULL, NULL, &op), WEFT_BAD_ARGUMENT, "factor is NULL");
  problem.transforms[1] = WEFT_DCT2;
  FAILS(weft_mode_operator_derivative(&problem, 1, 1, NULL, &op), WEFT_FAILURE, "dct2 along axis 1");
  FAILS(weft_mode_operator_curl(&problem, NULL, WEFT_LAST_AXIS_FIRST, &op), WEFT_FAILURE,
        "dct2 along axis 1");
  FAILS(weft_mode_operator_divergence(&problem, NULL, WEFT_FIRST_AXIS_FIRST, &op), WEFT_FAILURE,
        "dct2 along axis 1");
  FAILS(weft_mode_operator_solenoidal_part(&problem, NULL, WEFT_FIRST_AXIS_FIRST, &op), WEFT_FAILURE,
        "dct2 along axis 1");
  problem = with_modes();
  problem.between = WEFT_BETWEEN_NONE;
  FAILS(weft_mode_operator_laplacian(&problem, NULL, &op), WEFT_FAILURE, "without an operator on modes");
  problem.size = 8;
  FAILS(weft_mode_operator_laplacian(&problem, NULL, &op), WEFT_BAD_ARGUMENT, "weft_problem has the size 8");
  CHECK(op == NULL);
}

static void test_wrong_operators(weft_comm comm, int rank, int size) {
  weft_problem problem = with_modes();
  weft_options options = NULL;
  weft_plan plan = NULL;
  weft_mode_operator good = NULL, wide = NULL, other = NULL, freed = NULL;
  double *x = NULL, *y = NULL;
  weft_layout layout = {.size = sizeof layout};
  GOOD(weft_mode_operator_laplacian(&problem, NULL, &good));
  GOOD(weft_mode_operator_gradient(&problem, NULL, WEFT_FIRST_AXIS_FIRST, &wide));
  GOOD(weft_mode_operator_laplacian(&problem, NULL, &freed));
  const weft_mode_operator copy = freed;
  GOOD(weft_mode_operator_free(&freed));
  problem.shape[0] += 1;
  GOOD(weft_mode_operator_laplacian(&problem, NULL, &other));
  problem.shape[0] -= 1;
  GOOD(weft_options_create(&options));
  GOOD(weft_options_set(options, "check", "collective"));
  GOOD(weft_plan_create(comm, &problem, options, &plan));
  GOOD(weft_options_free(&options));
  GOOD(weft_plan_layout(plan, WEFT_INPUT, &layout));
  GOOD(weft_alloc((size_t)layout.count * sizeof *x, (void**)&x));
  GOOD(weft_alloc((size_t)layout.count * sizeof *y, (void**)&y));
  FAILS(weft_apply_mode_operator(plan, WEFT_FORWARD, x, y, copy, NULL, 0), WEFT_BAD_HANDLE,
        "apply: an operator on modes that was freed");
  FAILS(weft_apply_mode_operator(plan, WEFT_FORWARD, x, y, NULL, NULL, 0), WEFT_BAD_HANDLE,
        "apply: NULL; expected an operator on modes");
  FAILS(weft_apply_mode_operator(plan, WEFT_FORWARD, x, y, (weft_mode_operator)(void*)plan, NULL, 0),
        WEFT_BAD_HANDLE, "apply: a plan; expected an operator on modes");
  FAILS(weft_apply_mode_operator((weft_plan)(void*)good, WEFT_FORWARD, x, y, good, NULL, 0), WEFT_BAD_HANDLE,
        "apply: an operator on modes; expected a plan");
  FAILS(weft_apply_mode_operator(plan, WEFT_FORWARD, x, y, wide, NULL, 0), WEFT_FAILURE,
        "1 fields and 1 results; expected 3 results for each field");
  FAILS(weft_apply_mode_operator(plan, WEFT_FORWARD, x, y, other, NULL, 0), WEFT_FAILURE, "of 9x6x6 modes");
  FAILS(weft_apply_mode_operator(plan, (weft_direction)2, x, y, good, NULL, 0), WEFT_BAD_ARGUMENT,
        "apply: 2");
  if (size > 1) { /* a mistake of the last rank */
    const int wrong = rank == size - 1;
    FAILS(weft_apply_mode_operator(plan, WEFT_FORWARD, x, y, wrong ? copy : good, NULL, 0),
          wrong ? WEFT_BAD_HANDLE : WEFT_FAILURE, "an operator on modes that was freed");
  }
  GOOD(weft_apply_mode_operator(plan, WEFT_BACKWARD, x, y, good, NULL, 0)); /* and the plan goes on */
  freed = copy;
  FAILS(weft_mode_operator_free(&freed), WEFT_BAD_HANDLE, "an operator on modes that was freed");
  weft_free(x);
  weft_free(y);
  GOOD(weft_plan_free(&plan));
  GOOD(weft_mode_operator_free(&good));
  GOOD(weft_mode_operator_free(&wide));
  GOOD(weft_mode_operator_free(&other));
  GOOD(weft_mode_operator_free(NULL));
}

void test_mode_operators(weft_comm comm) {
  int rank = -1, size = 0;
  GOOD(weft_comm_rank(comm, &rank));
  GOOD(weft_comm_size(comm, &size));
  test_scalars(comm);
  test_vectors(comm);
  test_product(comm);
  test_wrong_problems();
  test_wrong_operators(comm, rank, size);
}
