// Execution allocates nothing: every operator new and malloc of the process is counted while plans execute.
// (FFTW allocates scratch for some sizes by itself; these are sizes for which it does not.)
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>

#include "weft/weft.hpp"

namespace {

std::atomic<bool> counting{false};
std::atomic<long> allocations{0};

}  // namespace

extern "C" void* __libc_malloc(
    std::size_t);  // NOLINT(bugprone-reserved-identifier,readability-identifier-naming)

extern "C" void* malloc(std::size_t bytes) {
  if (counting.load(std::memory_order_relaxed)) allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(bytes);
}

namespace weft::test {

TEST(Execution, AllocatesNothing) {
  using Complex = std::complex<double>;
  for (const char* exchange : {"direct", "copy"})
    for (const char* pipeline : {"sequential", "windowed"})
      for (int ranks : {1, 4}) {
        ThreadTeam team(ranks);
        team.run([&](const Comm& comm) {
          Problem p;
          p.shape = {16, 16, 16};
          p.transforms = {Transform::c2c, Transform::c2c, Transform::r2c};
          Plan plan(comm, p, Options().set("pipeline", pipeline).set("exchange", exchange));
          Buffer<double> in(plan.input_count());
          Buffer<Complex> out(plan.output_count());
          const auto both = [&] {
            plan.forward(static_cast<const double*>(in.data()), out.data());
            plan.backward(static_cast<const Complex*>(out.data()), in.data());
          };
          both();
          comm.barrier();
          if (comm.rank() == 0) {
            allocations = 0;
            counting = true;
          }
          comm.barrier();
          for (int i = 0; i < 3; ++i) both();
          comm.barrier();
          if (comm.rank() == 0) {
            counting = false;
            EXPECT_EQ(allocations, 0) << exchange << " " << pipeline << " on " << ranks << " ranks";
          }
          comm.barrier();
        });
      }
  // The counter works.
  allocations = 0;
  counting = true;
  void* volatile p = std::malloc(10);
  std::free(p);
  void* volatile q = ::operator new(10);
  ::operator delete(q);
  counting = false;
  EXPECT_GE(allocations, 2);
}

}  // namespace weft::test
