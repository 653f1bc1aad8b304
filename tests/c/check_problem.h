// Transforms one problem forward and backward, and compares both with sums.
#ifndef WEFT_TESTS_C_CHECK_PROBLEM_H
#define WEFT_TESTS_C_CHECK_PROBLEM_H

#include "weft/weft.h"

// How executions are made.
typedef enum way { PLAIN, OWN_WORKSPACE, STARTED } way;

// Collective. Also checks that nothing outside of the boxes is touched, and out of place that the input is
// left as it was.
void check_problem(weft_comm comm, const weft_problem* problem, way how, const char* name);

// The points of a box, the last axis first: for (int more = begin(box, at); more; more = next(box, at)).
int begin(const weft_box* box, int64_t* at);
int next(const weft_box* box, int64_t* at);

// The part of rank `rank` if `size` ranks cut an array of this shape along one axis, the larger parts first.
weft_box slab_of(const weft_problem* problem, int axis, int rank, int size);

// A problem of three axes, c2c along all of them.
weft_problem small_problem(void);

#endif
