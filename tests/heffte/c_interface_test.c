/* heFFTe's C interface over Weft, on any number of ranks: real and complex data of both precisions, against
 * sums. */
#include <heffte.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { nx = 5, ny = 4, nz = 7, points = nx * ny * nz };

static int me, ranks, failures;

static void check(int right, const char* what) {
  if (right) return;
  ++failures;
  fprintf(stderr, "rank %d: %s: wrong (%s)\n", me, what, weft_heffte_error());
}

/* The sum at (a, b, c) of what is at (i, j, k): 1 + i + 10 j + 100 k. It is a product of sums along single
 * axes. */
static double value(int i, int j, int k) {
  return 1 + i + 10 * j + 100 * k;
}
static void sum(int a, int b, int c, double* re, double* im) {
  const double pi = acos(-1);
  int i, j, k;
  *re = *im = 0;
  for (k = 0; k < nz; ++k)
    for (j = 0; j < ny; ++j)
      for (i = 0; i < nx; ++i) {
        const double angle = -2 * pi * ((double)(i * a) / nx + (double)(j * b) / ny + (double)(k * c) / nz);
        *re += value(i, j, k) * cos(angle);
        *im += value(i, j, k) * sin(angle);
      }
}

/* Whether complex numbers, float or double, are the transform in the box times a factor. */
static int is_transform(const void* out, int single, const int* low, const int* high, double factor) {
  int a, b, c;
  size_t at = 0;
  for (c = low[2]; c <= high[2]; ++c)
    for (b = low[1]; b <= high[1]; ++b)
      for (a = low[0]; a <= high[0]; ++a, at += 2) {
        const double re = single ? ((const float*)out)[at] : ((const double*)out)[at];
        const double im = single ? ((const float*)out)[at + 1] : ((const double*)out)[at + 1];
        double right_re, right_im;
        sum(a, b, c, &right_re, &right_im);
        if (fabs(re - factor * right_re) + fabs(im - factor * right_im) > (single ? 0.1 : 1e-9) * factor)
          return 0;
      }
  return 1;
}

/* Whether numbers of which every `step`-th one counts are the values in the box. */
static int is_value(const void* x, int single, int step, const int* low, const int* high) {
  int i, j, k;
  size_t at = 0;
  for (k = low[2]; k <= high[2]; ++k)
    for (j = low[1]; j <= high[1]; ++j)
      for (i = low[0]; i <= high[0]; ++i, at += (size_t)step) {
        const double v = single ? ((const float*)x)[at] : ((const double*)x)[at];
        if (fabs(v - value(i, j, k)) > (single ? 1e-3 : 1e-11)) return 0;
      }
  return 1;
}

static void fill(void* x, int single, int step, const int* low, const int* high) {
  int i, j, k;
  size_t at = 0;
  memset(x, 0, (size_t)(2 * points) * sizeof(double));
  for (k = low[2]; k <= high[2]; ++k)
    for (j = low[1]; j <= high[1]; ++j)
      for (i = low[0]; i <= high[0]; ++i, at += (size_t)step)
        if (single)
          ((float*)x)[at] = (float)value(i, j, k);
        else
          ((double*)x)[at] = value(i, j, k);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  /* Slabs along z before, along y after. */
  const int low[3] = {0, 0, nz * me / ranks}, high[3] = {nx - 1, ny - 1, nz * (me + 1) / ranks - 1};
  const int out_low[3] = {0, ny * me / ranks, 0}, out_high[3] = {nx - 1, ny * (me + 1) / ranks - 1, nz - 1};
  const int half_high[3] = {nx / 2, out_high[1], nz - 1};
  const int in_points = nx * ny * (high[2] - low[2] + 1),
            out_points = nx * (out_high[1] - out_low[1] + 1) * nz;
  const double full = 1. / points;
  double* in = malloc(2 * points * sizeof(double));
  double* out = malloc(2 * points * sizeof(double));

  heffte_plan plan = NULL;
  heffte_plan_options options;
  check(heffte_set_default_options(Heffte_BACKEND_FFTW, &options) == Heffte_SUCCESS, "default options");
  check(options.use_reorder == 1 && options.algorithm == Heffte_RESHAPE_ALGORITHM_ALLTOALLV &&
            options.use_pencils == 1,
        "values of the default options");
  check(heffte_plan_create(Heffte_BACKEND_FFTW, low, high, NULL, out_low, out_high, NULL, MPI_COMM_WORLD,
                           &options, &plan) == Heffte_SUCCESS,
        "plan");
  if (plan == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  check(heffte_size_inbox(plan) == in_points && heffte_size_outbox(plan) == out_points, "sizes");
  check(heffte_size_workspace(plan) == 0, "size of the workspace");
  check(heffte_get_backend(plan) == Heffte_BACKEND_FFTW && heffte_is_r2c(plan) == 0, "kind");

  fill(in, 0, 2, low, high);
  heffte_forward_z2z(plan, in, out, Heffte_SCALE_FULL);
  check(is_transform(out, 0, out_low, out_high, full), "forward z2z");
  heffte_backward_z2z_buffered(plan, out, in, NULL, Heffte_SCALE_NONE);
  check(is_value(in, 0, 2, low, high), "backward z2z");
  fill(in, 1, 2, low, high);
  heffte_forward_c2c_buffered(plan, in, out, NULL, Heffte_SCALE_NONE);
  check(is_transform(out, 1, out_low, out_high, 1), "forward c2c");
  heffte_backward_c2c(plan, out, in, Heffte_SCALE_FULL);
  check(is_value(in, 1, 2, low, high), "backward c2c");
  fill(in, 0, 1, low, high);
  heffte_forward_d2z(plan, in, out, Heffte_SCALE_SYMMETRIC);
  check(is_transform(out, 0, out_low, out_high, sqrt(full)), "forward d2z");
  heffte_backward_z2d(plan, out, in, Heffte_SCALE_SYMMETRIC);
  check(is_value(in, 0, 1, low, high), "backward z2d");
  check(heffte_plan_destroy(plan) == Heffte_SUCCESS, "destroy");

  check(heffte_plan_create_r2c(Heffte_BACKEND_STOCK, low, high, NULL, out_low, half_high, NULL, 0,
                               MPI_COMM_WORLD, NULL, &plan) == Heffte_SUCCESS,
        "r2c plan");
  if (plan == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  check(heffte_is_r2c(plan) == 1, "r2c kind");
  fill(in, 1, 1, low, high);
  heffte_forward_s2c(plan, (float*)in, out, Heffte_SCALE_NONE);
  check(is_transform(out, 1, out_low, half_high, 1), "forward s2c");
  heffte_backward_c2s_buffered(plan, out, (float*)in, NULL, Heffte_SCALE_FULL);
  check(is_value(in, 1, 1, low, high), "backward c2s");
  fill(in, 0, 1, low, high);
  heffte_forward_d2z_buffered(plan, in, out, NULL, Heffte_SCALE_NONE);
  check(is_transform(out, 0, out_low, half_high, 1), "r2c forward d2z");
  heffte_backward_z2d_buffered(plan, out, in, NULL, Heffte_SCALE_FULL);
  check(is_value(in, 0, 1, low, high), "r2c backward z2d");
  heffte_plan_destroy(plan);

  /* What is wrong is a status, a message and no plan. */
  plan = (heffte_plan)in;
  check(heffte_plan_create(77, low, high, NULL, out_low, out_high, NULL, MPI_COMM_WORLD, NULL, &plan) == 1 &&
            plan == NULL && strstr(weft_heffte_error(), "backend 77"),
        "unknown backend");
  check(heffte_plan_create(Heffte_BACKEND_FFTW, low, high, NULL, out_low, half_high, NULL, MPI_COMM_WORLD,
                           NULL, &plan) == 2 &&
            plan == NULL && strstr(weft_heffte_error(), "outboxes of"),
        "boxes that do not fit");
  check(heffte_plan_create_r2c(Heffte_BACKEND_FFTW, low, high, NULL, out_low, half_high, NULL, -1,
                               MPI_COMM_WORLD, NULL, &plan) == 2 &&
            strstr(weft_heffte_error(), "r2c_direction -1"),
        "r2c_direction");
  options.algorithm = 4;
  check(heffte_plan_create(Heffte_BACKEND_FFTW, low, high, NULL, out_low, out_high, NULL, MPI_COMM_WORLD,
                           &options, &plan) == 2 &&
            strstr(weft_heffte_error(), "algorithm 4"),
        "algorithm");
  check(heffte_plan_destroy(NULL) == Heffte_SUCCESS, "destroy of NULL");

  free(in);
  free(out);
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (me == 0) printf("heFFTe's C interface on %d ranks: %s\n", ranks, failures == 0 ? "right" : "WRONG");
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
