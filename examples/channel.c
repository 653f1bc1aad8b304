/* The transform of a channel flow in C: a velocity between two walls is expanded in waves along the channel
 * and across it, and in Chebyshev polynomials from wall to wall, and its slope at a wall is read from the
 * coefficients. The points between the walls are z = cos(pi j/(n-1)), where T_k(z) = cos(pi jk/(n-1)), so
 * that the transform is c2c, c2c, dct1. The three components of the velocity are a batch, and pencils hold
 * them.
 *
 *   mpirun -n 4 channel_c [--grid N] [--comm mpi|threads:P]
 */
#include <complex.h>

#include "ranks.h"

enum { components = 3 };

/* The exact velocity, with waves 2, 3 and 4 along the channel and 1, 0 and 5 across it, and its slope at z
 * = 1. */
static const int wave_x[components] = {2, 3, 4}, wave_y[components] = {1, 0, 5};

static double profile(int c, double z) {
  return exp((c + 1) * z / 2) * (1 - z * z); /* zero at the walls */
}
static double slope_at_wall(int c) {
  return -2 * exp((c + 1) / 2.0);
}

static int transform_channel(const ranks* all) {
  const double pi = acos(-1.0);
  const int64_t n = all->grid;
  // [problem]
  weft_distribution rows = {.size = sizeof rows}, lines = {.size = sizeof lines};
  rows.cut = WEFT_PENCIL;
  rows.axis = 0;
  lines.cut = WEFT_PENCIL;
  lines.axis = 2; /* whole lines from wall to wall */
  weft_problem problem = {.size = sizeof problem};
  problem.ndim = 3;
  for (int a = 0; a < 3; ++a) problem.shape[a] = n;
  problem.transforms[0] = problem.transforms[1] = WEFT_C2C;
  problem.transforms[2] = WEFT_DCT1;
  problem.batch = components;
  problem.input = &rows;
  problem.output = &lines;
  // [/problem]
  weft_plan plan = NULL;
  check(weft_plan_create(all->comm, &problem, NULL, &plan));
  weft_layout in = {.size = sizeof in}, out = {.size = sizeof out};
  check(weft_plan_layout(plan, WEFT_INPUT, &in));
  check(weft_plan_layout(plan, WEFT_OUTPUT, &out));
  double complex *velocity = NULL, *modes = NULL;
  check(weft_alloc((size_t)in.count * in.element_bytes, (void**)&velocity));
  check(weft_alloc((size_t)out.count * out.element_bytes, (void**)&modes));

  size_t at = 0;
  for (int c = 0; c < components; ++c)
    for (int64_t i = in.box.lo[0]; i < in.box.hi[0]; ++i)
      for (int64_t j = in.box.lo[1]; j < in.box.hi[1]; ++j)
        for (int64_t k = in.box.lo[2]; k < in.box.hi[2]; ++k) {
          const double phase = 2 * pi * (double)((wave_x[c] * i + wave_y[c] * j) % n) / (double)n;
          velocity[at++] = cexp(I * phase) * profile(c, cos(pi * (double)k / (double)(n - 1)));
        }

  check(weft_forward(plan, velocity, modes));

  // [slope]
  /* A coefficient is the mode over 2(n-1) n n, the first and the last one half of it, times 2; the slope of
   * T_k at z = 1 is k^2. */
  double squares = 0, factor = 0;
  check(weft_plan_scale_factor(plan, &factor));
  for (int c = 0; c < components; ++c)
    for (int64_t i = out.box.lo[0]; i < out.box.hi[0]; ++i)
      for (int64_t j = out.box.lo[1]; j < out.box.hi[1]; ++j) {
        const double complex* const line = modes + c * out.distance + (i - out.box.lo[0]) * out.strides[0] +
                                           (j - out.box.lo[1]) * out.strides[1];
        double complex slope = 0;
        for (int64_t k = 1; k < n; ++k) slope += (k == n - 1 ? 1 : 2) * (double)(k * k) * line[k] / factor;
        const double expected = i == wave_x[c] && j == wave_y[c] ? slope_at_wall(c) : 0;
        squares += pow(cabs(slope - expected), 2);
      }
  // [/slope]
  weft_free(velocity);
  weft_free(modes);
  check(weft_plan_free(&plan));
  return closing(all, "channel in C", sqrt(sum_of(all, squares)) / -slope_at_wall(components - 1), 1e-11);
}

int main(int argc, char** argv) {
  return run_example(argc, argv, 32, transform_channel);
}
