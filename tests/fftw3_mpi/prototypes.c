/* The declarations of weft/fftw3-mpi.h beside those of FFTW's own header: a difference is an error of the
 * compiler. */
#include <fftw3-mpi.h>
#undef FFTW3_MPI_H
#undef FFTW_MPI_DEFAULT_BLOCK
static const unsigned ours[] = {FFTW_MPI_SCRAMBLED_IN, FFTW_MPI_SCRAMBLED_OUT, FFTW_MPI_TRANSPOSED_IN,
                                FFTW_MPI_TRANSPOSED_OUT};
#undef FFTW_MPI_SCRAMBLED_IN
#undef FFTW_MPI_SCRAMBLED_OUT
#undef FFTW_MPI_TRANSPOSED_IN
#undef FFTW_MPI_TRANSPOSED_OUT
#include FFTW_HEADER

int main(void) {
  return ours[0] != FFTW_MPI_SCRAMBLED_IN || ours[1] != FFTW_MPI_SCRAMBLED_OUT ||
         ours[2] != FFTW_MPI_TRANSPOSED_IN || ours[3] != FFTW_MPI_TRANSPOSED_OUT ||
         FFTW_MPI_DEFAULT_BLOCK != 0;
}
