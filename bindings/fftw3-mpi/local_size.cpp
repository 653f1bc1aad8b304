#include "local_size.hpp"

#include <algorithm>

#include "request.hpp"

namespace weft::fftw3_mpi {

LocalSize local_size(int rank, const ptrdiff_t* n, ptrdiff_t howmany, ptrdiff_t block0, ptrdiff_t block1,
                     MPI_Comm communicator) noexcept {
  if (rank < 1) return {1, 0, 1, 0, std::max<ptrdiff_t>(howmany, 1)};
  int me = 0, ranks = 1;
  MPI_Comm_rank(communicator, &me);
  MPI_Comm_size(communicator, &ranks);
  const Rows first = rows_of(n[0], block0, ranks, me);
  if (rank == 1)
    return {first.count, first.start, first.count, first.start, std::max<Index>(first.count, 1) * howmany};
  const Rows second = rows_of(n[1], block1, ranks, me);
  Index rest = howmany;
  for (int a = 2; a < rank; ++a) rest *= n[a];
  const Index room = std::max(first.count * n[1], n[0] * second.count) * rest;
  return {first.count, first.start, second.count, second.start, std::max<Index>(room, 1)};
}

LocalSize line_size(ptrdiff_t n, ptrdiff_t howmany, int sign, MPI_Comm communicator) noexcept {
  int me = 0, ranks = 1;
  MPI_Comm_rank(communicator, &me);
  MPI_Comm_size(communicator, &ranks);
  if (ranks == 1 || n < 1) return local_size(1, &n, howmany, 0, 0, communicator);
  const Line line = line_of(n);
  const auto numbers = [&](bool modes) {
    const Rows rows = line.rows(modes, ranks, me);
    return Rows{rows.start * line.row(modes), rows.count * line.row(modes)};
  };
  const bool modes_first = sign == FFTW_BACKWARD;
  const Rows in = numbers(modes_first), out = numbers(!modes_first);
  return {in.count, in.start, out.count, out.start, std::max<Index>({in.count, out.count, 1}) * howmany};
}

}  // namespace weft::fftw3_mpi
