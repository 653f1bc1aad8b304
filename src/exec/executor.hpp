// Runs a program on the host: binds its operations to local FFT plans, copies and exchanges once, and then
// executes them in order, again and again, without allocating anything.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "fft/local_fft.hpp"
#include "kernels/cpu/permute_copy.hpp"
#include "program/program.hpp"
#include "transport/transport.hpp"

namespace weft {

struct ExecutorSettings {
  Precision precision = Precision::float64;
  Effort effort = Effort::estimate;
  const FftRow* fft = nullptr;
};

class Executor {
 public:
  /// Plans local FFTs and copies. Local to the rank; throws `weft::Error`.
  Executor(Program program, const ExecutorSettings& settings);

  /// Makes the exchanges. Local; throws `weft::Error`. `groups`: per reshape, the exchange group of every
  /// rank.
  void make_exchanges(CommImpl& comm, const ExchangeRow& exchange,
                      const std::vector<std::vector<int>>& groups,
                      const std::shared_ptr<std::byte>& workspace);
  /// Connects them. Collective.
  void connect();

  /// `in` and `out` are the user's arrays (alike for an in-place program).
  void run(const void* in, void* out, std::byte* work);

  /// After a failure in `run`: no other rank touches this rank's memory once this returns.
  void cancel() noexcept;

  const Program& program() const { return program_; }

 private:
  /// Arrays of the user need not be aligned; what touches them is planned for both cases.
  struct BoundFft {
    std::shared_ptr<const LocalFft> aligned, unaligned;
  };
  struct Bases {
    std::byte* space[3];
    bool aligned;
  };

  std::byte* address(const Operand& o, const Bases& bases) const {
    return bases.space[static_cast<std::size_t>(o.space)] + o.offset;
  }
  void run_fft(const Op& op, const Bases& bases) const;
  void run_copy(const Op& op, const Bases& bases) const;
  void run_op(std::size_t& position, const Bases& bases);

  BufferedExchange& buffered(const Op& op) { return *buffered_[static_cast<std::size_t>(op.reshape)]; }
  DirectExchange& direct(const Op& op) { return *direct_[static_cast<std::size_t>(op.reshape)]; }

  Program program_;
  std::vector<BoundFft> ffts_;
  std::vector<PermuteCopy> copies_;
  std::vector<std::unique_ptr<BufferedExchange>> buffered_;  ///< per reshape
  std::vector<std::unique_ptr<DirectExchange>> direct_;      ///< per reshape
  BufferedExchange* moving_ = nullptr;                       ///< the exchange with tiles in flight
  int in_flight_ = 0;
};

}  // namespace weft
