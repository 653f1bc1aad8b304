// What a transform is, by its sums, of the whole array on every rank.
#ifndef WEFT_TESTS_C_DIRECT_SUM_H
#define WEFT_TESTS_C_DIRECT_SUM_H

#include <complex.h>

#include "weft/weft.h"

// A whole array in C order.
typedef struct whole_array {
  int ndim;
  int64_t shape[WEFT_MAX_AXES];
  double complex* values;
} whole_array;

// The input that tests give: numbers between -1 and 1 that follow from the indices, real if so asked for.
double complex input_at(const whole_array* array, const int64_t* at, int64_t item, int is_complex);
whole_array input_of(const weft_problem* problem, int64_t item, int is_complex);
// The result of forward without scaling. To be freed as the other with free_array.
whole_array direct_sum(const weft_problem* problem, const whole_array* input);
void free_array(whole_array* array);

double complex value_at(const whole_array* array, const int64_t* at);
// The largest absolute value.
double largest_of(const whole_array* array);

#endif
