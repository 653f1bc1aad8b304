// Calls of heFFTe's interface allocate nothing of their own once they have been planned. What the MPI library
// allocates inside its calls is its own affair, so only the C++ side of the process is counted here.
#include <gtest/gtest.h>

#include "support/new_counter.hpp"
#include "world.hpp"

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
  begin_counting_news();
  calls();
  EXPECT_EQ(end_counting_news(), 0);
}

}  // namespace weft::test
