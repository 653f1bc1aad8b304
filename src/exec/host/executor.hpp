// Runs a program on the host: binds its operations to local FFT plans, copies and exchanges once, and then
// executes them in order, again and again.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "exec/interpreter.hpp"
#include "fft/line_twiddles.hpp"
#include "fft/threads/parallel_fft.hpp"
#include "kernels/cpu/coded_copy.hpp"
#include "kernels/cpu/permute_copy.hpp"

namespace weft {

class Executor final : public Interpreter {
 public:
  /// Plans local FFTs and copies. Local to the rank; throws `weft::Error`.
  Executor(Program program, const ExecutorSettings& settings);

  void start(const void* in, void* out, std::byte* work) override;
  bool advance(Patience patience) override;
  void record_times(bool on) override;
  double began() const override { return std::chrono::duration<double>(started_.time_since_epoch()).count(); }
  std::size_t count_of_times() const override { return times_.size(); }
  std::optional<OperationTime> time(std::size_t i) const override { return times_[i]; }

 private:
  using Clock = std::chrono::steady_clock;

  /// Arrays of the user need not be aligned; what touches them is planned for both cases.
  struct BoundFft {
    std::shared_ptr<const ParallelFft> aligned, unaligned;
    std::shared_ptr<const LineTwiddles> twiddles;  ///< that follow it, or null
  };

  int threads_for(Index bytes) const;
  std::shared_ptr<const ParallelFft> plan(const FftProblem& problem, int threads);
  std::shared_ptr<const LineTwiddles> twiddles_of(const FftCall& call);
  void run_fft(const Op& op) const;
  void run_copy(const Op& op) const;
  /// Whether the operation at the current position is done; `false` only without patience.
  bool run_op(Patience patience);
  bool receive(const Op& op, Patience patience);
  void note(const Op& op, Clock::time_point begin);
  Clock::time_point now() const { return recording_ ? Clock::now() : Clock::time_point{}; }

  ExecutorSettings settings_;
  std::shared_ptr<const UnitRoots> roots_;  ///< of the line, if there is one
  std::vector<BoundFft> ffts_;
  std::vector<std::variant<PermuteCopy, CodedCopy>> copies_;
  Queue host_;

  // Of the execution that is under way.
  bool users_aligned_ = false;
  Carrier* moving_ = nullptr;  ///< the one with tiles in flight
  int in_flight_ = 0;
  bool recording_ = false;
  Clock::time_point started_;
  std::vector<OperationTime> times_;
};

}  // namespace weft
