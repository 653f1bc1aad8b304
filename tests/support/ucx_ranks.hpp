// What tests of exchange ucx have in common.
#pragma once

#include <gtest/gtest.h>

#include <complex>
#include <string>
#include <vector>

#include "comm/comm_impl.hpp"
#include "support/has_exchange.hpp"
#include "support/scoped_variable.hpp"
#include "transport/ucx/devices.hpp"
#include "weft/mpi.hpp"
#include "weft/weft.hpp"

namespace weft::test {

/// Uneven parts, two reshapes in each direction.
inline Problem natural(const Shape& shape, Precision precision) {
  Problem p;
  p.shape = shape;
  p.output = Distribution::slab(0);
  p.precision = precision;
  return p;
}

/// Values that differ from point to point and from rank to rank.
template <class T>
void fill(Buffer<std::complex<T>>& in, int rank) {
  for (std::size_t i = 0; i < in.size(); ++i)
    in[i] = std::polar<T>(1, static_cast<T>(0.7 * static_cast<double>(i * i % 1009) + rank));
}

/// Forward and backward of values that differ from point to point, on this rank.
template <class T>
std::vector<std::complex<T>> results(const Comm& comm, const Problem& problem, const Options& options,
                                     int executions = 1) {
  Plan plan(comm, problem, options);
  Buffer<std::complex<T>> in(plan.input_count()), out(plan.output_count()), back(plan.input_count());
  fill(in, comm.rank());
  for (int i = 0; i < executions; ++i) {
    plan.forward(in.data(), out.data());
    plan.backward(out.data(), back.data());
  }
  std::vector<std::complex<T>> all(out.begin(), out.end());
  all.insert(all.end(), back.begin(), back.end());
  return all;
}

/// Loopback, and what else UCX has here: two rails, or one.
inline std::string two_rails() {
  std::string names = "lo";
#ifdef WEFT_WITH_UCX
  for (const ucx::NetDevice& d : ucx::network_devices())
    if (d.name != "lo" && names == "lo") names += "," + d.name;
#endif
  return names;
}

#ifdef WEFT_WITH_UCX

class Ucx : public testing::Test {
 protected:
  void SetUp() override {
    if (comm_.size() == 1) GTEST_SKIP() << "one rank sends nothing";
    if (const std::string why = why_no_exchange(comm_, "ucx"); !why.empty()) GTEST_SKIP() << why;
  }
  /// The same ranks, each on a machine of its own.
  static Comm apart() {
    const ScopedSwitch machines(detail::pretended_ranks_per_node, 1);
    return Comm::mpi(MPI_COMM_WORLD);
  }

  Comm comm_ = Comm::mpi(MPI_COMM_WORLD);
  Options ucx_ = Options().set("exchange", "ucx"), lo_ = Options(ucx_).set("rails", "lo");
};

#endif

}  // namespace weft::test
