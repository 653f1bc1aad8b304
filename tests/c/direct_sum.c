#include "direct_sum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int64_t count_of(const whole_array* array) {
  int64_t count = 1;
  for (int a = 0; a < array->ndim; ++a) count *= array->shape[a];
  return count;
}

static whole_array new_array(int ndim, const int64_t* shape) {
  whole_array array = {.ndim = ndim};
  memcpy(array.shape, shape, (size_t)ndim * sizeof *shape);
  array.values = calloc((size_t)count_of(&array), sizeof *array.values);
  return array;
}

void free_array(whole_array* array) {
  free(array->values);
  array->values = NULL;
}

static int64_t place_of(const whole_array* array, const int64_t* at) {
  int64_t place = 0;
  for (int a = 0; a < array->ndim; ++a) place = place * array->shape[a] + at[a];
  return place;
}

double complex value_at(const whole_array* array, const int64_t* at) {
  return array->values[place_of(array, at)];
}

double largest_of(const whole_array* array) {
  double largest = 0;
  for (int64_t i = 0; i < count_of(array); ++i) largest = fmax(largest, cabs(array->values[i]));
  return largest;
}

static double number_between(uint64_t seed) {
  for (int i = 0; i < 3; ++i) seed = (seed ^ (seed >> 29)) * 0x9e3779b97f4a7c15u + 12345;
  return (double)(seed >> 11) / 4503599627370496.0 - 1;  // by 2^52: from -1 to 1
}

static double complex number_at(int64_t place, int64_t item, int is_complex) {
  const uint64_t seed = (uint64_t)(place * 8 + item * 100000);
  return number_between(seed) + (is_complex ? I * number_between(seed + 1) : 0);
}

double complex input_at(const whole_array* array, const int64_t* at, int64_t item, int is_complex) {
  return number_at(place_of(array, at), item, is_complex);
}

whole_array input_of(const weft_problem* problem, int64_t item, int is_complex) {
  whole_array array = new_array(problem->ndim, problem->shape);
  for (int64_t i = 0; i < count_of(&array); ++i) array.values[i] = number_at(i, item, is_complex);
  return array;
}

// The factor of point j in mode k of a line of n points.
static double complex factor_of(weft_transform transform, int64_t n, int64_t j, int64_t k) {
  const double pi = acos(-1.0), x = (double)j, y = (double)k, length = (double)n;
  const double sign = k % 2 == 0 ? 1 : -1;
  switch (transform) {
    case WEFT_C2C:
    case WEFT_R2C:
      return cexp(-2 * pi * I * (double)(j * k % n) / length);
    case WEFT_DCT1:
      return j == 0 ? 1 : j == n - 1 ? sign : 2 * cos(pi * x * y / (length - 1));
    case WEFT_DCT2:
      return 2 * cos(pi * (x + 0.5) * y / length);
    case WEFT_DCT3:
      return j == 0 ? 1 : 2 * cos(pi * x * (y + 0.5) / length);
    case WEFT_DCT4:
      return 2 * cos(pi * (x + 0.5) * (y + 0.5) / length);
    case WEFT_DST1:
      return 2 * sin(pi * (x + 1) * (y + 1) / (length + 1));
    case WEFT_DST2:
      return 2 * sin(pi * (x + 0.5) * (y + 1) / length);
    case WEFT_DST3:
      return j == n - 1 ? sign : 2 * sin(pi * (x + 1) * (y + 0.5) / length);
    case WEFT_DST4:
      return 2 * sin(pi * (x + 0.5) * (y + 0.5) / length);
    default:
      return j == k ? 1 : 0;
  }
}

// Along one axis; the lines are `stride` apart from each other within a block.
static whole_array along(const whole_array* in, int axis, weft_transform transform) {
  int64_t shape[WEFT_MAX_AXES], stride = 1, blocks = 1;
  memcpy(shape, in->shape, sizeof shape);
  const int64_t n = shape[axis], modes = transform == WEFT_R2C ? n / 2 + 1 : n;
  shape[axis] = modes;
  whole_array out = new_array(in->ndim, shape);
  for (int a = axis + 1; a < in->ndim; ++a) stride *= shape[a];
  for (int a = 0; a < axis; ++a) blocks *= shape[a];
  for (int64_t k = 0; k < modes; ++k)
    for (int64_t j = 0; j < n; ++j) {
      const double complex factor = factor_of(transform, n, j, k);
      for (int64_t b = 0; b < blocks; ++b)
        for (int64_t s = 0; s < stride; ++s)
          out.values[(b * modes + k) * stride + s] += factor * in->values[(b * n + j) * stride + s];
    }
  return out;
}

whole_array direct_sum(const weft_problem* problem, const whole_array* input) {
  whole_array now = along(input, 0, problem->transforms[0]);
  for (int a = 1; a < problem->ndim; ++a) {
    whole_array next = along(&now, a, problem->transforms[a]);
    free_array(&now);
    now = next;
  }
  return now;
}
