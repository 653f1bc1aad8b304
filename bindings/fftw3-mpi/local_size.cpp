#include "local_size.hpp"

#include <algorithm>
#include <cstdio>

#include "request.hpp"

namespace weft::fftw3_mpi {

namespace {

LocalSize size_of(int rank, const ptrdiff_t* n, ptrdiff_t howmany, ptrdiff_t block0, ptrdiff_t block1,
                  int ranks, int me) {
  const Rows first = rows_of(n[0], block0, ranks, me);
  if (rank == 1)
    return {first.count, first.start, first.count, first.start, std::max<Index>(first.count, 1) * howmany};
  const Rows second = rows_of(n[1], block1, ranks, me);
  Index rest = howmany;
  for (int a = 2; a < rank; ++a) rest *= n[a];
  const Index room = std::max(first.count * n[1], n[0] * second.count) * rest;
  return {first.count, first.start, second.count, second.start, std::max<Index>(room, 1)};
}

}  // namespace

LocalSize local_size(int rank, const ptrdiff_t* n, ptrdiff_t howmany, ptrdiff_t block0, ptrdiff_t block1,
                     MPI_Comm communicator) noexcept {
  if (rank < 1) return {1, 0, 1, 0, std::max<ptrdiff_t>(howmany, 1)};
  int me = 0, ranks = 1;
  MPI_Comm_rank(communicator, &me);
  MPI_Comm_size(communicator, &ranks);
  if (rank == 1 && ranks > 1 && !has_wide_points(howmany, ranks, 0)) {
    if (me == 0)
      std::fprintf(
          stderr,
          "weft: fftw3-mpi: local size: one dimension on %d ranks, which depends on the sign; expected "
          "fftw_mpi_local_size_1d or _many_1d, or howmany of at least the number of ranks\n",
          ranks);
    MPI_Abort(communicator, 1);
  }
  return size_of(rank, n, howmany, block0, block1, ranks, me);
}

LocalSize line_size(ptrdiff_t n, ptrdiff_t howmany, int sign, unsigned flags,
                    MPI_Comm communicator) noexcept {
  int me = 0, ranks = 1;
  MPI_Comm_rank(communicator, &me);
  MPI_Comm_size(communicator, &ranks);
  if (ranks == 1 || n < 1 || has_wide_points(howmany, ranks, flags))
    return size_of(1, &n, howmany, 0, 0, ranks, me);
  const Line line = line_of(n, ranks);
  const auto numbers = [&](bool modes) {
    const Rows rows = line.rows(modes, ranks, me);
    return Rows{rows.start * line.row(modes), rows.count * line.row(modes)};
  };
  const bool modes_first = sign == FFTW_BACKWARD;
  const Rows in = numbers(modes_first), out = numbers(!modes_first);
  return {in.count, in.start, out.count, out.start, std::max<Index>({in.count, out.count, 1}) * howmany};
}

}  // namespace weft::fftw3_mpi
