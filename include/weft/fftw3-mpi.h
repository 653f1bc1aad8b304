/* The functions of FFTW's MPI library, double and float, carried out by Weft: a program that calls them is
   compiled with this header, or with FFTW's own, and linked with weft_fftw3_mpi in front of fftw3. For C and
   C++.

   The plans are of FFTW's type fftw_plan. Besides the functions here, fftw_execute, fftw_destroy_plan,
   fftw_flops, fftw_cost, fftw_estimate_cost and the three that print take them; no other function does. What
   each argument means is as in FFTW's manual; docs/from-fftw-mpi.md says what differs. The guard is that of
   FFTW's header, which declares the same names. */
#ifndef FFTW3_MPI_H
#define FFTW3_MPI_H

#include <fftw3.h>
#include <mpi.h>
#include <stddef.h>

/* A block size: divide the axis evenly, the last ranks get less or nothing. */
#define FFTW_MPI_DEFAULT_BLOCK (0)

/* Flags for plans, besides those of fftw3.h. SCRAMBLED is for transforms of one dimension, which are in
   natural order all the same. TRANSPOSED: the input or output is cut along the second dimension, which then
   is the slowest in memory, before the first. */
#define FFTW_MPI_SCRAMBLED_IN (1U << 27)
#define FFTW_MPI_SCRAMBLED_OUT (1U << 28)
#define FFTW_MPI_TRANSPOSED_IN (1U << 29)
#define FFTW_MPI_TRANSPOSED_OUT (1U << 30)

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_FFTW_MPI(name) fftw_mpi_##name
#define WEFT_FFTW(name) fftw_##name
#define WEFT_FFTW_REAL double
#include "fftw3/functions.h"
#undef WEFT_FFTW_MPI
#undef WEFT_FFTW
#undef WEFT_FFTW_REAL

#define WEFT_FFTW_MPI(name) fftwf_mpi_##name
#define WEFT_FFTW(name) fftwf_##name
#define WEFT_FFTW_REAL float
#include "fftw3/functions.h"
#undef WEFT_FFTW_MPI
#undef WEFT_FFTW
#undef WEFT_FFTW_REAL

#ifdef __cplusplus
}
#endif

#endif
