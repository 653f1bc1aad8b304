// Calls of heFFTe's interface allocate nothing of their own once they have been planned. What the MPI library
// allocates inside its calls is its own affair, so only the C++ side of the process is counted here.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "world.hpp"

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

TEST(Heffte, LaterCallsAllocateNothing) {
  const World before = some_world({5, 6, 9}, false);
  const heffte::fft3d<heffte::backend::fftw> fft(brick(before.box()), brick(before.box()), MPI_COMM_WORLD);
  auto in = part<std::complex<double>>(before, fft.inbox());
  auto out = in;
  std::vector<double> real(in.size());
  const auto calls = [&] {
    fft.forward(in.data(), out.data());
    fft.backward(out.data(), in.data(), heffte::scale::full);
    fft.forward(in.data(), in.data(), heffte::scale::symmetric);
    fft.forward(real.data(), out.data());
  };
  calls();
  allocations = 0;
  counting = true;
  calls();
  counting = false;
  EXPECT_EQ(allocations, 0);
}

}  // namespace weft::test
