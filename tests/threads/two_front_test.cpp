// Two-front sends the parts of planes in another order, and transforms the columns in another: where the
// calls of the local FFT are those of planes, so is every bit of the result.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "weft/weft.hpp"

namespace weft::test {

namespace {

using Complex = std::complex<double>;

/// The calls of the local FFT without their places, in no order.
std::vector<std::string> calls(const Plan& plan, Direction direction) {
  std::istringstream program(plan.program_to_string(direction));
  std::vector<std::string> found;
  for (std::string line; std::getline(program, line);)
    if (const auto at = line.find(" fft axes"); at != std::string::npos)
      found.push_back(line.substr(at, line.find(" of ") - at) + line.substr(line.find(" of "), 12));
  std::sort(found.begin(), found.end());
  return found;
}

struct Results {
  std::vector<Complex> there, back;
  std::vector<std::string> calls;
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
  Results r{{out.data(), out.data() + out.size()}, {back.data(), back.data() + back.size()}, {}};
  r.calls = calls(plan, Direction::forward);
  const std::vector<std::string> more = calls(plan, Direction::backward);
  r.calls.insert(r.calls.end(), more.begin(), more.end());
  return r;
}

}  // namespace

TEST(TwoFront, GivesTheBitsOfPlanes) {
  ThreadTeam team(4);
  for (const char* exchange : {"copy", "direct"})
    team.run([&](const Comm& comm) {
      const Results planes = results_of(comm, "planes", exchange);
      const Results two_front = results_of(comm, "two-front", exchange);
      EXPECT_EQ(planes.calls, two_front.calls);
      EXPECT_EQ(planes.there, two_front.there);
      EXPECT_EQ(planes.back, two_front.back);
    });
}

}  // namespace weft::test
