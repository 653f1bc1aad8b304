// The tests of the C interface on the ranks of MPI.
#include <stdio.h>

#include "check.h"
#include "weft/weft_mpi.h"

static void test_comms(weft_comm comm) {
  int rank = -1, size = 0, mpi_rank = -1, mpi_size = 0;
  const char* medium = NULL;
  weft_comm same = NULL, part = NULL, none = NULL;
  MPI_Comm_rank(MPI_COMM_WORLD, &mpi_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &mpi_size);
  GOOD(weft_comm_rank(comm, &rank));
  GOOD(weft_comm_size(comm, &size));
  GOOD(weft_comm_medium(comm, &medium));
  CHECK(rank == mpi_rank && size == mpi_size && has_part(medium, "mpi"));
  GOOD(weft_comm_mpi_f(MPI_Comm_c2f(MPI_COMM_WORLD), &same));
  GOOD(weft_comm_rank(same, &rank));
  CHECK(rank == mpi_rank);
  GOOD(weft_comm_free(&same));
  GOOD(weft_comm_split(comm, mpi_rank == 0 ? 0 : 1, &part));
  GOOD(weft_comm_size(part, &size));
  CHECK(size == (mpi_rank == 0 ? 1 : mpi_size - 1));
  test_transforms(part);
  GOOD(weft_comm_free(&part));
  FAILS(weft_comm_mpi(MPI_COMM_NULL, &none), WEFT_FAILURE, "MPI_COMM_NULL");
  FAILS(weft_comm_mpi_f(MPI_Comm_c2f(MPI_COMM_NULL), &none), WEFT_FAILURE, "MPI_COMM_NULL");
  FAILS(weft_comm_mpi(MPI_COMM_WORLD, NULL), WEFT_BAD_ARGUMENT, "comm is NULL");
  CHECK(none == NULL);
}

int main(int argc, char** argv) {
  weft_comm comm = NULL, late = NULL;
  FAILS(weft_comm_mpi(MPI_COMM_WORLD, &comm), WEFT_FAILURE, "MPI");  // not initialised
  MPI_Init(&argc, &argv);
  GOOD(weft_comm_mpi(MPI_COMM_WORLD, &comm));
  test_on(comm);
  test_comms(comm);
  int mine = failures(), all = 0, rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("C: %d failures\n", all);
  MPI_Finalize();
  GOOD(weft_comm_free(&comm));  // may outlive MPI
  FAILS(weft_comm_mpi(MPI_COMM_WORLD, &late), WEFT_FAILURE, "MPI");
  return all + failures() == 0 ? 0 : 1;
}
