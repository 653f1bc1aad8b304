#include "plane_wave.h"

#include <math.h>

#include "check_problem.h"

static const double pi = 3.14159265358979323846;
static const int64_t points[3] = {WAVE_POINTS};
static const int periods[3] = {1, 2, 3};
const double wave_lengths[3] = {1, 2.5, 4};
const double wave_k[3] = {2 * 3.14159265358979323846 * 1 / 1, 2 * 3.14159265358979323846 * 2 / 2.5,
                          2 * 3.14159265358979323846 * 3 / 4};

weft_problem problem_of_waves(void) {
  weft_problem problem = {.size = sizeof problem, .ndim = 3, .shape = {WAVE_POINTS}};
  problem.transforms[2] = WEFT_R2C;
  return problem;
}

static double value(const wave* field, const int64_t* at) {
  double phase = 0;
  for (int a = 0; a < 3; ++a) phase += 2 * pi * (double)(periods[a] * at[a]) / (double)points[a];
  return field->sine * sin(phase) + field->cosine * cos(phase) + field->mean;
}

static int64_t place(const weft_layout* layout, const int64_t* at, int field) {
  int64_t p = layout->offset + field * layout->distance;
  for (int a = 0; a < 3; ++a) p += (at[a] - layout->box.lo[a]) * layout->strides[a];
  return p;
}

void fill_waves(const weft_layout* layout, const wave* fields, int count, double* to) {
  int64_t at[3];
  for (int f = 0; f < count; ++f)
    for (int more = begin(&layout->box, at); more; more = next(&layout->box, at))
      to[place(layout, at, f)] = value(&fields[f], at);
}

double error_of_waves(const weft_layout* layout, const wave* fields, int count, const double* from) {
  double worst = 0;
  int64_t at[3];
  for (int f = 0; f < count; ++f)
    for (int more = begin(&layout->box, at); more; more = next(&layout->box, at)) {
      const double error = fabs(from[place(layout, at, f)] - value(&fields[f], at));
      if (!(error <= worst)) worst = error;  // also what is no number
    }
  return worst;
}
