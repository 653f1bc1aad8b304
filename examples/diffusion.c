/* Heat in a periodic box, written for FFTW's MPI library: mpirun -n 4 build/release/bin/diffusion */
#include <fftw3-mpi.h>
#include <math.h>
#include <stdio.h>

int main(int argc, char** argv) {
  const ptrdiff_t n0 = 24, n1 = 18, n2 = 30, half = n2 / 2 + 1;
  const double pi = acos(-1.0), time = 0.05;
  ptrdiff_t local_n0, start0, local_n1, start1;
  MPI_Init(&argc, &argv);
  fftw_mpi_init();

  ptrdiff_t room =
      fftw_mpi_local_size_3d_transposed(n0, n1, half, MPI_COMM_WORLD, &local_n0, &start0, &local_n1, &start1);
  fftw_complex* modes = fftw_alloc_complex(room);
  double* heat = (double*)modes; /* in place: lines of 2 (n2/2 + 1) numbers */
  fftw_plan there = fftw_mpi_plan_dft_r2c_3d(n0, n1, n2, heat, modes, MPI_COMM_WORLD,
                                             FFTW_ESTIMATE | FFTW_MPI_TRANSPOSED_OUT);
  fftw_plan back = fftw_mpi_plan_dft_c2r_3d(n0, n1, n2, modes, heat, MPI_COMM_WORLD,
                                            FFTW_ESTIMATE | FFTW_MPI_TRANSPOSED_IN);
  if (there == NULL || back == NULL) MPI_Abort(MPI_COMM_WORLD, 1);

  for (ptrdiff_t i = 0; i < local_n0; ++i)
    for (ptrdiff_t j = 0; j < n1; ++j)
      for (ptrdiff_t k = 0; k < n2; ++k)
        heat[(i * n1 + j) * 2 * half + k] =
            cos(2 * pi * (start0 + i) / n0) * sin(2 * pi * 2 * j / n1) * cos(2 * pi * k / n2);

  fftw_execute(there);
  for (ptrdiff_t j = 0; j < local_n1; ++j)
    for (ptrdiff_t i = 0; i < n0; ++i)
      for (ptrdiff_t k = 0; k < half; ++k) {
        const double x = i < n0 - i ? i : i - n0,
                     y = start1 + j < n1 - start1 - j ? start1 + j : start1 + j - n1;
        const double kept = exp(-(x * x + y * y + k * k) * time) / (n0 * n1 * n2);
        modes[(j * n0 + i) * half + k][0] *= kept;
        modes[(j * n0 + i) * half + k][1] *= kept;
      }
  fftw_execute(back);

  double worst = 0, of_all = 0;
  for (ptrdiff_t i = 0; i < local_n0; ++i)
    for (ptrdiff_t j = 0; j < n1; ++j)
      for (ptrdiff_t k = 0; k < n2; ++k) {
        const double wave = cos(2 * pi * (start0 + i) / n0) * sin(2 * pi * 2 * j / n1) * cos(2 * pi * k / n2);
        worst = fmax(worst, fabs(heat[(i * n1 + j) * 2 * half + k] - exp(-6 * time) * wave));
      }
  MPI_Allreduce(&worst, &of_all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("heat after %g: the error is %.1e\n", time, of_all);

  fftw_destroy_plan(there);
  fftw_destroy_plan(back);
  fftw_free(modes);
  fftw_mpi_cleanup();
  MPI_Finalize();
  return of_all < 1e-14 ? 0 : 1;
}
