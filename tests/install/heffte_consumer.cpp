// A program of heFFTe's that finds Weft in the place of heFFTe: an impulse becomes ones, in place.
#include <mpi.h>

#include <complex>
#include <cstdio>
#include <vector>

#include "heffte.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  bool right = true;
  {
    const heffte::box3d<> box({0, 0, 5 * rank}, {3, 6, 5 * rank + 4});
    heffte::fft3d<heffte::backend::stock> fft(box, box, MPI_COMM_WORLD);
    std::vector<std::complex<double>> data(static_cast<std::size_t>(fft.size_inbox()));
    if (rank == 0) data[0] = 1;
    fft.forward(data.data(), data.data());
    for (const auto& value : data) right = right && std::abs(value - 1.0) < 1e-14;
  }
  if (!right) std::printf("rank %d of %d: an impulse did not become ones\n", rank, ranks);
  MPI_Finalize();
  return right ? 0 : 1;
}
