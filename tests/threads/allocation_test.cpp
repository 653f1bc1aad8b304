// Execution allocates nothing: all ways in which the process can get memory from the C library are counted
// while plans execute. (FFTW allocates scratch for some sizes by itself; these are sizes for which it does
// not.)
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>

#include "weft/weft.hpp"

namespace {

std::atomic<bool> counting{false};
std::atomic<long> allocations{0};

void count() {
  if (counting.load(std::memory_order_relaxed)) allocations.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t bytes) {
  count();
  return __libc_malloc(bytes);
}
void* calloc(std::size_t n, std::size_t bytes) {
  count();
  return __libc_calloc(n, bytes);
}
void* realloc(void* p, std::size_t bytes) {
  count();
  return __libc_realloc(p, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  count();
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** p, std::size_t alignment, std::size_t bytes) {
  count();
  *p = __libc_memalign(alignment, bytes);
  return *p == nullptr ? 12 : 0;
}
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

namespace weft::test {

namespace {

struct Variant {
  const char *exchange, *pipeline;
  bool in_place, users_workspace;
  int threads = 1;
};

template <class Real>
void execute_and_count(const Comm& comm, const Variant& v) {
  using Complex = std::complex<Real>;
  Problem p;
  p.shape = {16, 16, 16};
  p.transforms = {Transform::c2c, Transform::c2c, Transform::r2c};
  p.precision = sizeof(Real) == 8 ? Precision::float64 : Precision::float32;
  p.in_place = v.in_place;
  p.backward_scale = Scale::full;
  Options o;
  o.set("pipeline", v.pipeline)
      .set("exchange", v.exchange)
      .set("threads", v.threads)
      .set("workspace", v.users_workspace ? "user" : "plan");
  Plan plan(comm, p, o);
  Buffer<Complex> out(plan.buffer_bytes() / sizeof(Complex) + 1);
  Buffer<Real> in(plan.input_count());
  Buffer<char> work(v.users_workspace ? plan.workspace_bytes() : 0);
  Real* real = v.in_place ? reinterpret_cast<Real*>(out.data()) : in.data();
  const auto both = [&] {
    plan.forward(real, out.data(), work.data(), work.size());
    plan.start_backward(out.data(), real, work.data(), work.size());
    plan.test();
    plan.wait();
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
    EXPECT_EQ(allocations, 0) << v.exchange << " " << v.pipeline << " on " << comm.size() << " ranks";
  }
  comm.barrier();
}

}  // namespace

TEST(Execution, AllocatesNothing) {
  for (const char* pipeline : {"sequential", "th", "windowed", "planes", "two-front"})
    for (const bool in_place : {false, true})
      for (const int ranks : {1, 4}) {
        ThreadTeam team(ranks);
        team.run([&](const Comm& comm) {
          for (const Variant& v :
               {Variant{"direct", pipeline, in_place, false}, Variant{"copy", pipeline, in_place, true},
                Variant{"copy", pipeline, in_place, false},
                Variant{"direct", pipeline, in_place, false, 3}}) {
            execute_and_count<double>(comm, v);
            execute_and_count<float>(comm, v);
          }
        });
      }
}

TEST(Execution, TheCounterCounts) {
  allocations = 0;
  counting = true;
  void* volatile p = std::malloc(10);
  void* volatile q = ::operator new(10);
  void* volatile r = std::aligned_alloc(64, 64);
  counting = false;
  std::free(p);
  ::operator delete(q);
  std::free(r);
  EXPECT_EQ(allocations, 3);
}

}  // namespace weft::test
