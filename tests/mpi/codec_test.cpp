// Codecs among MPI ranks: messages whose length varies; what a plan measures of its own error is the same on
// all of them.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <random>
#include <string>

#include "base/test_hook.hpp"
#include "comm/comm_impl.hpp"
#include "kernels/cpu/zfp.hpp"
#include "support/expect_error.hpp"
#include "transport/mpi/types.hpp"
#include "weft/mpi.hpp"
#include "weft/weft.hpp"

namespace weft::test {

namespace {

Problem slabs(Precision precision) {
  Problem p;
  p.shape = {24, 26, 40};
  p.transforms = {Transform::c2c, Transform::none, Transform::none};  // what is sent is the data
  p.input = Distribution::slab(0);
  p.output = Distribution::slab(1);
  p.precision = precision;
  return p;
}

/// Bytes that the exchange of a forward transform sends, of data that are smooth or not.
template <class T>
Index bytes_sent(const Comm& comm, const Options& options, bool smooth) {
  Plan plan(comm, slabs(sizeof(T) == 8 ? Precision::float64 : Precision::float32), options);
  plan.record_times(true);
  Buffer<std::complex<T>> in(plan.input_count()), out(plan.output_count());
  std::mt19937 random(static_cast<unsigned>(comm.rank()));
  std::normal_distribution<double> normal;
  for (std::size_t i = 0; i < in.size(); ++i)
    in[i] = smooth ? std::complex<T>(1, static_cast<T>(0.01 * static_cast<double>(i % 40)))
                   : std::complex<T>(static_cast<T>(normal(random)), static_cast<T>(normal(random)));
  const Accuracy a = plan.measured_error(Direction::forward, in.data());
  EXPECT_LE(a.l2, a.bound);
  plan.forward(in.data(), out.data());
  Index bytes = 0;
  for (const OperationTime& t : plan.operation_times())
    if (std::string(t.kind) == "exchange") bytes += t.bytes;
  return bytes;
}

}  // namespace

/// Of parts whose length varies, no more bytes travel than there are; also if parts are cut into messages.
TEST(CodedPlans, SmoothDataTakeFewerBytes) {
  if (!zfp::missing().empty()) GTEST_SKIP() << zfp::missing();
  const ScopedSwitch machines(detail::pretended_ranks_per_node, 1);
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  if (comm.size() == 1) GTEST_SKIP() << "one rank sends nothing";
  for (const Index at_once : {64, 1024, 60 * 1024}) {
    const ScopedSwitch limit(detail::mpi_bytes_at_once, at_once);
    for (const char* pipeline : {"sequential", "windowed", "planes", "two-front"}) {
      SCOPED_TRACE(pipeline);
      const Options exact = Options().set("exchange", "p2p").set("pipeline", pipeline);
      const Options coded = Options(exact).set("codec", "zfp-accuracy:12");
      const Index smooth = bytes_sent<double>(comm, coded, true),
                  rough = bytes_sent<double>(comm, coded, false);
      EXPECT_GT(smooth, 0);
      EXPECT_LT(smooth, rough);
      // Tiles of a plane or two on many ranks have rows of a few points, to which heads and lengths add a
      // lot.
      const bool long_rows = std::string(pipeline) == "sequential" || comm.size() <= 4;
      EXPECT_LT((long_rows ? 2 : 1) * rough, bytes_sent<double>(comm, exact, false));
    }
    const Options coded = Options().set("exchange", "p2p").set("codec", "zfp-accuracy:12");
    EXPECT_LT(bytes_sent<float>(comm, coded, true), bytes_sent<float>(comm, coded, false));
  }
}

TEST(CodedPlans, PartsOfAnyLengthNeedAnExchangeThatSendsThem) {
  const Comm comm = Comm::mpi(MPI_COMM_WORLD);
  const Options coded = Options().set("codec", "zfp-accuracy:17");
  if (comm.size() == 1) GTEST_SKIP() << "one rank sends nothing";
  for (const char* exchange : {"alltoallv", "alltoall", "ialltoallv", "pairwise", "ring"})
    expect_error([&] { Plan(comm, slabs(Precision::float64), Options(coded).set("exchange", exchange)); },
                 std::string("exchange ") + exchange + ", which sends parts of a fixed length");
  if (!zfp::missing().empty()) GTEST_SKIP() << zfp::missing();
  const std::string text = Plan(comm, slabs(Precision::float64), coded).to_string();
  EXPECT_NE(text.find("exchange p2p"), std::string::npos) << text;
  EXPECT_NE(text.find("at most 28 of 64 bits"), std::string::npos) << text;
}

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
