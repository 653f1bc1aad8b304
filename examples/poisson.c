/* Poisson's equation, laplacian(u) = f, in C: f is expanded in functions of which the laplacian is a
 * multiple, divided by the multiples, and summed up again. Along axes 0 and 1 the domain is periodic with
 * length 2 pi. Along axis 2 there are three cases, and the transform of that axis is all that they differ in:
 *   periodic   c2c    length 2 pi, points z = 2 pi j/n
 *   Dirichlet  dst1   u = 0 at walls z = 0 and z = pi, points z = pi (j+1)/(n+1) between them
 *   Neumann    dct2   du/dz = 0 at the same walls, points z = pi (j+1/2)/n
 * The exact solution is exp(cos x) sin(y) g(z), with g(z) = exp(cos z), or sin(z) exp(cos z) for Dirichlet.
 * The counterpart of poisson.cpp.
 *
 *   mpirun -n 4 poisson_c [--grid N] [--comm mpi|threads:P]
 */
#include <complex.h>

#include "ranks.h"

static double pi(void) {
  return acos(-1.0);
}

/* A value of a function and its second derivative. */
typedef struct curve {
  double value, second;
} curve;

/* exp(cos t) */
static curve even(double t) {
  const double c = cos(t), s = sin(t), e = exp(c);
  return (curve){e, (s * s - c) * e};
}
/* sin(t) exp(cos t) */
static curve odd(double t) {
  const double c = cos(t), s = sin(t), e = exp(c);
  return (curve){s * e, (s * s - 3 * c - 1) * s * e};
}

/* Where point j of axis 2 lies, and the wave number of its mode k. */
static double place(weft_transform transform, int64_t j, int64_t n) {
  if (transform == WEFT_DST1) return pi() * (double)(j + 1) / (double)(n + 1);
  return transform == WEFT_DCT2 ? pi() * ((double)j + 0.5) / (double)n : 2 * pi() * (double)j / (double)n;
}
/* Those of a c2c axis beyond n/2 stand for negative ones. */
static double wave(weft_transform transform, int64_t k, int64_t n) {
  if (transform == WEFT_DST1) return (double)(k + 1);
  return (double)(transform == WEFT_DCT2 || 2 * k <= n ? k : k - n);
}

/* The solution at a point of the grid, and its laplacian. */
static curve solution(weft_transform transform, const int64_t* at, int64_t n) {
  const double z = place(transform, at[2], n), b = sin(place(WEFT_C2C, at[1], n));
  const curve a = even(place(WEFT_C2C, at[0], n)), g = transform == WEFT_DST1 ? odd(z) : even(z);
  return (curve){a.value * b * g.value, b * (a.second * g.value - a.value * g.value + a.value * g.second)};
}

// [position]
/* The points of a box, the last axis first: for (int more = begin(box, at); more; more = next(box, at)). */
static int begin(const weft_box* box, int64_t* at) {
  for (int a = 0; a < box->ndim; ++a) at[a] = box->lo[a];
  return weft_box_count(box) > 0;
}
static int next(const weft_box* box, int64_t* at) {
  for (int a = box->ndim - 1; a >= 0; --a) {
    if (++at[a] < box->hi[a]) return 1;
    at[a] = box->lo[a];
  }
  return 0;
}

/* Where a point is in memory, in elements. */
static size_t position(const weft_layout* layout, const int64_t* at) {
  int64_t place = layout->offset;
  for (int a = 0; a < layout->box.ndim; ++a) place += (at[a] - layout->box.lo[a]) * layout->strides[a];
  return (size_t)place;
}
// [/position]

/* Solves one case; returns the relative error. */
static double solve(const ranks* all, weft_transform transform) {
  const int64_t n = all->grid;
  // [problem]
  weft_distribution fastest = {.size = sizeof fastest};
  fastest.cut = WEFT_FASTEST;
  weft_problem problem = {.size = sizeof problem};
  problem.ndim = 3;
  for (int a = 0; a < 3; ++a) problem.shape[a] = n;
  problem.transforms[1] = WEFT_R2C;
  problem.transforms[2] = transform;
  problem.output = &fastest;
  problem.backward_scale = WEFT_FULL;
  // [/problem]
  weft_plan plan = NULL;
  check(weft_plan_create(all->comm, &problem, NULL, &plan));
  weft_layout in = {.size = sizeof in}, out = {.size = sizeof out};
  check(weft_plan_layout(plan, WEFT_INPUT, &in));
  check(weft_plan_layout(plan, WEFT_OUTPUT, &out));
  double* u = NULL;
  double complex* modes = NULL;
  check(weft_alloc((size_t)in.count * in.element_bytes, (void**)&u));
  check(weft_alloc((size_t)out.count * out.element_bytes, (void**)&modes));

  int64_t x[WEFT_MAX_AXES], k[WEFT_MAX_AXES];
  for (int more = begin(&in.box, x); more; more = next(&in.box, x))
    u[position(&in, x)] = solution(transform, x, n).second;

  // [solve]
  check(weft_forward(plan, u, modes));
  for (int more = begin(&out.box, k); more; more = next(&out.box, k)) {
    const double k2 =
        pow(wave(WEFT_C2C, k[0], n), 2) + pow((double)k[1], 2) + pow(wave(transform, k[2], n), 2);
    double complex* const mode = &modes[position(&out, k)];
    *mode = k2 == 0 ? 0 : -*mode / k2; /* the constant is free; this makes the mean zero */
  }
  check(weft_backward(plan, modes, u));
  // [/solve]

  double squares = 0, whole = 0;
  for (int more = begin(&in.box, x); more; more = next(&in.box, x)) {
    const double expected = solution(transform, x, n).value;
    squares += pow(u[position(&in, x)] - expected, 2);
    whole += pow(expected, 2);
  }
  weft_free(u);
  weft_free(modes);
  check(weft_plan_free(&plan));
  return sqrt(sum_of(all, squares) / sum_of(all, whole));
}

static int solve_all(const ranks* all) {
  const weft_transform cases[] = {WEFT_C2C, WEFT_DST1, WEFT_DCT2};
  double worst = 0;
  for (int c = 0; c < 3; ++c) {
    const double error = solve(all, cases[c]);
    if (!(error <= worst)) worst = error;
  }
  return closing(all, "Poisson in C", worst, 1e-12);
}

int main(int argc, char** argv) {
  return run_example(argc, argv, 40, solve_all);
}
