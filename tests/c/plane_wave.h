// Real fields of one plane wave, whose derivatives differ along each axis.
#ifndef WEFT_TESTS_C_PLANE_WAVE_H
#define WEFT_TESTS_C_PLANE_WAVE_H

#include "weft/weft.h"

// sine * sin(k x) + cosine * cos(k x) + mean
typedef struct wave {
  double sine, cosine, mean;
} wave;

// Points, periods along the axes, lengths of the domain, and the angular wavenumbers that follow.
#define WAVE_POINTS 8, 6, 10
extern const double wave_lengths[3];
extern const double wave_k[3];

// c2c, c2c, r2c of these points.
weft_problem problem_of_waves(void);

// The fields of this rank, which begin with the first one's first element, and the largest error of such.
void fill_waves(const weft_layout* layout, const wave* fields, int count, double* to);
double error_of_waves(const weft_layout* layout, const wave* fields, int count, const double* from);

#endif
