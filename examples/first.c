/* A first transform in C: the spectrum of a wave that is spread over all ranks. The counterpart of first.cpp.
 *
 *   mpirun -n 4 first_c [--grid N] [--comm mpi|threads:P]
 */
#include <complex.h>

#include "ranks.h"

static int transform_wave(const ranks* all) {
  const int64_t n = all->grid;
  const int64_t wave[3] = {3, n - 2, 1}; /* of the wave's vector; n - 2 stands for -2 */

  // [problem]
  weft_distribution columns = {.size = sizeof columns};
  columns.cut = WEFT_SLAB;
  columns.axis = 1;
  weft_problem problem = {.size = sizeof problem};
  problem.ndim = 3;
  for (int a = 0; a < 3; ++a) problem.shape[a] = n;
  problem.transforms[2] = WEFT_R2C; /* the others are WEFT_C2C, which is 0 */
  problem.output = &columns;        /* the input is in slabs along axis 0, the default */
  // [/problem]

  // [plan]
  weft_plan plan = NULL;
  check(weft_plan_create(all->comm, &problem, NULL, &plan));
  weft_layout in = {.size = sizeof in}, out = {.size = sizeof out};
  check(weft_plan_layout(plan, WEFT_INPUT, &in));
  check(weft_plan_layout(plan, WEFT_OUTPUT, &out));
  double* field = NULL;
  double complex* modes = NULL;
  check(weft_alloc((size_t)in.count * in.element_bytes, (void**)&field));
  check(weft_alloc((size_t)out.count * out.element_bytes, (void**)&modes));
  // [/plan]

  // [fill]
  const double pi = acos(-1.0);
  size_t at = 0;
  for (int64_t i = in.box.lo[0]; i < in.box.hi[0]; ++i)
    for (int64_t j = in.box.lo[1]; j < in.box.hi[1]; ++j)
      for (int64_t k = in.box.lo[2]; k < in.box.hi[2]; ++k) {
        const int64_t phase = (wave[0] * i + wave[1] * j + wave[2] * k) % n;
        field[at++] = cos(2 * pi * (double)phase / (double)n);
      }
  // [/fill]

  // [forward]
  check(weft_forward(plan, field, modes));
  // [/forward]

  // [check]
  /* The wave is half exp(+i...) and half exp(-i...), of which the half-complex output holds one. */
  double factor = 0, squares = 0;
  check(weft_plan_scale_factor(plan, &factor));
  at = 0;
  for (int64_t i = out.box.lo[0]; i < out.box.hi[0]; ++i)
    for (int64_t j = out.box.lo[1]; j < out.box.hi[1]; ++j)
      for (int64_t k = out.box.lo[2]; k < out.box.hi[2]; ++k) {
        const int is_peak = i == wave[0] && j == wave[1] && k == wave[2];
        squares += pow(cabs(modes[at++] - (is_peak ? factor / 2 : 0)), 2);
      }
  const double error = sqrt(sum_of(all, squares)) / (factor / 2);
  // [/check]

  // [free]
  weft_free(field);
  weft_free(modes);
  check(weft_plan_free(&plan));
  // [/free]
  return closing(all, "first in C", error, 1e-13);
}

int main(int argc, char** argv) {
  return run_example(argc, argv, 32, transform_wave);
}
