// Reshapes of one plan that are carried by messages and through shared memory, with messages that are large
// enough for MPI to need the sender as well: a rank that waits for a flag has to let its messages move on.
#include <gtest/gtest.h>

#include "weft/mpi.hpp"
#include "weft/weft.hpp"

namespace weft::test {

TEST(MixedExchanges, MessagesMoveOnWhileARankWaitsForAFlag) {
  using Complex = std::complex<double>;
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  if (comm.size() == 1) return;  // there are no reshapes
  Problem p;
  p.shape = {64, 64, 64};
  for (const char* exchanges : {"p2p,direct", "p2pw,direct", "direct,p2p"})
    for (const char* pipeline : {"planes", "two-front", "windowed", "sequential"}) {
      Plan plan(comm, p, Options().set("exchange", exchanges).set("pipeline", pipeline));
      Buffer<Complex> in(plan.input_count()), out(plan.output_count());
      const Box mine = plan.input_box();
      if (!mine.empty() && mine.lo[0] == 0) in[1] = 1;  // an impulse at (0, 0, 1)
      plan.forward(in.data(), out.data());
      double wrong = 0;
      const Box box = plan.output_box();
      for (Index i = 0; i < box.count(); ++i) {
        const Index z = i % 64;
        const auto wave = std::polar(1.0, -2 * 3.14159265358979323846 * static_cast<double>(z) / 64);
        wrong = std::max(wrong, std::abs(out[static_cast<std::size_t>(i)] - wave));
      }
      EXPECT_LT(wrong, 1e-14) << exchanges << " " << pipeline;
      plan.backward(out.data(), in.data());
      if (!mine.empty() && mine.lo[0] == 0) {
        EXPECT_NEAR(in[1].real(), 64.0 * 64 * 64, 1e-8) << exchanges << " " << pipeline;
      }
    }
}

}  // namespace weft::test
