// Execution allocates nothing of its own under MPI either. What the MPI library allocates inside its calls is
// its own affair, so only the C++ side of the process is counted here.
#include <gtest/gtest.h>

#include "base/test_hook.hpp"
#include "comm/comm_impl.hpp"
#include "support/has_exchange.hpp"
#include "support/new_counter.hpp"
#include "weft/mpi.hpp"
#include "weft/weft.hpp"

namespace weft::test {

TEST(Execution, AllocatesNothingUnderMpi) {
  using Complex = std::complex<double>;
  const Comm world = Comm::mpi(MPI_COMM_WORLD);
  const ScopedSwitch pairs(detail::pretended_ranks_per_node, 2);
  const Comm machines = Comm::mpi(MPI_COMM_WORLD);
  for (const char* exchange : {"direct", "p2p", "p2pw", "alltoallv", "pairwise", "alltoall", "alltoallw",
                               "ialltoallv", "ring", "node", "node_ucx", "ucx", "ucx puts"})
    for (const char* pipeline : {"sequential", "windowed", "planes", "two-front"}) {
      const Comm& comm = std::string(exchange).starts_with("node") ? machines : world;
      if (!has_exchange(comm, exchange)) continue;
      Problem p;
      p.shape = {16, 16, 16};
      if (16 % comm.size() != 0 && std::string(exchange) == "alltoall") continue;  // padding has no room
      p.transforms = {Transform::c2c, Transform::dct2, Transform::c2c};
      p.backward_scale = Scale::full;
      p.batch = 2;
      Plan plan(comm, p, by_exchange(exchange).set("pipeline", pipeline).set("check", "collective"));
      Buffer<Complex> in(plan.input_count()), out(plan.output_count());
      plan.forward(in.data(), out.data());
      begin_counting_news();
      for (int i = 0; i < 3; ++i) {
        plan.forward(in.data(), out.data());
        plan.start_backward(out.data(), in.data());
        plan.test();
        plan.wait();
      }
      EXPECT_EQ(end_counting_news(), 0) << exchange << " " << pipeline;
      begin_counting_news();
      ::operator delete(::operator new(8));
      EXPECT_EQ(end_counting_news(), 1);
    }
}

}  // namespace weft::test
