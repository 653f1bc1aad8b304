// Codecs among MPI ranks: what a plan measures of its own error is the same on all of them.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>

#include "comm/comm_impl.hpp"
#include "weft/mpi.hpp"
#include "weft/weft.hpp"

namespace weft::test {

TEST(CodedPlans, MeasureTheirErrorAmongAllRanks) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  Problem p;
  p.shape = {24, 26, 10};
  p.output = Distribution::slab(1);
  for (const char* exchange : {"p2p", "alltoallv", "alltoall", "ialltoallv"}) {
    SCOPED_TRACE(exchange);
    Plan plan(comm, p, Options().set("exchange", exchange).set("codec", "fp32"));
    Buffer<std::complex<double>> in(plan.input_count()), spectrum(plan.output_count());
    for (std::size_t i = 0; i < in.size(); ++i)
      in[i] = std::polar(1.0, 0.1 * static_cast<double>(i) + comm.rank());
    plan.forward(in.data(), spectrum.data());
    const Accuracy forward = plan.measured_error(Direction::forward, in.data()),
                   backward = plan.measured_error(Direction::backward, spectrum.data());
    for (const Accuracy& a : {forward, backward}) {
      EXPECT_LE(a.l2, a.bound);
      for (const Accuracy& other : all_of(comm.impl(), a)) {
        EXPECT_EQ(other.l2, a.l2);
        EXPECT_EQ(other.maximum, a.maximum);
      }
      if (comm.size() > 1) {
        EXPECT_GT(a.l2, 1e-9);
        EXPECT_GT(a.maximum, 1e-9);
      }
    }
  }
}

}  // namespace weft::test
