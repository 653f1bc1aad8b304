// Runs a program on the host: binds its operations to local FFT plans, copies and exchanges once, and then
// executes them in order, again and again.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <utility>
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
  /// Plans local FFTs and copies. Local to the rank; throws `weft::Error`. Work memory of FFTs follows that
  /// of the program, at the next multiple of 64 bytes, or where `link` says.
  Executor(Program program, const ExecutorSettings& settings);

  Index fft_work_bytes() const override { return fft_work_bytes_; }
  void link(const LinkRequest& request) override;
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
    std::shared_ptr<const HostFft> aligned, unaligned;
    std::shared_ptr<const LineTwiddles> twiddles;  ///< that follow it, or null
  };

  int threads_for(Index bytes) const;
  std::shared_ptr<const HostFft> plan(const FftProblem& problem, int threads);
  std::shared_ptr<const HostFft> plan(const ResizedProblem& problem, int threads);
  /// What executes a call; most calls of a program ask for the same `problem`.
  template <class AnyProblem>
  BoundFft bind(std::map<std::pair<AnyProblem, bool>, BoundFft>& bound, AnyProblem problem,
                const FftCall& call);
  std::shared_ptr<const LineTwiddles> twiddles_of(const FftCall& call);
  void run_fft(const Op& op) const;
  void run_copy(const Op& op) const;
  /// Whether the operation at the current position is done; `false` only without patience.
  bool run_op(Patience patience);
  bool stands_in_step(const Op& op) const;
  bool receive(const Op& op, Patience patience);
  void note(const Op& op, Clock::time_point begin);
  Clock::time_point now() const { return recording_ ? Clock::now() : Clock::time_point{}; }

  ExecutorSettings settings_;
  std::shared_ptr<const UnitRoots> roots_;  ///< of the line, if there is one
  std::vector<BoundFft> ffts_;
  Index fft_work_bytes_ = 0, fft_work_offset_ = 0;
  std::vector<std::variant<PermuteCopy, CodedCopy>> copies_;
  Queue host_;

  // Of the execution that is under way.
  bool users_aligned_ = false;
  std::byte* fft_work_ = nullptr;
  Carrier* moving_ = nullptr;  ///< the one with tiles in flight
  bool told_ = false;  ///< to others, that this rank has failed, before the end of an execution that agrees
  int in_flight_ = 0;
  bool recording_ = false;
  Clock::time_point started_;
  std::vector<OperationTime> times_;
};

}  // namespace weft
