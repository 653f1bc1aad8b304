// The FFTW library itself, whose functions of plans this library stands in front of.
#pragma once

#include <string>

#include "weft/problem.hpp"

namespace weft::fftw3_mpi {

/// What is wrong with the order in which the program was linked, or empty: its fftw_execute has to be the one
/// of this library, or plans of this library would reach FFTW, which does not know them.
std::string order_of_libraries();

/// The function of that name behind this library in the program's search order. Ends the program if there is
/// none.
void* behind(const char* name);

/// What fftw_plan_with_nthreads was given, 1 by default; and gives it again.
int planner_threads(Precision precision);
void set_planner_threads(Precision precision, int threads);

}  // namespace weft::fftw3_mpi
