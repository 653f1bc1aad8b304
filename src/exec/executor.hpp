// Runs a program on the host: binds its operations to local FFT plans, copies and exchanges once, and then
// executes them in order, again and again, without allocating anything. An execution can be left where it
// would have to wait, and taken up again.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "base/thread_pool.hpp"
#include "exec/parallel_fft.hpp"
#include "fft/local_fft.hpp"
#include "kernels/cpu/permute_copy.hpp"
#include "program/program.hpp"
#include "transport/transport.hpp"
#include "weft/timing.hpp"

namespace weft {

/// Where the workspace of a plan lies, and what its direct exchanges need beside it.
struct ExchangeMemory {
  std::shared_ptr<std::byte> workspace;  ///< null if the user gives one at execution
  std::shared_ptr<SharedMemory> shared;  ///< what holds it, if there are direct exchanges
  Index flags_offset = 0;                ///< of the first of them
  Index workspace_offset = 0;
  const ExchangeRow* far = nullptr;  ///< what serves ranks of other machines beside a direct exchange
};

struct ExecutorSettings {
  Precision precision = Precision::float64;
  Effort effort = Effort::estimate;
  double planning_seconds = 0;       ///< for each local FFT; 0: as long as its library likes
  std::vector<const FftRow*> ffts;   ///< to be asked in turn
  bool compare_ffts = false;         ///< or rather the fastest of them for each transform
  std::shared_ptr<ThreadPool> pool;  ///< the threads of this rank; null: the caller alone
};

class Executor {
 public:
  /// Plans local FFTs and copies. Local to the rank; throws `weft::Error`.
  Executor(Program program, const ExecutorSettings& settings);

  /// Makes the exchanges, one row per reshape. Local; throws `weft::Error`. `groups`: per reshape, the
  /// exchange group of every rank.
  void make_exchanges(CommImpl& comm, const std::vector<const ExchangeRow*>& exchanges,
                      const std::vector<std::vector<int>>& groups, const ExchangeMemory& memory);
  /// Connects them. Collective.
  void connect();

  /// Begins an execution; `in` and `out` are the user's arrays (alike for an in-place program).
  void start(const void* in, void* out, std::byte* work);
  /// Goes on until the program is done (true), or, without patience, until it would have to wait (false).
  bool advance(Patience patience);

  /// Whether executions note the time of every operation.
  void record_times(bool on);
  const std::vector<OperationTime>& times() const { return times_; }

  /// Whether executions leave out what no parameter of a pipeline changes; their results are wrong then.
  void skip_invariant(bool on) { skipping_ = on; }

  /// After a failure: no other rank touches this rank's memory once this returns.
  void cancel() noexcept;
  /// The part of it that also concerns a direction that was not under way: peers may be in it already.
  void tell_failure() noexcept;

  const Program& program() const { return program_; }
  /// The libraries that compute the local FFTs, each once.
  const std::vector<const FftRow*>& libraries() const { return libraries_; }

 private:
  using Clock = std::chrono::steady_clock;

  /// Arrays of the user need not be aligned; what touches them is planned for both cases.
  struct BoundFft {
    std::shared_ptr<const ParallelFft> aligned, unaligned;
  };

  int threads_for(Index bytes) const;
  std::shared_ptr<const ParallelFft> plan(const FftProblem& problem, int threads);
  std::byte* address(const Operand& o) const { return memory_[static_cast<std::size_t>(o.space)] + o.offset; }
  void run_fft(const Op& op) const;
  void run_copy(const Op& op) const;
  /// Whether the operation at the current position is done; `false` only without patience.
  bool run_op(Patience patience);
  bool receive(const Op& op, Patience patience);
  template <class Look>
  bool await(Patience patience, const Look& look);
  struct Traffic {
    Index bytes = 0;  ///< written, or sent to other ranks
    Index memory_read = 0, memory_written = 0;
  };
  Traffic traffic_of(const Op& op) const;
  void note(const Op& op, Clock::time_point begin);
  Clock::time_point now() const { return recording_ ? Clock::now() : Clock::time_point{}; }

  BufferedExchange& buffered(const Op& op) { return *buffered_[static_cast<std::size_t>(op.reshape)]; }
  DirectExchange& direct(const Op& op) { return *direct_[static_cast<std::size_t>(op.reshape)]; }

  Program program_;
  ExecutorSettings settings_;
  std::vector<BoundFft> ffts_;
  std::vector<const FftRow*> libraries_;
  std::vector<PermuteCopy> copies_;
  std::vector<std::unique_ptr<BufferedExchange>> buffered_;  ///< per reshape
  std::vector<std::unique_ptr<DirectExchange>> direct_;      ///< per reshape
  bool has_messages_ = false;                                ///< whether there is any buffered exchange

  // Of the execution that is under way.
  Memory memory_{};
  bool users_aligned_ = false;
  std::size_t position_ = 0;            ///< of the next operation
  BufferedExchange* moving_ = nullptr;  ///< the exchange with tiles in flight
  int in_flight_ = 0;
  bool recording_ = false, skipping_ = false;
  Clock::time_point started_;
  std::vector<OperationTime> times_;
};

}  // namespace weft
