// Execution allocates nothing of its own under MPI either. What the MPI library allocates inside its calls is
// its own affair, so only the C++ side of the process is counted here.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "weft/mpi.hpp"
#include "weft/weft.hpp"

namespace {

std::atomic<bool> counting{false};
std::atomic<long> allocations{0};

}  // namespace

void* operator new(std::size_t bytes) {
  if (counting.load(std::memory_order_relaxed)) allocations.fetch_add(1, std::memory_order_relaxed);
  void* p = std::malloc(bytes);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}
void operator delete(void* p) noexcept {
  std::free(p);
}
void operator delete(void* p, std::size_t) noexcept {
  std::free(p);
}

namespace weft::test {

TEST(Execution, AllocatesNothingUnderMpi) {
  using Complex = std::complex<double>;
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  for (const char* exchange :
       {"direct", "p2p", "p2pw", "alltoallv", "pairwise", "alltoall", "alltoallw", "ialltoallv", "ring"})
    for (const char* pipeline : {"sequential", "windowed", "planes", "two-front"}) {
      Problem p;
      p.shape = {16, 16, 16};
      if (16 % comm.size() != 0 && std::string(exchange) == "alltoall") continue;  // padding has no room
      p.transforms = {Transform::c2c, Transform::dct2, Transform::c2c};
      p.backward_scale = Scale::full;
      p.batch = 2;
      Plan plan(comm, p,
                Options().set("pipeline", pipeline).set("exchange", exchange).set("check", "collective"));
      Buffer<Complex> in(plan.input_count()), out(plan.output_count());
      plan.forward(in.data(), out.data());
      allocations = 0;
      counting = true;
      for (int i = 0; i < 3; ++i) {
        plan.forward(in.data(), out.data());
        plan.start_backward(out.data(), in.data());
        plan.test();
        plan.wait();
      }
      counting = false;
      EXPECT_EQ(allocations, 0) << exchange << " " << pipeline;
      counting = true;
      ::operator delete(::operator new(8));
      counting = false;
      EXPECT_EQ(allocations, 1);
    }
}

}  // namespace weft::test
