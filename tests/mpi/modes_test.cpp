// Sums by shell among MPI ranks.
#include <gtest/gtest.h>

#include "support/check_spectra.hpp"
#include "weft/mpi.hpp"

namespace weft::test {

TEST(Modes, ShellSpectra) {
  check_spectra(Comm::mpi(MPI_COMM_WORLD));
}

}  // namespace weft::test
