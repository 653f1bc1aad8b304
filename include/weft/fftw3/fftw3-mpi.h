/* For programs that write #include <fftw3-mpi.h>: they find it here with -I<prefix>/include/weft/fftw3. */
#include "../fftw3-mpi.h"
