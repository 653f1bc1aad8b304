// The FFTW library itself, whose functions of plans this library stands in front of.
#pragma once

#include <string>

#include "weft/problem.hpp"

namespace weft::fftw3_mpi {

/// The file of the fftw_execute that the program calls, if that is FFTW's own and not the one of this
/// library: it does not know plans of this library. Empty if all is well.
std::string library_in_front(Precision precision);

/// The function of that name behind this library in the program's search order. Ends the program if there is
/// none.
void* behind(const char* name);

/// What fftw_plan_with_nthreads was given, 1 by default; and gives it again.
int planner_threads(Precision precision);
void set_planner_threads(Precision precision, int threads);

}  // namespace weft::fftw3_mpi
