// Two-front sends the parts of planes in another order, and transforms the columns in another: where the
// calls of the local FFT are those of planes, so is every bit of the result.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "support/design_of.hpp"
#include "weft/weft.hpp"

namespace weft::test {

namespace {

using Complex = std::complex<double>;

/// Whether the local FFTs are the same in any order and at any places.
bool are_alike(const std::vector<FftCall>& a, const std::vector<FftCall>& b) {
  return std::is_permutation(a.begin(), a.end(), b.begin(), b.end(), [](const FftCall& x, const FftCall& y) {
    return x.axes == y.axes && x.extents == y.extents;
  });
}

struct Results {
  std::vector<Complex> there, back;
  std::array<std::vector<FftCall>, 2> calls;  ///< forward and backward
};

Results results_of(const Comm& comm, const char* pipeline, const char* exchange) {
  Problem p;
  p.shape = {16, 16, 16};
  p.output = Distribution::slab(1);
  const Options options =
      Options().set("pipeline", pipeline).set("exchange", exchange).set("tile", 2).set("subtile", 1);
  Plan plan(comm, p, Options(options).set("layout", "strided"));
  Buffer<Complex> in(plan.input_count()), out(plan.output_count()), back(plan.input_count());
  for (std::size_t i = 0; i < in.size(); ++i)
    in[i] = {static_cast<double>(i % 37) - comm.rank(), static_cast<double>(i % 11)};
  plan.forward(in.data(), out.data());
  plan.backward(out.data(), back.data());
  return {{out.data(), out.data() + out.size()},
          {back.data(), back.data() + back.size()},
          {ffts_of(plan, Direction::forward), ffts_of(plan, Direction::backward)}};
}

}  // namespace

TEST(TwoFront, GivesTheBitsOfPlanes) {
  ThreadTeam team(4);
  for (const char* exchange : {"copy", "direct"})
    team.run([&](const Comm& comm) {
      const Results planes = results_of(comm, "planes", exchange);
      const Results two_front = results_of(comm, "two-front", exchange);
      for (std::size_t d = 0; d < 2; ++d) EXPECT_TRUE(are_alike(planes.calls[d], two_front.calls[d]));
      EXPECT_EQ(planes.there, two_front.there);
      EXPECT_EQ(planes.back, two_front.back);
    });
}

}  // namespace weft::test
